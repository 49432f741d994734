// SPDX-License-Identifier: MIT

// The readers of paddock-egress by themselves: what is decided by bytes alone.
// test/cli/network_test.py has the whole.

#include "egress/client_hello.hpp"
#include "egress/dns_stub.hpp"
#include "egress/flow.hpp"
#include "egress/http_guard.hpp"
#include "sys/special_address.hpp"
#include "sys/stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <string>
#include <vector>

namespace paddock::egress {
namespace {

using ::testing::IsEmpty;

std::string number(std::size_t value, unsigned bytes) {
  std::string out;
  while (bytes-- > 0)
    out += static_cast<char>(value >> (8U * bytes) & 0xffU);
  return out;
}

std::string vector_of(const std::string& content, unsigned bytes) {
  return number(content.size(), bytes) + content;
}

std::string name_extension(const std::string& name) {
  return number(0, 2) + vector_of(vector_of('\0' + vector_of(name, 2), 2), 2);
}

/// RFC 8446, section 4.1.2.
std::string hello_with(const std::string& extensions) {
  const std::string body = "\3\3" + std::string(32, 'r') + vector_of("session", 1) +
                           vector_of("\x13\1", 2) + vector_of(std::string(1, '\0'), 1) +
                           vector_of(extensions, 2);
  return "\1" + vector_of(body, 3);
}

std::string record(const std::string& content) {
  return "\x16\3\1" + vector_of(content, 2);
}

const std::string other_extension = number(10, 2) + vector_of("groups", 2);

TEST(ClientHello, HasOneName) {
  const std::string message =
      hello_with(other_extension + name_extension("Code.example.org") + other_extension);
  const hello whole = read_client_hello(record(message) + "more");
  EXPECT_EQ(whole.state, hello_state::named);
  EXPECT_EQ(whole.name, "Code.example.org");
  // In two records, and in as many as it has bytes.
  EXPECT_EQ(read_client_hello(record(message.substr(0, 50)) + record(message.substr(50))).name,
            "Code.example.org");
  std::string pieces;
  for (const char each : message)
    pieces += record(std::string(1, each));
  EXPECT_EQ(read_client_hello(pieces).name, "Code.example.org");
}

TEST(ClientHello, WaitsForItsEnd) {
  const std::string all = record(hello_with(name_extension("code.example.org")));
  for (std::size_t size = 0; size < all.size(); ++size)
    EXPECT_EQ(read_client_hello(std::string_view(all).substr(0, size)).state,
              hello_state::incomplete)
        << size;
}

TEST(ClientHello, IsRefusedWhereTwoCouldReadItInTwoWays) {
  const std::string name = name_extension("code.example.org");
  const std::string two_in_one =
      number(0, 2) +
      vector_of(
          vector_of('\0' + vector_of("a.example.org", 2) + '\0' + vector_of("b.example.org", 2), 2),
          2);
  const std::pair<const char*, std::string> rows[] = {
      {"two extensions", record(hello_with(name + name_extension("other.example.org")))},
      {"two names in one", record(hello_with(two_in_one))},
      {"a name of another kind",
       record(hello_with(number(0, 2) +
                         vector_of(vector_of('\1' + vector_of("code.example.org", 2), 2), 2)))},
      {"a length beyond the end", record(hello_with(name.substr(0, 3) + "\xff" + name.substr(4)))},
      {"bytes behind the extensions",
       record("\1" + vector_of(hello_with(name).substr(4) + "x", 3))},
      {"bytes behind it in its record", record(hello_with(name) + "x")},
      {"an empty record", record("") + record(hello_with(name))},
      {"another record first", "\x15\3\1" + vector_of("\1", 2)},
      {"another message", record("\2" + hello_with(name).substr(1))},
      {"another version", "\x16\2\1" + vector_of(hello_with(name), 2)},
      {"longer than any", record("\1" + number(hello_bytes_max, 3))},
      {"plain text", "GET / HTTP/1.1\r\n\r\n"},
  };
  for (const auto& [title, bytes] : rows)
    EXPECT_EQ(read_client_hello(bytes).state, hello_state::other) << title;
  EXPECT_EQ(read_client_hello(record(hello_with(other_extension))).state, hello_state::unnamed);
}

/// What goes on behind the first message of what is sent in pieces, before and after the answer.
std::string passed_behind(std::string_view sent, std::string_view answer, std::size_t piece) {
  second_hello second("code.example.org");
  std::string forward;
  const std::string_view early = sent.substr(0, sent.size() / 2);
  if (!second.take(early, forward)) return forward + "refused";
  EXPECT_EQ(forward, ""); // before there is an answer
  for (std::size_t at = 0; at < answer.size(); at += piece)
    if (!second.answered(answer.substr(at, piece), forward)) return forward + "refused";
  for (std::size_t at = early.size(); at < sent.size(); at += piece)
    if (!second.take(sent.substr(at, piece), forward)) return forward + "refused";
  return forward;
}

TEST(SecondHello, NamesTheSameHostWhereTheServerAsksForIt) {
  const std::string retry =
      record("\2" + number(80, 3) + "\3\3" +
             "\xcf\x21\xad\x74\xe5\x9a\x61\x11\xbe\x1d\x8c\2\x1e\x65\xb8\x91"
             "\xc2\xa2\x11\x16\x7a\xbb\x8c\x5e\7\x9e\x09\xe2\xc8\xa8\x33\x9c" +
             std::string(46, 's'));
  const std::string other_answer = record("\2" + number(80, 3) + std::string(80, 's'));
  const std::string change = "\x14\3\3" + vector_of("\1", 2);
  const std::string early = "\x17\3\3" + vector_of("early data", 2);
  const std::string good = record(hello_with(name_extension("code.example.org")));
  const std::string bad = record(hello_with(name_extension("other.example.org")));
  for (const std::size_t piece : {1UL, 7UL, 1000UL}) {
    EXPECT_EQ(passed_behind(change + early + good + "more", retry, piece),
              change + early + good + "more");
    EXPECT_EQ(passed_behind(change + early + bad, retry, piece), change + early + "refused");
    EXPECT_EQ(passed_behind(record(hello_with(other_extension)), retry, piece), "refused");
    EXPECT_EQ(passed_behind("\x18" + bad, retry, piece), "refused");
    EXPECT_EQ(passed_behind(early + bad, other_answer, piece), early + bad); // it is encrypted
    EXPECT_EQ(passed_behind(early + bad, "\x15", piece), early + bad);
  }
}

/// What goes on of what is sent in pieces of that many bytes; "refused" behind it when it ends so.
std::string passed(std::string_view sent, std::size_t piece_bytes, std::string_view answer = {}) {
  http_guard guard("code.example.org", 80);
  std::string forward;
  for (; !sent.empty(); sent.remove_prefix(std::min(piece_bytes, sent.size())))
    if (guard.take(sent.substr(0, piece_bytes), forward) != nullptr) return forward + "refused";
  if (guard.answered(answer, forward) != nullptr) return forward + "refused";
  return forward;
}

TEST(HttpGuard, PassesRequestsForItsHostAsTheyAre) {
  const std::string rows[] = {
      "GET / HTTP/1.1\r\nHost: code.example.org\r\n\r\n",
      "GET / HTTP/1.0\r\nHost: code.example.org\r\n\r\n",
      "GET http://code.example.org/x HTTP/1.1\r\nhost:CODE.example.org:80\r\n\r\n",
      "OPTIONS * HTTP/1.1\r\nHost: code.example.org \r\n\r\n",
      "POST /a HTTP/1.1\r\nHost: code.example.org\r\nContent-Length: 0\r\n\r\nGET / "
      "HTTP/1.1\r\nHost: code.example.org\r\nConnection: keep-alive\r\n\r\n",
      "POST /a HTTP/1.1\r\nHost: code.example.org\r\nContent-Length: 5\r\nConnection: "
      "close\r\n\r\nhelloGET / HTTP/1.1\r\nHost: code.example.org\r\n\r\n",
      "PUT /a HTTP/1.1\r\nHost: code.example.org\r\nTransfer-Encoding: "
      "chunked\r\nConnection: close\r\n\r\n4;x=\"y\"\r\nbody\r\n0\r\nTrailer: 1\r\n\r\n"
      "GET / HTTP/1.1\r\nHost: code.example.org\r\n\r\n",
  };
  for (const std::string& each : rows)
    for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, each.size()})
      EXPECT_EQ(passed(each, piece), each) << piece;
}

