// SPDX-License-Identifier: MIT
// How a client comes to a server over HTTP that is hard to reach.
#include "support/http/full_listener.hpp"
#include "support/http/http_peer.hpp"
#include "support/http/modern_http_server.hpp"
#include "support/matchers.hpp"

#include <paddock/mcp/client.hpp>

namespace paddock::mcp {
namespace {

using test::full_listener;
using test::http_peer;
using test::http_received;
using test::http_script_server;
using testing::HasSubstr;

/// Whether somebody on this machine waits for a connection to 127.0.0.1:`port`.
bool somebody_asks(int port) {
  char end[32];
  std::snprintf(end, sizeof end, "0100007F:%04X 02 ", static_cast<unsigned>(port)); // SYN_SENT
  std::ifstream table("/proc/net/tcp");
  for (std::string line; std::getline(table, line);)
    if (line.find(end) != std::string::npos) return true;
  return false;
}

/// A server of 2026-07-28, on one connection.
void serve_modern(http_peer& peer, std::vector<std::string>& methods) {
  for (http_received request; peer.receive(request);) {
    json_document document;
    const auto parsed = document.parse(request.body);
    const std::string id = parsed ? (*parsed)["id"].text() : "";
    methods.push_back(request.header("mcp-method"));
    const std::string answer = methods.back() == "server/discover"
                                   ? R"({"supportedVersions":["2026-07-28"],"capabilities":{}})"
                                   : R"({"tools":[]})";
    peer.answer(200, "application/json", test::modern_http_server::result_of(id, answer));
  }
}

TEST(McpHttpConnect, AModernServerThatIsSlowToReachIsNotTakenForAnOldOne) {
  full_listener listener;
  if (!listener.is_full()) GTEST_SKIP() << "this system lets connections into a full queue";
  if (!std::ifstream("/proc/net/tcp")) GTEST_SKIP() << "there is no /proc/net/tcp";
  listener.give_up_asking();
  std::vector<std::string> methods;
  std::thread server([&] {
    while (!somebody_asks(listener.port()))
      std::this_thread::yield();
    // The kernel asks again after a second: much longer than the server has for its answer.
    const int fd = listener.let_in();
    http_peer peer(fd);
    serve_modern(peer, methods);
    ::close(fd);
  });
  {
    const auto c = client::connect(
        http_endpoint{.url = "http://127.0.0.1:" + std::to_string(listener.port()) + "/mcp",
                      .addresses = address_policy::any},
        {.discover_timeout_ms = 200});
    EXPECT_THAT(c, test::IsOk());
    EXPECT_EQ(c ? c->server().revision : "", "2026-07-28");
  }
  server.join();
  EXPECT_THAT(methods, testing::ElementsAre("server/discover", "tools/list"));
}

/// The control: a connection, but no answer.
TEST(McpHttpConnect, AServerThatSaysNothingIsTakenForAnOldOne) {
  std::atomic<int> initialized{0};
  http_script_server server([&](http_peer& peer, const http_received& request) {
    if (request.header("mcp-method") == "server/discover") return peer.wait_for_client();
    if (request.body.find("\"initialize\"") != std::string::npos) ++initialized;
    peer.answer(500, "text/plain", "");
  });
  const auto c =
      client::connect(http_endpoint{.url = server.url(), .addresses = address_policy::any},
                      {.discover_timeout_ms = 200});
  EXPECT_THAT(c, test::IsError(error_code::io));
  EXPECT_EQ(initialized, 1);
}

TEST(McpHttpConnect, AServerThatCannotBeReachedIsAskedOnce) {
  const full_listener listener;
  if (!listener.is_full()) GTEST_SKIP() << "this system lets connections into a full queue";
  const std::string url = "http://127.0.0.1:" + std::to_string(listener.port()) + "/mcp";
  const auto c = client::connect(http_endpoint{.url = url, .addresses = address_policy::any},
                                 {.connect_timeout_ms = 12'000});
  // After ten seconds for the connection. To begin again would end with the time for everything.
  EXPECT_THAT(c, test::IsError(error_code::timed_out, HasSubstr("could not be reached in time")));
}

} // namespace
} // namespace paddock::mcp
