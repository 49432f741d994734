// SPDX-License-Identifier: MIT
// Streams of events, and responses of HTTP, cut into pieces of every size.
#include "mcp/client/http/http_response.hpp"
#include "mcp/client/http/sse_parser.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

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

// --- responses ----------------------------------------------------------------------------------

struct response {
  int status = 0;
  std::string type;
  std::string body;
  std::string end; ///< "end", "reusable", "more", or what is wrong
  std::size_t left_over = 0;

  friend bool operator==(const response&, const response&) = default;
};

void PrintTo(const response& r, std::ostream* out) {
  *out << r.status << " type=" << r.type << " body=" << r.body << " end=" << r.end << " +"
       << r.left_over;
}

response read(std::string_view stream, std::size_t piece, bool ends) {
  using step = http_response_reader::step;
  http_response_reader reader;
  response out;
  step s = step::more;
  std::size_t at = 0;
  std::string_view rest;
  while (s != step::end && s != step::bad) {
    if (s == step::more) {
      if (at >= stream.size()) break;
      rest = stream.substr(at, piece);
      at += rest.size();
    }
    s = reader.next(rest);
    if (s == step::head) out.type = reader.head().header("content-type");
    if (s == step::body) out.body += reader.body();
  }
  if (s != step::end && s != step::bad && ends) s = reader.at_end();
  out.status = reader.head().status;
  out.left_over = rest.size() + stream.size() - at;
  out.end = s == step::bad   ? reader.problem()
            : s != step::end ? "more"
                             : (reader.reusable() ? "reusable" : "end");
  return out;
}

struct response_case {
  std::string stream;
  response expected;
  bool ends = false;
};

const std::string ok = "HTTP/1.1 200 OK\r\n";

const response_case good_responses[] = {
    {ok + "Content-Length: 0\r\n\r\n", {200, "", "", "reusable"}},
    {ok + "Content-Length: 3\r\nContent-Type: a/b\r\n\r\nxyz", {200, "a/b", "xyz", "reusable"}},
    {ok + "content-LENGTH:3\r\n\r\nxyzHTTP", {200, "", "xyz", "reusable", 4}},
    {ok + "Content-Length: 3\r\nConnection: Close\r\n\r\nxyz", {200, "", "xyz", "end"}},
    {ok + "Content-Length: 3\r\nConnection: x, close\r\n\r\nxyz", {200, "", "xyz", "end"}},
    {ok + "Content-Length: 3\r\nContent-Length: 3\r\n\r\nxyz", {200, "", "xyz", "reusable"}},
    {"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nxyz", {200, "", "xyz", "end"}},
    {"HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", {404, "", "", "reusable"}},
    {"HTTP/1.1 204 No Content\r\n\r\n", {204, "", "", "reusable"}},
    {"HTTP/1.1 200 OK\nContent-Length: 1\n\nx", {200, "", "x", "reusable"}},
    {"HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 1\r\n\r\nx",
     {200, "", "x", "reusable"}},
    {ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nxyz\r\n0\r\n\r\n", {200, "", "xyz", "reusable"}},
    {ok + "Transfer-Encoding: Chunked\r\n\r\n1;a=b\r\nx\r\n02 \r\nyz\r\n0\r\nT: u\r\n\r\n",
     {200, "", "xyz", "reusable"}},
    {ok + "\r\nxyz", {200, "", "xyz", "end"}, true},
    {ok + "\r\n", {200, "", "", "end"}, true},
};

TEST(http_response, reads_the_same_in_pieces_of_any_size) {
  for (const response_case& c : good_responses)
    for (std::size_t piece = 1; piece <= c.stream.size(); ++piece)
      EXPECT_EQ(read(c.stream, piece, c.ends), c.expected) << c.stream << " in " << piece;
}

TEST(http_response, refuses_what_is_not_clear) {
  const std::string long_line(http_response_reader::head_bytes_max, 'a');
  const struct {
    std::string stream;
    const char* problem;
  } cases[] = {
      {"SSH-2.0-x\r\n", "not HTTP"},
      {"\x16\x03\x01\r\n", "not HTTP"},
      {"HTTP/2 200\r\n", "not HTTP"},
      {"HTTP/1.1 2000 x\r\n", "not HTTP"},
      {"HTTP/1.1 abc x\r\n", "not a number"},
      {"HTTP/1.1 099 x\r\n", "not a number"},
      {"HTTP/1.1 600 x\r\n", "not a number"},
      {"HTTP/1.1 101 x\r\n\r\n", "something else"},
      {"HTTP/1.1 200 " + long_line + "\r\n", "too long"},
      {ok + "a: " + long_line, "too long"},
      {ok + "a\r\n", "no name"},
      {ok + "a : b\r\n", "no name"},
      {ok + " folded\r\n", "no name"},
      {ok + ": b\r\n", "no name"},
      {ok + std::string("a: b\0c\r\n", 8), "control"},
      {ok + "a: b\rc\r\n", "control"},
      {ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n", "two lengths"},
      {ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", "both"},
      {ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", "not known"},
      {ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "not known"},
      {ok + "Content-Length: -1\r\n\r\n", "not a number"},
      {ok + "Content-Length: 1x\r\n\r\n", "not a number"},
      {ok + "Content-Length: 99999999999999999999\r\n\r\n", "not a number"},
      {ok + "Transfer-Encoding: chunked\r\n\r\nx\r\n", "not a number"},
      {ok + "Transfer-Encoding: chunked\r\n\r\n-1\r\n", "not a number"},
      {ok + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n", "not a number"},
      {ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n", "longer"},
      {ok + "Transfer-Encoding: chunked\r\n\r\n" + long_line + "a", "too long"},
      {ok + "Transfer-Encoding: chunked\r\n\r\n0\r\na: " + long_line + "a", "too long"},
  };
  for (const auto& c : cases)
    for (const std::size_t piece : {std::size_t{1}, std::size_t{4096}, c.stream.size()})
      EXPECT_THAT(read(c.stream, piece, false).end, HasSubstr(c.problem))
          << c.stream.substr(0, 100) << " in " << piece;
}

TEST(http_response, too_many_headers) {
  std::string stream = ok;
  for (int i = 0; i < 300; ++i)
    stream += "a: b\r\n";
  EXPECT_THAT(read(stream, stream.size(), false).end, HasSubstr("too many"));
}

TEST(http_response, an_end_too_early_is_none) {
  const std::string whole[] = {ok + "Content-Length: 3\r\n\r\nxyz",
                               ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nxyz\r\n0\r\n\r\n"};
  for (const std::string& stream : whole)
    for (std::size_t cut = 1; cut < stream.size(); ++cut)
      EXPECT_THAT(read(stream.substr(0, cut), cut, true).end, HasSubstr("middle"))
          << stream.substr(0, cut);
  http_response_reader unread;
  EXPECT_EQ(unread.at_end(), http_response_reader::step::bad);
  EXPECT_THAT(unread.problem(), HasSubstr("without an answer"));
}

} // namespace
} // namespace paddock::mcp