TEST(HttpGuard, JudgesEachRequestWhereverItBegins) {
  const std::string good =
      "POST /a HTTP/1.1\r\nHost: code.example.org\r\nContent-Length: 5\r\nConnection: "
      "close\r\n\r\nhello";
  const std::string bad = "GET / HTTP/1.1\r\nHost: other.example.org\r\n\r\n";
  for (std::size_t piece = 1; piece <= good.size() + bad.size(); ++piece)
    EXPECT_EQ(passed(good + bad, piece), good + "refused") << piece;
}

TEST(HttpGuard, LetsOnlyTheServerChangeTheProtocol) {
  const std::string asked =
      "GET /ws HTTP/1.1\r\nHost: code.example.org\r\nUpgrade: websocket\r\n\r\n";
  const std::string bad = "GET / HTTP/1.1\r\nHost: other.example.org\r\n\r\n";
  EXPECT_EQ(passed(asked + bad, 1000), asked); // held
  EXPECT_EQ(passed(asked + bad, 1000, "HTTP/1.1 101 Switching Protocols\r\n"), asked + bad);
  EXPECT_EQ(passed(asked + bad, 1000, "HTTP/1.1 200 OK\r\n\r\n"), asked + "refused");
  EXPECT_EQ(passed(asked + bad, 1000, "HTTP/1.1 10"), asked); // it has not answered yet
}

