// SPDX-License-Identifier: MIT
#pragma once

// Protocol lines that were right once: every method and every tool in both eras, and what a hostile
// or broken client makes of them.

#include "support/mcp/request_lines.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::test {

/// A tool with arguments that fit; the files are made by `build_hostile_workspace`.
struct sample_call {
  std::string_view tool;
  std::string_view arguments;
};
inline constexpr sample_call sample_calls[] = {
    {"attemptCompletion", "{}"},
    {"todo", R"({"newTodos":["one","two"],"completedTodos":[0]})"},
    {"clearTodo", "{}"},
    {"exec",
     R"({"command":"true","args":["a"],"env":{"A":"b"},"cwd":".","stdout":true,"stderr":false,"timeout":5000})"},
    {"getFileInfo", R"({"path":"text.txt"})"},
    {"healthCheck", "{}"},
    {"readTextFile", R"({"path":"text.txt","from":0,"to":2})"},
    {"readImageFile", R"({"path":"image.png"})"},
    {"readPdfFile", R"({"path":"plan.pdf"})"},
    {"writeTextFile", R"({"path":"new/file.txt","text":"hello \u00e4 \"q\"\n"})"},
    {"appendTextFile", R"({"path":"text.txt","text":"more\n"})"},
    {"editTextFile", R"({"path":"text.txt","oldText":"line","newText":"line"})"},
    {"moveFile", R"({"source":"new/file.txt","destination":"moved/file.txt"})"},
    {"deleteFile", R"({"path":"moved/file.txt"})"},
    {"listDirectory", R"({"path":".","offset":0,"limit":10})"},
    {"createDirectory", R"({"path":"some/directory"})"},
    {"deleteDirectory", R"({"path":"some/directory","recursive":true})"},
};

/// A right line of `e`, without its newline; `n` chooses which, `id` is JSON text.
inline std::string valid_line(era e, std::size_t n, std::string_view id) {
  constexpr std::string_view initialize =
      R"("protocolVersion":"2025-11-25","capabilities":{"roots":{"listChanged":true}},"clientInfo":{"name":"c","version":"1"})";
  struct sample_method {
    std::string_view name;
    std::string_view members;
  };
  static constexpr sample_method legacy_methods[] = {{"initialize", initialize},
                                                     {"ping", ""},
                                                     {"tools/list", ""},
                                                     {"resources/list", ""},
                                                     {"logging/setLevel", R"("level":"info")"}};
  static constexpr sample_method modern_methods[] = {
      {"server/discover", ""},
      {"tools/list", ""},
      {"subscriptions/listen", R"("notifications":{"toolsListChanged":true})"},
      {"prompts/list", ""},
      {"initialize", initialize}};
  constexpr std::size_t tools = std::size(sample_calls);
  n %= tools + std::size(legacy_methods) + 2;
  std::string line;
  if (n < tools)
    line = call_line(e, id, sample_calls[n].tool, sample_calls[n].arguments);
  else if (n < tools + std::size(legacy_methods)) {
    const auto& method = (e == era::legacy ? legacy_methods : modern_methods)[n - tools];
    line = request_line(e, id, method.name, method.members);
  } else if (n == tools + std::size(legacy_methods)) {
    line = cancel_line(e, R"("nobody")");
  } else {
    line = R"({"jsonrpc":"2.0","method":"notifications/initialized","params":{}})"
           "\n";
  }
  line.pop_back();
  return line;
}

/// Where the values and members of a JSON text are, as far as it is JSON.
class json_spans {
public:
  struct span {
    std::size_t begin;
    std::size_t end;
    std::size_t member; ///< where its key begins; npos outside objects
  };
  explicit json_spans(std::string_view text) : text_(text) { value(std::string_view::npos); }
  [[nodiscard]] const std::vector<span>& all() const { return spans_; }

private:
  void value(std::size_t member) {
    const std::size_t begin = at_;
    const char c = peek();
    if (c == '{' || c == '[') {
      ++at_;
      while (at_ < text_.size() && peek() != '}' && peek() != ']') {
        const std::size_t before = at_;
        std::size_t key = std::string_view::npos;
        if (c == '{') {
          key = at_;
          string();
          if (peek() == ':') ++at_;
        }
        value(key);
        if (peek() == ',') ++at_;
        if (at_ == before) break;
      }
      ++at_;
    } else if (c == '"') {
      string();
    } else {
      while (at_ < text_.size() && std::string_view(",]}").find(peek()) == std::string_view::npos)
        ++at_;
    }
    at_ = std::min(at_, text_.size());
    spans_.push_back({std::min(begin, at_), at_, member});
  }
  void string() {
    for (++at_; at_ < text_.size() && peek() != '"'; ++at_)
      if (peek() == '\\') ++at_;
    at_ = std::min(at_ + 1, text_.size());
  }
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  std::string_view text_;
  std::size_t at_ = 0;
  std::vector<span> spans_;
};

