// SPDX-License-Identifier: MIT
#pragma once

// An HTTP server with the tools of mcp_fixture.hpp on a thread of its own, and the requests of both
// eras.

#include "precompiled/tests.hpp"
#include "support/http/http_raw_client.hpp"
#include "support/mcp/mcp_fixture.hpp"

#include <paddock/mcp/http_server.hpp>

namespace paddock::test {

/// What the observer heard, to be waited for.
class call_log {
public:
  void add(const mcp::call_record& r) {
    const std::lock_guard lock(guard_);
    outcomes_.emplace_back(r.tool, r.outcome);
    changed_.notify_all();
  }
  mcp::call_outcome wait_for(std::size_t calls) {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [&] { return outcomes_.size() >= calls; });
    return outcomes_[calls - 1].second;
  }
  std::size_t size() {
    const std::lock_guard lock(guard_);
    return outcomes_.size();
  }

private:
  std::mutex guard_;
  std::condition_variable changed_;
  std::vector<std::pair<std::string, mcp::call_outcome>> outcomes_;
};

class served {
public:
  explicit served(mcp::http_server_options options = {}, paddock::limits limits = {},
                  int stop_fd = -1)
      : server_([&] {
          mcp::server_options o = fixture_options();
          o.limits = limits;
          o.observer = [this](const mcp::call_record& r) { calls.add(r); };
          return mcp::server(std::move(o), fixture_tools(waiting));
        }()),
        http_([&] {
          auto made = mcp::http_server::make(server_, std::move(options));
          if (!made) ADD_FAILURE() << made.error().operation;
          return *std::move(made);
        }()),
        thread_([this, stop_fd] {
          const auto outcome = http_.run(stop_fd);
          EXPECT_TRUE(outcome) << outcome.error().operation;
          if (outcome) outcome_ = *outcome;
        }) {}
  ~served() { stop(); }

  mcp::http_serve_outcome stop() {
    http_.stop();
    return wait_for_end();
  }
  mcp::http_serve_outcome wait_for_end() {
    if (thread_.joinable()) thread_.join();
    return outcome_;
  }
  void begin_to_stop() { http_.stop(); }
  [[nodiscard]] const std::string& address() const { return http_.address(); }
  [[nodiscard]] raw_client client(int receive_buffer = 0) const {
    return raw_client(address(), receive_buffer);
  }
  /// One request on a connection of its own.
  [[nodiscard]] http_reply ask(std::string_view request) const {
    raw_client c = client();
    c.send(request);
    return c.receive();
  }

  gate waiting;
  call_log calls;

private:
  mcp::server server_;
  mcp::http_server http_;
  mcp::http_serve_outcome outcome_;
  std::thread thread_;
};

inline std::string request(std::string_view method, std::string_view headers,
                           std::string_view body) {
  std::string out(method);
  out.append(" /mcp HTTP/1.1\r\nHost: localhost\r\n").append(headers);
  if (!body.empty())
    out.append("Content-Length: ").append(std::to_string(body.size())).append("\r\n");
  return out.append("\r\n").append(body);
}

inline constexpr std::string_view type_json = "Content-Type: application/json\r\n";
inline constexpr std::string_view accept_both = "Accept: application/json, text/event-stream\r\n";

inline std::string post(std::string_view headers, std::string_view body) {
  return request("POST", std::string(type_json) + std::string(headers), body);
}

/// "_meta" of the modern era, with more members.
inline std::string envelope(std::string_view more = {}) {
  return R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
         R"("io.modelcontextprotocol/clientCapabilities":{})" +
         std::string(more) + "}";
}

inline std::string modern_headers(std::string_view method, std::string_view name = {}) {
  std::string out =
      "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " + std::string(method) + "\r\n";
  if (!name.empty()) out.append("Mcp-Name: ").append(name).append("\r\n");
  return out;
}

inline std::string call_body(std::string_view id, std::string_view tool, std::string_view arguments,
                             std::string_view meta) {
  std::string out = R"({"jsonrpc":"2.0","id":)" + std::string(id);
  out.append(R"(,"method":"tools/call","params":{"name":")").append(tool);
  out.append(R"(","arguments":)").append(arguments);
  if (!meta.empty()) out.append(",").append(meta);
  return out.append("}}");
}

inline std::string modern_call(std::string_view tool, std::string_view arguments = "{}",
                               std::string_view id = "1", std::string_view more_meta = {},
                               std::string_view headers = {}) {
  return post(modern_headers("tools/call", tool) + std::string(headers),
              call_body(id, tool, arguments, envelope(more_meta)));
}

inline const std::string initialize_body =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",)"
    R"("capabilities":{},"clientInfo":{"name":"test","version":"1"}}})";

/// The id of a new session.
inline std::string new_session(const served& s) {
  const http_reply reply = s.ask(post({}, initialize_body));
  EXPECT_EQ(200, reply.status) << reply.body;
  return reply.header("mcp-session-id");
}

inline std::string session_header(std::string_view id) {
  return "Mcp-Session-Id: " + std::string(id) + "\r\n";
}

inline std::string legacy_call(std::string_view session, std::string_view tool,
                               std::string_view arguments = "{}", std::string_view id = "1") {
  return post(session_header(session), call_body(id, tool, arguments, {}));
}

} // namespace paddock::test
