// SPDX-License-Identifier: MIT
// Our reader of requests against Boost.Beast, on requests that a grammar of honest and hostile
// parts makes, and on these with bytes changed: what both accept they read the same, to the byte
// where the next request begins. Readers that are wrong on purpose are noticed.

#if __has_include(<boost/beast/http/basic_parser.hpp>)

#include "http/request_differential.hpp"
#include "precompiled/tests.hpp"

namespace paddock::test {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t cases = 240'000;

/// Draws one thing a statement: the order in which arguments are evaluated is the compiler's.
class generator {
public:
  explicit generator(std::uint64_t seed) : random_(seed) {}

  std::string next() {
    std::string out = one_request();
    if (chance(4)) out += one_request();
    for (std::size_t n = chance(3) ? 1 + below(3) : 0; n > 0; --n)
      change(out);
    return out;
  }

private:
  std::mt19937_64 random_;

  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }
  bool chance(std::size_t one_in) { return below(one_in) == 0; }
  template <std::size_t N> std::string_view of(const std::string_view (&list)[N]) {
    return list[below(N)];
  }
  /// Mostly `usual`.
  template <std::size_t N>
  std::string_view mostly(std::string_view usual, std::size_t one_in,
                          const std::string_view (&odd)[N]) {
    return chance(one_in) ? of(odd) : usual;
  }

  std::string_view line_end() {
    static constexpr std::string_view odd[] = {"\n", "\r", "\r\r\n", "\n\r\n", "\r\n\r\n", " \r\n"};
    return mostly("\r\n", 60, odd);
  }

  std::string length_of(std::size_t bytes) {
    switch (below(40)) {
    case 0:
      return "+" + std::to_string(bytes);
    case 1:
      return "0x" + std::to_string(bytes);
    case 2:
      return std::to_string(bytes) + ", " + std::to_string(bytes);
    case 3:
      return "-1";
    case 4:
      return "0" + std::to_string(bytes);
    case 5:
      return "99999999999999999999";
    case 6:
      return std::to_string(bytes) + " 1";
    case 7:
      return "";
    case 8:
      return std::to_string(bytes + 1);
    case 9:
      return std::to_string(bytes) + ",";
    default:
      return std::to_string(bytes);
    }
  }

  void header(std::string& out, std::string_view name, std::string_view value) {
    static constexpr std::string_view colons[] = {":",   " : ", "\t:", ": \t ",
                                                  ":\v", " :",  "::",  "\0:"sv};
    static constexpr std::string_view tails[] = {" ", "\t ", "\v", "\r", "\r\n ", "\r\n\t\r\n "};
    out.append(name).append(mostly(": ", 30, colons)).append(value);
    out.append(mostly("", 40, tails)).append(line_end());
  }

  void chunks(std::string& out, std::string_view body) {
    static constexpr std::string_view extensions[] = {
        ";a", ";a=b", "; a = \"b;c\"", ";", " ;a", ";=b", ";a=\"\r\n\"", " ", "\t", ";\xff"};
    while (!body.empty()) {
      const std::string_view piece = body.substr(0, 1 + below(body.size()));
      body.remove_prefix(piece.size());
      std::ostringstream size;
      static constexpr std::string_view prefixes[] = {"0", "0x", "+",
                                                      "-", " ",  "000000000000000000"};
      size << mostly("", 40, prefixes) << (chance(2) ? std::hex : std::uppercase) << std::hex
           << piece.size() + (chance(60) ? 1 : 0);
      out.append(size.str()).append(mostly("", 12, extensions)).append(line_end());
      out.append(piece).append(line_end());
    }
    out.append("0").append(mostly("", 30, extensions)).append(line_end());
    if (chance(8)) header(out, chance(3) ? "Content-Length" : "X-Trailer", "5");
    out.append(line_end());
  }