/// What stands where something else belongs: types, sizes, bytes.
inline const std::vector<std::string>& odd_values() {
  static const std::vector<std::string> values = [] {
    std::vector<std::string> v = {"null",
                                  "true",
                                  "false",
                                  "0",
                                  "-0",
                                  "-1",
                                  "1.0",
                                  "1.5",
                                  "1e999",
                                  "-1e999",
                                  "1e-999",
                                  "18446744073709551616",
                                  "18446744073709551615",
                                  "9223372036854775807",
                                  "-9223372036854775808",
                                  "-9223372036854775809",
                                  "123456789012345678901234567890",
                                  "\"\"",
                                  "[]",
                                  "{}",
                                  "[[]]",
                                  "[null]",
                                  "[1,\"x\",{}]",
                                  R"({"":""})",
                                  R"("\ud800")",
                                  R"("\udfff\ud800")",
                                  R"("\u0000")",
                                  R"("a\u0000b")",
                                  R"("../../out/secret")",
                                  R"("/etc/passwd")",
                                  R"("\u001b[2J")",
                                  "NaN",
                                  "Infinity",
                                  "01",
                                  "+1",
                                  ".5",
                                  "1.",
                                  "0x10",
                                  "tru",
                                  "'x'",
                                  "undefined",
                                  "\"\xff\xfe\"",
                                  "\"\xc0\xaf\"",
                                  "\"\xed\xa0\x80\"",
                                  "\"\xf4\x90\x80\x80\"",
                                  "\"raw\ttab\"",
                                  std::string("\"\0\"", 3),
                                  std::string("\0", 1),
                                  "\"unfinished",
                                  "\"\\x\"",
                                  "\"\\u12\""};
    v.push_back("\"" + std::string(20'000, 'a') + "\"");
    v.push_back("\"" + std::string(1'025, 'i') + "\"");
    v.push_back(std::string(200, '[') + std::string(200, ']'));
    v.push_back(std::string(100, '[') + std::string(100, ']'));
    v.push_back(std::string(5'000, '9'));
    return v;
  }();
  return values;
}

/// One of them, mostly small.
template <class Random> std::string mutate(std::string line, Random& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  const auto spans = json_spans(line).all();
  const auto span = spans[below(spans.size())];
  const auto odd = [&] { return odd_values()[below(odd_values().size())]; };
  static constexpr std::string_view bytes[] = {"\xff",
                                               "\x80",
                                               "\xc3",
                                               "\xed\xa0\x80",
                                               "\xe2\x82",
                                               "\x01",
                                               "\x1f",
                                               "\x7f",
                                               "\\ud800",
                                               "\\",
                                               "\"",
                                               "{",
                                               "}",
                                               "[",
                                               "]",
                                               ",",
                                               ":",
                                               " ",
                                               "\r",
                                               "\t",
                                               "\xef\xbb\xbf",
                                               "\xe2\x80\xa8",
                                               "0",
                                               "-"};
  static constexpr std::string_view doubles[] = {
      R"("id":"other",)",  R"("id":null,)",   R"("method":"ping",)",  R"("method":7,)",
      R"("params":[],)",   R"("path":1,)",    R"("jsonrpc":"1.0",)",  R"("_meta":{},)",
      R"("name":"todo",)", R"("result":{},)", R"("arguments":null,)", R"("":0,)"};
  switch (below(16)) {
  case 0: // bits
    for (std::size_t n = below(4) + 1; n > 0; --n)
      line[below(line.size())] ^= static_cast<char>(1U << below(8));
    break;
  case 1:
    line.resize(below(line.size()));
    break;
  case 2: // a key twice, before or after the true one
    if (const auto brace = line.find('{', below(line.size())); brace != line.npos)
      line.insert(brace + 1, doubles[below(std::size(doubles))]);
    break;
  case 3:
    if (const auto brace = line.rfind('}', below(line.size())); brace != line.npos) {
      std::string member(doubles[below(std::size(doubles))]);
      member.pop_back();
      line.insert(brace, "," + member);
    }
    break;
  case 4:
  case 5:
  case 6:
    line.replace(span.begin, span.end - span.begin, odd());
    break;
  case 7: // a member less
    if (span.member != line.npos) {
      line.erase(span.member, span.end - span.member);
      if (span.member < line.size() && line[span.member] == ',')
        line.erase(span.member, 1);
      else if (span.member > 0 && line[span.member - 1] == ',')
        line.erase(span.member - 1, 1);
    }
    break;
  case 8:
    line.insert(below(line.size() + 1), bytes[below(std::size(bytes))]);
    break;
  case 9:
    line.insert(below(line.size() + 1), 1, '\0');
    break;
  case 10: // part of it twice
    line.insert(below(line.size()), line.substr(below(line.size()), below(40)));
    break;
  case 11:
    line.erase(below(line.size()), below(20) + 1);
    break;
  case 12: { // another value of the same line
    const auto other = spans[below(spans.size())];
    line.replace(span.begin, span.end - span.begin,
                 line.substr(other.begin, other.end - other.begin));
    break;
  }
  case 13: // in another coat
    switch (below(6)) {
    case 0:
      line = "[" + line + "]";
      break;
    case 1:
      line = "\xef\xbb\xbf" + line;
      break;
    case 2:
      line += '\r';
      break;
    case 3:
      line = " \t" + line + "  ";
      break;
    case 4:
      line += line;
      break;
    default:
      line = json_string(line);
      break;
    }
    break;
  case 14: // a letter of another case
    for (std::size_t n = 0; n < 3; ++n)
      if (char& c = line[below(line.size())]; (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        c = static_cast<char>(c ^ 0x20);
    break;
  default: // twice over
    return mutate(mutate(std::move(line), random), random);
  }
  for (char& c : line)
    if (c == '\n') c = ' '; // it is to stay one line
  if (line.empty()) line = "{";
  return line;
}

} // namespace paddock::test
