// SPDX-License-Identifier: MIT
#pragma once

// One of the many clients of a load test. It has a directory of its own, knows what must be in
// there, and compares every answer with that.
//
// A call that is cancelled may have happened or not, and may still happen later. So only calls are
// cancelled that leave the rest as it is: reads, commands that would run for ever, lines appended
// with a text that is nowhere else, and whole new contents of a file beside.

#include "support/mcp/request_lines.hpp"

#include <paddock/mcp/json.hpp>

#include <cstdint>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::test {

/// What a tool answered.
struct tool_reply {
  mcp::json_view value; ///< the result's object, or the failure's
  bool failed = false;

  [[nodiscard]] std::string string(std::string_view key) const {
    return std::string(value[key].string().value_or("(none)"));
  }
};

struct load_call {
  std::string tool;
  std::string arguments;
  bool cancel = false;
  bool must_not_end = false; ///< only cancellation ends it
  /// What is wrong with the answer; empty when it is right.
  std::function<std::string(const tool_reply&)> verdict;
};

/// A text that many clients only read.
inline std::string shared_line(std::size_t n) {
  return "line " + std::to_string(n) + " " + std::string(n % 97, 'a' + static_cast<char>(n % 26)) +
         "\n";
}
inline constexpr std::size_t shared_lines = 4000;
inline constexpr std::string_view shared_name = "shared.txt";

class load_client {
public:
  load_client(unsigned number, std::uint64_t seed)
      : random_(seed * 1000 + number), name_("c" + std::to_string(number)), file_(name_ + "/f"),
        era_(number % 2 == 0 ? era::modern : era::legacy), string_ids_(number % 4 >= 2) {}