  std::string one_request() {
    static constexpr std::string_view methods[] = {
        "POST", "PUT", "DELETE", "OPTIONS",  "HEAD",  "get",  "M-SEARCH",
        "G T",  "",    "G\x01T", "PROPFIND", "GET\t", "(GET)"};
    static constexpr std::string_view targets[] = {"/a?b=c", "*",    "http://a/", "HTTPS://a", "a",
                                                   "",       "/a b", "/\x7f",     "/\xc3\xa9", "//",
                                                   "/%00",   "/\t",  "a:80",      "/#f"};
    static constexpr std::string_view versions[] = {"HTTP/1.0", "HTTP/1.2",  "HTTP/2.0",
                                                    "http/1.1", "HTTP/1.1 ", "HTTP/11",
                                                    "HTTP/0.9", "HTTP/1.10", ""};
    static constexpr std::string_view blanks[] = {"  ", "\t", "", "\v", " \t"};
    static constexpr std::string_view encodings[] = {
        "chunked",       "Chunked",          "gzip, chunked",
        "chunked, gzip", "chunked, chunked", "xchunked",
        "chunked;q=1",   "identity",         "",
        "\"chunked\"",   ",chunked",         "chunked\t"};
    static constexpr std::string_view names[] = {
        "X",       "Accept", "Connection", "Expect", "X-Y", "Te", "Content-length",
        "Upgrade", "x_y",    "H\xc3\xa9",  "X(",     ""};
    static constexpr std::string_view values[] = {
        "a",        "close", "keep-alive", "100-continue", "a, b",           "",   "\x7f",   "a\tb",
        "\xc3\xa9", "a\x01", "\"q\"",      "a;b",          "Upgrade, close", ",,", "close;x"};
    std::string out(mostly("", 40, {"\r\n", "\r\n\r\n", "\n", " "}));
    out.append(mostly("GET", 4, methods)).append(mostly(" ", 40, blanks));
    out.append(mostly("/", 6, targets)).append(mostly(" ", 40, blanks));
    out.append(mostly("HTTP/1.1", 20, versions)).append(line_end());
    header(out, "Host", "a");
    for (std::size_t n = below(4); n > 0; --n) {
      const std::string_view name = mostly("Accept", 3, names);
      header(out, name, mostly("a", 2, values));
    }
    if (chance(1500)) header(out, "Large", std::string(1000 + below(9000), 'x'));
    if (chance(1500))
      for (int i = 0; i < 99; ++i)
        header(out, "N", "1");
    const std::size_t length = below(4) == 0 ? below(80) : below(8);
    const std::string body(length, chance(6) ? '\n' : 'b');
    const std::size_t kind = below(8); // 0 to 2: a length, 3 to 5: chunks, 6: both, 7: none
    if (kind <= 2 || kind == 6) header(out, "Content-Length", length_of(body.size()));
    if (kind <= 2 && chance(12)) header(out, "Content-Length", length_of(body.size()));
    if (kind >= 3 && kind <= 6) header(out, "Transfer-Encoding", mostly("chunked", 10, encodings));
    if (kind >= 3 && kind <= 5 && chance(15)) header(out, "Transfer-Encoding", of(encodings));
    if (kind == 6 && chance(2)) header(out, "Content-Length", length_of(body.size()));
    out.append(line_end());
    if (kind <= 2) out += body;
    if (kind >= 3 && kind <= 6) chunks(out, body);
    return out;
  }

  void change(std::string& bytes) {
    static constexpr std::string_view pieces[] = {"\r",
                                                  "\n",
                                                  "\r\n",
                                                  " ",
                                                  "\t",
                                                  ":",
                                                  ",",
                                                  ";",
                                                  "0",
                                                  "1",
                                                  "f",
                                                  "\0"sv,
                                                  "\x7f",
                                                  "\xff",
                                                  "\r\n ",
                                                  "Content-Length: 1\r\n",
                                                  "Transfer-Encoding: chunked\r\n",
                                                  "/",
                                                  "HTTP/1.1"};
    const std::size_t at = below(bytes.size() + 1);
    switch (below(4)) {
    case 0:
      bytes.insert(at, of(pieces));
      break;
    case 1:
      bytes.erase(at, 1 + below(3));
      break;
    case 2:
      bytes.replace(at, 1, of(pieces));
      break;
    default:
      const std::size_t from = below(bytes.size() + 1);
      bytes.insert(at, bytes.substr(from, 1 + below(30)));
    }
  }
};