/// Java's client offers it with every request.
TEST(HttpGuard, PassesNoOfferOfAnotherProtocol) {
  EXPECT_EQ(
      passed("GET / HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHost: "
             "code.example.org\r\n\r\n",
             7),
      "GET / HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nHost: code.example.org\r\n\r\n");
  EXPECT_EQ(
      passed("GET / HTTP/1.1\r\nUpgrade: h2c, websocket\r\nHost: code.example.org\r\n\r\n", 999),
      "GET / HTTP/1.1\r\nHost: code.example.org\r\n\r\n");
}

/// A server that does not read it would take it for a request.
TEST(HttpGuard, MakesARequestWithABodyTheLast) {
  EXPECT_EQ(passed("GET / HTTP/1.1\r\nconnection: keep-alive\r\nHost: code.example.org\r\n"
                   "Content-Length: 4\r\n\r\nbody",
                   7),
            "GET / HTTP/1.1\r\nHost: code.example.org\r\nContent-Length: 4\r\nConnection: "
            "close\r\n\r\nbody");
}

TEST(HttpGuard, HasBounds) {
  EXPECT_EQ(passed("GET /" + std::string(70'000, 'a'), 4096), "refused");
  EXPECT_EQ(
      passed("POST / HTTP/1.1\r\nHost: code.example.org\r\nTransfer-Encoding: chunked\r\n\r\n" +
                 std::string(5000, '1'),
             4096),
      "POST / HTTP/1.1\r\nHost: code.example.org\r\nTransfer-Encoding: chunked\r\nConnection: "
      "close\r\n\r\nrefused");
  EXPECT_EQ(passed("POST / HTTP/1.1\r\nHost: code.example.org\r\nContent-Length: "
                   "99999999999999999999\r\n\r\n",
                   999),
            "refused");
}

std::string question_for(const std::string& labels, unsigned type) {
  return "\x12\x34\1" + std::string(1, '\0') + number(1, 2) + number(0, 6) + labels + '\0' +
         number(type, 2) + number(1, 2);
}

TEST(DnsStub, AnswersWithAnAddressThatLasts) {
  host_list hosts;
  ASSERT_THAT(hosts.add("*.example.org"), IsEmpty());
  name_table names;
  const std::string asked = question_for("\4Code\7example\3org", 1);
  const dns_answer first = answer_question(asked, hosts, names);
  ASSERT_EQ(first.bytes.size(), asked.size() + 16);
  EXPECT_EQ(first.bytes.substr(0, 2), "\x12\x34");
  EXPECT_EQ(first.bytes[3] & 15, 0);
  EXPECT_EQ(first.bytes.substr(first.bytes.size() - 4), number(0xc6120001, 4));
  EXPECT_EQ(names.name_of(0xc6120001), "code.example.org");
  EXPECT_EQ(answer_question(asked, hosts, names).bytes, first.bytes);
  // Nothing of another kind, so that nobody waits for it.
  EXPECT_EQ(answer_question(question_for("\4code\7example\3org", 28), hosts, names).bytes.size(),
            asked.size());
}

TEST(NameTable, GivesTheOldestAddressToTheNewestName) {
  name_table names;
  const std::uint32_t first = names.address_of("a");
  for (int i = 0; i < 19'999; ++i)
    (void)names.address_of(std::to_string(i));
  EXPECT_EQ(names.name_of(first), "a");
  EXPECT_EQ(names.address_of("b"), first);
  EXPECT_EQ(names.name_of(first), "b");
  EXPECT_NE(names.address_of("a"), first);
  EXPECT_EQ(names.name_of(names.address_of("a")), "a");
}

TEST(DnsStub, ReportsOnlyQuestionsForAddresses) {
  host_list hosts;
  ASSERT_THAT(hosts.add("*.example.org"), IsEmpty());
  name_table names;
  const std::string other = "\5other\7example\3net";
  EXPECT_EQ(answer_question(question_for(other, 28), hosts, names).refused, "other.example.net");
  for (const unsigned type : {12U, 33U, 16U}) // PTR, SRV, TXT
    EXPECT_EQ(answer_question(question_for(other, type), hosts, names).refused, "");
}

TEST(DnsStub, KnowsNoOtherName) {
  host_list hosts;
  ASSERT_THAT(hosts.add("*.example.org"), IsEmpty());
  name_table names;
  for (const std::string& labels :
       {std::string("\5other\7example\3net"), std::string("\7example\3org"),
        std::string("\6a.b\0xy", 7) + "\7example\3org", std::string(), std::string("\1a\0b", 4)}) {
    const dns_answer answer = answer_question(question_for(labels, 1), hosts, names);
    ASSERT_GE(answer.bytes.size(), 12U);
    EXPECT_EQ(answer.bytes[3] & 15, 3) << labels;
    EXPECT_EQ(answer.bytes.substr(6, 2), number(0, 2));
  }
  EXPECT_EQ(answer_question(question_for("\11localhost", 1), hosts, names).bytes.substr(39),
            number(0x7f000001, 4));
}

TEST(DnsStub, SurvivesAnyQuestion) {
  host_list hosts;
  ASSERT_THAT(hosts.add("*"), IsEmpty());
  name_table names;
  const std::string asked = question_for("\4code\7example\3org", 1);
  for (std::size_t size = 0; size < asked.size(); ++size)
    (void)answer_question(std::string_view(asked).substr(0, size), hosts, names);
  for (std::size_t at = 0; at < asked.size(); ++at)
    for (unsigned value = 0; value < 256; ++value) {
      std::string changed = asked;
      changed[at] = static_cast<char>(value);
      (void)answer_question(changed, hosts, names);
    }
  EXPECT_THAT(answer_question(question_for("\xc0\x0c", 1), hosts, names).bytes.substr(3, 1),
              "\x81"); // a pointer
}

TEST(Flow, EndsWhereTheOtherSideReadsNothing) {
  const file_descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  const sys::endpoint to{*sys::inet_pton("127.0.0.1"), sys::local_endpoint(listener.get())->port};
  auto command = *sys::socketpair(SOCK_STREAM);
  flow at(std::move(command.first), {"code.example.org", to.port}, 0);
  at.connect_to({to}, false);
  std::array<pollfd, 1> outside{{{at.outside(), POLLOUT, 0}}};
  ASSERT_EQ(*sys::poll(outside, 10'000), 1U);
  std::vector<char> scratch(64UL * 1024);
  at.outside_ready({.writable = true}, scratch);
  const std::string sent(scratch.size(), 'x');
  while (at.inside_interest().read) {
    (void)sys::send_nowait(command.second.get(), sent).has_value();
    at.inside_ready({.readable = true}, scratch);
  }
  at.time_passed(240'000);
  EXPECT_EQ(at.now(), flow::stage::relaying);
  at.time_passed(360'000);
  EXPECT_EQ(at.now(), flow::stage::over);
}

TEST(SpecialAddress, IsNoneOfThePublicInternet) {
  for (const char* const text : {"0.0.0.0",
                                 "10.1.2.3",
                                 "100.64.0.1",
                                 "127.0.0.1",
                                 "169.254.169.254",
                                 "172.31.255.255",
                                 "192.168.1.1",
                                 "192.0.2.1",
                                 "198.18.0.1",
                                 "198.19.255.255",
                                 "198.51.100.1",
                                 "203.0.113.1",
                                 "224.0.0.1",
                                 "255.255.255.255",
                                 "168.63.129.16",
                                 "::",
                                 "::1",
                                 "::ffff:10.0.0.1",
                                 "64:ff9b::a00:1",
                                 "fe80::1",
                                 "fc00::1",
                                 "fd00:ec2::254",
                                 "ff02::1",
                                 "2001::1",
                                 "2001:db8::1",
                                 "2002:a00:1::1",
                                 "3fff::1",
                                 "5f00::1"})
    EXPECT_NE(sys::special_purpose_of(*sys::inet_pton(text)), "") << text;
  for (const char* const text : {"1.1.1.1", "9.255.255.255", "11.0.0.0", "100.128.0.1",
                                 "172.32.0.1", "198.20.0.1", "223.255.255.255", "2606:4700::1111",
                                 "2a00:1450::1", "2001:4860:4860::8888", "64:ff9b::808:808"})
    EXPECT_EQ(sys::special_purpose_of(*sys::inet_pton(text)), "") << text;
}

} // namespace
} // namespace paddock::egress
