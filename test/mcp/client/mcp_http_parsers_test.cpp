// SPDX-License-Identifier: MIT
// Streams of events, cut into pieces of every size, and heads of responses.
#include "mcp/client/http/sse_parser.hpp"
#include "mcp/client/http/transfer/http_head.hpp"
#include "precompiled/tests.hpp"

namespace paddock::mcp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// --- server-sent events -------------------------------------------------------------------------

struct heard {
  std::vector<std::string> events; ///< "name|data"
  std::string last_id;
  std::int64_t retry_ms = -1;
  bool good = true;

  friend bool operator==(const heard&, const heard&) = default;
};

heard listen(std::string_view stream, std::size_t piece, std::size_t max = 1'000) {
  sse_parser parser(max);
  heard out;
  const auto note = [&](const sse_event& e) {
    out.events.push_back(std::string(e.name) + "|" + std::string(e.data));
  };
  for (std::size_t at = 0; at < stream.size() && out.good; at += piece)
    out.good = parser.feed(stream.substr(at, piece), note);
  out.last_id = parser.last_event_id();
  out.retry_ms = parser.retry_ms().value_or(-1);
  return out;
}

struct sse_case {
  std::string stream;
  std::vector<std::string> events;
  std::string last_id;
  std::int64_t retry_ms = -1;
};

const sse_case sse_cases[] = {
    {"", {}},
    {"data: a\n\n", {"message|a"}},
    {"data: a\r\n\r\n", {"message|a"}},
    {"data: a\r\r", {"message|a"}},
    {"data:a\n\n", {"message|a"}},
    {"data:  a\n\n", {"message| a"}},
    {"data: a\ndata: b\n\n", {"message|a\nb"}},
    {"data: a\r\ndata: b\rdata: c\n\n", {"message|a\nb\nc"}},
    {"data\n\n", {"message|"}},
    {"data\ndata\n\n", {"message|\n"}},
    {"data: a", {}},
    {"data: a\n", {}},
    {"\n\n\ndata: a\n\n\n\n", {"message|a"}},
    {": comment\n\n", {}},
    {":\ndata: a\n: x\n\n", {"message|a"}},
    {"event: endpoint\ndata: /m\n\n", {"endpoint|/m"}},
    {"event: x\n\ndata: a\n\n", {"message|a"}},
    {"event:\ndata: a\n\n", {"message|a"}},
    {"\xEF\xBB\xBF"
     "data: a\n\n",
     {"message|a"}},
    {"\xEF\xBB\xBF\xEF\xBB\xBF"
     "data: a\n\n",
     {}},
    {"data: a\n\n\xEF\xBB\xBF"
     "data: b\n\n",
     {"message|a"}},
    {"id: 1\ndata: a\n\n", {"message|a"}, "1"},
    {"id: 1\n\n", {}, "1"},
    {"id: 1\ndata: a\n\nid: 2\ndata: b\n", {"message|a"}, "1"},
    {"id: 1\ndata: a\n\nid\ndata: b\n\n", {"message|a", "message|b"}, ""},
    {std::string("id: 1\ndata: a\n\nid: 2\0\n\n", 23), {"message|a"}, "1"},
    {"id: 1\ndata: a\n\ndata: b\n\n", {"message|a", "message|b"}, "1"},
    {"retry: 500\n", {}, "", 500},
    {"retry: 5x\nretry: -1\nretry:\n", {}},
    {"retry: 99999999999999999999\n", {}, "", 3'600'000},
    {"Data: a\n data: b\ndata : c\n\n", {}},
    {"garbage\n<html>\ndata: a\n\n", {"message|a"}},
};

TEST(sse_parser, reads_the_same_in_pieces_of_any_size) {
  for (const sse_case& c : sse_cases) {
    const heard expected{c.events, c.last_id, c.retry_ms, true};
    for (std::size_t piece = 1; piece <= std::max<std::size_t>(c.stream.size(), 1); ++piece) {
      const heard got = listen(c.stream, piece);
      EXPECT_EQ(got, expected) << testing::PrintToString(c.stream) << " in pieces of " << piece
                               << ": " << testing::PrintToString(got.events);
    }
  }
}