struct judged {
  std::size_t both = 0;
  std::size_t stricter = 0;
  std::size_t looser = 0;
  std::map<std::string, std::pair<std::size_t, std::string>> different; ///< how often, the first
};

/// `reader` reads as we do, or wrongly on purpose.
template <class Reader> judged judge_all(std::size_t n, const Reader& reader) {
  using end = request_read::end;
  generator make(20'260'728);
  judged out;
  for (std::size_t i = 0; i < n; ++i) {
    const std::string stream = make.next();
    const request_read ours = reader(stream);
    const request_read beast = read_by_beast(stream);
    if (const auto what = difference(ours, beast, stream)) {
      std::ostringstream first;
      first << testing::PrintToString(stream) << "\n  we: " << ours << "\n  Beast: " << beast;
      auto& [count, example] = out.different[*what + " | " + ours.why + " | " + beast.why];
      if (count++ == 0) example = first.str();
      continue;
    }
    out.both += ours.ended == end::whole && beast.ended == end::whole ? 1 : 0;
    out.stricter += ours.ended != end::whole && beast.ended == end::whole ? 1 : 0;
    out.looser += ours.ended == end::whole && beast.ended != end::whole ? 1 : 0;
  }
  return out;
}

TEST(RequestDifferential, WhatBothAcceptTheyReadTheSame) {
  const judged all = judge_all(cases, read_by_us);
  for (const auto& [what, seen] : all.different)
    ADD_FAILURE() << what << ": " << seen.first << " of " << cases << "\n  " << seen.second;
  // The requests are worth it: neither nearly all good nor nearly all bad.
  EXPECT_GT(all.both, cases / 10);
  EXPECT_GT(all.stricter, cases / 100);
  RecordProperty("both", std::to_string(all.both));
  std::cout << all.both << " accepted by both, " << all.stricter << " refused by us alone, "
            << all.looser << " by Beast alone\n";
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// Each reads what it was told to as if something else had been said.
struct mutant {
  const char* name;
  std::string (*sees)(std::string_view stream);
};
const mutant mutants[] = {
    {"takes blanks before the colon",
     [](std::string_view s) { return replaced(replaced(std::string(s), " :", ":"), "\t:", ":"); }},
    {"joins folded headers without a blank",
     [](std::string_view s) { return replaced(std::string(s), "\r\n ", ""); }},
    {"takes LF for the end of a line",
     [](std::string_view s) {
       return replaced(replaced(std::string(s), "\r\n", "\n"), "\n", "\r\n");
     }},
    {"takes a number with a sign",
     [](std::string_view s) { return replaced(std::string(s), ": +", ": "); }},
    {"takes NUL for nothing",
     [](std::string_view s) { return replaced(std::string(s), std::string_view("\0", 1), ""); }},
    {"reads only the first encoding",
     [](std::string_view s) { return replaced(std::string(s), "chunked, gzip", "chunked"); }},
};

TEST(RequestDifferential, ReadersThatAreWrongOnPurposeAreNoticed) {
  for (const mutant& each : mutants) {
    const judged all = judge_all(20'000, [&](const std::string& stream) {
      const std::string seen = each.sees(stream);
      request_read out = read_by_us(seen);
      out.used += stream.size() - seen.size(); // the rest is what it was
      return out;
    });
    EXPECT_FALSE(all.different.empty()) << each.name;
  }
}

} // namespace
} // namespace paddock::test

#else

TEST(RequestDifferential, WhatBothAcceptTheyReadTheSame) {
  GTEST_SKIP() << "Boost.Beast is not installed (libboost-dev)";
}

#endif