  [[nodiscard]] era speaks() const { return era_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  /// A new id as JSON text.
  [[nodiscard]] std::string next_id(unsigned number_of_clients, unsigned own) {
    ++calls_;
    if (string_ids_) return json_string(name_ + "-" + std::to_string(calls_));
    return std::to_string(calls_ * number_of_clients + own);
  }

  load_call next() {
    if (!exists_) return write();
    if (lines_.size() > lines_max) return write();
    static const std::discrete_distribution<>::param_type weights{
        20, 15, 15, 6, 8, 8, 4, 3, 4, 2, 3, 3, 3, 8, 3, 3, 3, 0.4, 0.4, 0.4};
    switch (std::discrete_distribution<>(weights)(random_)) {
    case 0:
      return read();
    case 1:
      return append();
    case 2:
      return edit();
    case 3:
      return write();
    case 4:
      return list();
    case 5:
      return info();
    case 6:
      return move();
    case 7:
      return remove();
    case 8:
      return todo();
    case 9:
      return completion();
    case 10:
      return health();
    case 11:
      return directory();
    case 12:
      return absurd();
    case 13:
      return read_shared();
    case 14:
      return cancelled(read());
    case 15:
      return append_in_vain();
    case 16:
      return write_beside();
    case 17:
      return show();
    case 18:
      return cancelled(show());
    default:
      return sleep();
    }
  }

private:
  static constexpr std::size_t lines_max = 30;
  static constexpr std::size_t todos_max = 6; // every answer shows those of all clients

  // --- a line knows whether it is whole

  static std::string hash_of(std::string_view text) {
    return std::to_string(std::hash<std::string_view>{}(text) % 1'000'000);
  }
  std::string new_line() {
    std::string text = name_ + " " + std::to_string(++written_) + " ";
    text.append(random_() % 80, static_cast<char>('a' + random_() % 26));
    if (random_() % 8 == 0) text += " \xc3\xa4\xe2\x82\xac\"\\\t";
    return text + "#" + hash_of(text) + "\n";
  }
  std::string content() const {
    std::string all;
    for (const auto& line : lines_)
      all += line;
    return all;
  }
  /// Compares, but for lines that may be there or not.
  std::string difference(std::string_view found) const {
    std::string sure;
    std::set<std::string> seen;
    while (!found.empty()) {
      const auto size = std::min(found.find('\n'), found.size() - 1) + 1;
      std::string line(found.substr(0, size));
      found.remove_prefix(size);
      if (!doubtful_.contains(line))
        sure += line;
      else if (!seen.insert(line).second)
        return "a cancelled line is there twice: " + line;
    }
    if (sure == content()) return {};
    return file_ + " holds\n" + sure + "instead of\n" + content();
  }

  // --- calls

  [[nodiscard]] std::string path() const { return R"({"path":)" + json_string(file_); }
  static std::string expect(bool right, std::string_view otherwise) {
    return right ? std::string() : std::string(otherwise);
  }
  load_call read() {
    return {.tool = "readTextFile", .arguments = path() + "}", .verdict = [this](const auto& r) {
              return r.failed ? r.string("message") : difference(r.string("content"));
            }};
  }
  load_call write() {
    lines_.clear();
    doubtful_.clear(); // those that still come are again in doubt, but their calls are long over
    for (std::uint64_t n = random_() % 8 + 1; n > 0; --n)
      lines_.push_back(new_line());
    exists_ = true;
    for (const auto& line : pending_)
      doubtful_.insert(line);
    return {.tool = "writeTextFile",
            .arguments = path() + R"(,"text":)" + json_string(content()) + "}",
            .verdict = [this, text = content()](const auto& r) {
              return expect(!r.failed && r.string("text") == text &&
                                r.string("path").ends_with("/" + file_),
                            "the write failed");
            }};
  }
  load_call append() {
    lines_.push_back(new_line());
    return {.tool = "appendTextFile",
            .arguments = path() + R"(,"text":)" + json_string(lines_.back()) + "}",
            .verdict = [text = lines_.back()](const auto& r) {
              return expect(!r.failed && r.string("text") == text, "the append failed");
            }};
  }
  load_call edit() {
    std::string& line = lines_[random_() % lines_.size()];
    const std::string old = line;
    line = new_line();
    return {.tool = "editTextFile",
            .arguments = path() + R"(,"oldText":)" + json_string(old) + R"(,"newText":)" +
                         json_string(line) + "}",
            .verdict = [](const auto& r) {
              return r.failed ? r.string("message")
                              : expect(r.value["occurrences"].integer() == 1, "not one occurrence");
            }};
  }
  load_call list() {
    return {.tool = "listDirectory",
            .arguments = R"({"path":")" + name_ + R"("})",
            .verdict = [this](const auto& r) {
              std::set<std::string> names;
              r.value["items"].for_each_element([&](mcp::json_view item) {
                names.insert(std::string(item["name"].string().value_or("")));
              });
              names.erase("beside");
              std::set<std::string> expected{file_.substr(name_.size() + 1)};
              if (has_directory_) expected.insert("d");
              return expect(!r.failed && names == expected, "another directory");
            }};
  }
  load_call info() {
    return {.tool = "getFileInfo", .arguments = path() + "}", .verdict = [this](const auto& r) {
              const auto size = static_cast<std::int64_t>(content().size());
              const auto found = r.value["size"].integer().value_or(-1);
              return expect(!r.failed && (doubtful_.empty() ? found == size : found >= size),
                            "another size");
            }};
  }
  load_call move() {
    const std::string from = file_;
    file_ = name_ + (from.ends_with("/f") ? "/g" : "/f");
    return {.tool = "moveFile",
            .arguments = R"({"source":)" + json_string(from) + R"(,"destination":)" +
                         json_string(file_) + "}",
            .verdict = [this](const auto& r) {
              return expect(!r.failed && r.string("destination").ends_with("/" + file_),
                            "the move failed");
            }};
  }
  load_call remove() {
    exists_ = false;
    lines_.clear();
    return {.tool = "deleteFile", .arguments = path() + "}", .verdict = [](const auto& r) {
              return expect(!r.failed, "the file could not be deleted");
            }};
  }
  /// The directory that comes and goes, with something in it.
  load_call directory() {
    has_directory_ = !has_directory_;
    if (has_directory_)
      return {.tool = "writeTextFile",
              .arguments = R"({"path":")" + name_ + R"(/d/e/f","text":"x"})",
              .verdict = [](const auto& r) { return expect(!r.failed, "no directories"); }};
    return {.tool = "deleteDirectory",
            .arguments = R"({"path":")" + name_ + R"(/d","recursive":true})",
            .verdict = [](const auto& r) { return expect(!r.failed, "not deleted"); }};
  }
  load_call read_shared() {
    const std::size_t from = random_() % (shared_lines - 300);
    const std::size_t to = from + 1 + random_() % 200;
    std::string text;
    for (std::size_t n = from; n < to; ++n)
      text += shared_line(n);
    text.pop_back(); // a slice ends with its last line's text
    return {.tool = "readTextFile",
            .arguments = R"({"path":")" + std::string(shared_name) + R"(","from":)" +
                         std::to_string(from) + R"(,"to":)" + std::to_string(to) + "}",
            .verdict = [text](const auto& r) {
              return expect(!r.failed && r.string("content") == text, "other lines");
            }};
  }
  /// What must be refused, in words.
  load_call absurd() {
    static const struct {
      const char* tool;
      const char* arguments;
      const char* error;
    } calls[] = {
        {"readTextFile", R"({"path":"nowhere/to/be/found"})", "not_found"},
        {"readTextFile", R"({"path":"../outside"})", "escapes_root"},
        {"readTextFile", R"({"path":7})", "invalid_argument"},
        {"editTextFile", R"({"path":"shared.txt","oldText":"no such","newText":""})", "no_match"},
        {"deleteDirectory", R"({"path":"shared.txt"})", "not_a_directory"},
        {"moveFile", R"({"source":"shared.txt","destination":"shared.txt"})", "already_exists"}};
    const auto& call = calls[random_() % std::size(calls)];
    return {.tool = call.tool, .arguments = call.arguments, .verdict = [call](const auto& r) {
              return expect(r.failed && r.string("error") == call.error,
                            call.error + (": " + r.value.text()));
            }};
  }
  load_call health() {
    return {.tool = "healthCheck", .arguments = "{}", .verdict = [](const auto& r) {
              return expect(r.string("status") == "ok", "not healthy");
            }};
  }
  load_call show() {
    return {.tool = "exec",
            .arguments = R"({"command":"cat","args":[)" + json_string(file_) +
                         R"(],"env":{},"cwd":".","stdout":true,"stderr":true})",
            .verdict = [this](const auto& r) {
              // More commands at once than are allowed are refused.
              if (r.string("error") == "too_many") return std::string();
              return r.failed ? r.string("message") : difference(r.string("output"));
            }};
  }

  // --- the todo list, which all clients share

  load_call todo() {
    std::string arguments = "{}";
    if (todos_.size() < todos_max) {
      const std::string title = name_ + " does " + std::to_string(todos_.size());
      todos_.push_back({-1, title, false});
      arguments = R"({"newTodos":[)" + json_string(title) + "]}";
    } else if (auto& item = todos_[random_() % todos_max]; item.id >= 0) {
      item.completed = true;
      arguments = R"({"completedTodos":[)" + std::to_string(item.id) + "]}";
    }
    return {.tool = "todo", .arguments = arguments, .verdict = [this](const auto& r) {
              return expect(!r.failed && count_of_todos(r.value["todos"]) == todos_.size(),
                            "todos were lost: " + r.value.text());
            }};
  }
  load_call completion() {
    return {.tool = "attemptCompletion", .arguments = "{}", .verdict = [this](const auto& r) {
              std::size_t open = 0;
              for (const auto& item : todos_)
                open += item.completed ? 0 : 1;
              return expect(count_of_todos(r.value["remainingTodos"]) == open,
                            "other todos remain: " + r.value.text());
            }};
  }
  /// How many of a list are this client's and as they must be.
  std::size_t count_of_todos(mcp::json_view list) {
    std::size_t count = 0;
    list.for_each_element([&](mcp::json_view found) {
      for (auto& item : todos_) {
        if (found["title"].string() != item.title) continue;
        if (item.id < 0) item.id = found["id"].integer().value_or(-1);
        if (found["id"].integer() == item.id && found["completed"].boolean() == item.completed)
          ++count;
      }
    });
    return count;
  }

  // --- what is cancelled

  static load_call cancelled(load_call call) {
    call.cancel = true;
    call.verdict = nullptr;
    return call;
  }
  load_call append_in_vain() {
    const std::string line = new_line();
    doubtful_.insert(line);
    pending_.push_back(line);
    if (pending_.size() > 16) pending_.erase(pending_.begin());
    return cancelled(
        {.tool = "appendTextFile", .arguments = path() + R"(,"text":)" + json_string(line) + "}"});
  }
  load_call write_beside() {
    return cancelled({.tool = "writeTextFile",
                      .arguments = R"({"path":")" + name_ + R"(/beside","text":)" +
                                   json_string(new_line()) + "}"});
  }
  load_call sleep() {
    load_call call = cancelled(
        {.tool = "exec",
         .arguments =
             R"({"command":"sleep","args":["86400"],"env":{},"cwd":".","stdout":true,"stderr":true})"});
    call.must_not_end = true;
    call.verdict = [](const auto& r) {
      return expect(r.string("error") == "too_many", "it never ends, but it was answered");
    };
    return call;
  }

  struct own_todo {
    std::int64_t id;
    std::string title;
    bool completed;
  };

  std::mt19937_64 random_;
  std::string name_;
  std::string file_;
  era era_;
  bool string_ids_;
  std::uint64_t calls_ = 0;
  std::uint64_t written_ = 0;
  bool exists_ = false;
  bool has_directory_ = false;
  std::vector<std::string> lines_;
  std::set<std::string> doubtful_;   ///< may be in the file, each once
  std::vector<std::string> pending_; ///< the last of them, whose calls may still run
  std::vector<own_todo> todos_;
};

} // namespace paddock::test