TEST(sse_parser, bounds_events_and_lines) {
  const std::string most(100, 'x');
  const std::string half(50, 'x');
  const struct {
    std::string stream;
    bool good;
  } cases[] = {
      {"data: " + most + "\n\n", true},
      {"data: " + most + "x\n\n", false},
      {"data: " + half + "\ndata: " + half.substr(1) + "\n\n", true},
      {"data: " + half + "\ndata: " + half + "\n\n", false},
      {"data: " + half + "\n\ndata: " + most + "\n\n", true},
      {": " + std::string(1'000, 'x'), false},
      {std::string(1'000, 'x'), false},
  };
  for (const auto& c : cases)
    for (const std::size_t piece : {1u, 7u, 10'000u})
      EXPECT_EQ(listen(c.stream, piece, 100).good, c.good) << c.stream << ", " << piece;
}

// --- heads of responses -------------------------------------------------------------------------

/// The lines of `text`, until one is bad.
http_head_reader::step read(http_head_reader& reader, std::string_view text) {
  auto s = http_head_reader::step::more;
  while (!text.empty() && s != http_head_reader::step::bad) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    text.remove_prefix(line.size());
    s = reader.next(line);
  }
  return s;
}

const std::string ok = "HTTP/1.1 200 OK\r\n";

TEST(http_head, is_read) {
  const struct {
    std::string text;
    int status;
    const char* type;
  } cases[] = {
      {ok + "Content-Type: a/b\r\n\r\n", 200, "a/b"},
      {ok + "content-TYPE:a/b \t\r\n\r\n", 200, "a/b"},
      {"HTTP/1.0 200 OK\r\n\r\n", 200, ""},
      {"HTTP/1.1 404\r\n\r\n", 404, ""},
      {"HTTP/2 404 \r\n\r\n", 404, ""},
      {"HTTP/1.1 200 OK\nContent-Type: a/b\n\n", 200, "a/b"},
      {ok + "Content-Length: 3\r\nContent-Length: 3\r\n\r\n", 200, ""},
      {ok + "Transfer-Encoding: Chunked\r\n\r\n", 200, ""},
      {"HTTP/1.1 100 Continue\r\nContent-Type: x/y\r\n\r\n" + ok + "\r\n", 200, ""},
  };
  for (const auto& c : cases) {
    http_head_reader reader(true);
    EXPECT_EQ(read(reader, c.text), http_head_reader::step::head) << c.text;
    EXPECT_TRUE(reader.is_complete());
    EXPECT_EQ(reader.head().status, c.status) << c.text;
    EXPECT_EQ(reader.head().header("content-type"), c.type) << c.text;
    EXPECT_EQ(reader.next("A: trailer\r\n"), http_head_reader::step::more);
    EXPECT_EQ(reader.head().count("a"), 0u) << "a trailer is no header";
  }
}

TEST(http_head, is_refused_when_it_is_not_clear) {
  const std::string long_line(http_head_reader::head_bytes_max, 'a');
  std::string many;
  for (int i = 0; i < 300; ++i)
    many += "a: b\r\n";
  const struct {
    std::string text;
    const char* problem;
  } cases[] = {
      {"SSH-2.0-x\r\n", "not HTTP"},
      {"HTTP/1.2 200 x\r\n", "not HTTP"},
      {"HTTP/1.1200 x\r\n", "not HTTP"},
      {"HTTP/2 200\r\n", "not HTTP"}, // without TLS
      {"HTTP/1.1 2000 x\r\n", "not a number"},
      {"HTTP/1.1 abc x\r\n", "not a number"},
      {"HTTP/1.1 20\r\n", "not a number"},
      {"HTTP/1.1 099 x\r\n", "not a number"},
      {"HTTP/1.1 600 x\r\n", "not a number"},
      {"HTTP/1.1 101 x\r\n\r\n", "something else"},
      {"HTTP/1.1 200 " + long_line + "\r\n", "too long"},
      {ok + "a: " + long_line + "\r\n", "too long"},
      {ok + "\r\na: " + long_line + "\r\n", "too long"}, // trailers
      {ok + many, "too many"},
      {ok + "a: b", "middle"},
      {ok + "\r", "middle"},
      {ok + "a\r\n", "no name"},
      {ok + "a : b\r\n", "no name"},
      {ok + " folded\r\n", "no name"},
      {ok + ": b\r\n", "no name"},
      {ok + std::string("a: b\0c\r\n", 8), "control"},
      {ok + "a: b\rc\r\n", "control"},
      {ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "two lengths"},
      {ok + "Content-Length: -1\r\n", "not a number"},
      {ok + "Content-Length: 1x\r\n", "not a number"},
      {ok + "Content-Length: 99999999999999999999\r\n", "not a number"},
      {ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "both"},
      {ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", "not known"},
      {ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "not known"},
  };
  for (const auto& c : cases) {
    http_head_reader reader(false);
    EXPECT_EQ(read(reader, c.text), http_head_reader::step::bad) << c.text.substr(0, 100);
    EXPECT_THAT(reader.problem(), HasSubstr(c.problem)) << c.text.substr(0, 100);
  }
}

} // namespace
} // namespace paddock::mcp
