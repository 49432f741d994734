// SPDX-License-Identifier: MIT
#pragma once

// A server with small tools of every temperament: quick, failing, huge, blocking with and without
// saying so, deaf.

#include <paddock/mcp/server.hpp>

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::test {

/// What blocking tools wait for. Opening it lets all of them go on. Copies are the same
/// gate, because a handler that is left behind may outlive the test.
class gate {
public:
  void open() const {
    const std::lock_guard lock(s_->guard);
    s_->open = true;
    s_->changed.notify_all();
  }
  /// Those that come from now on wait.
  void close() const {
    const std::lock_guard lock(s_->guard);
    s_->open = false;
  }
  [[nodiscard]] int arrived() const {
    const std::lock_guard lock(s_->guard);
    return s_->arrived;
  }
  /// Lets waiting tools look again.
  void stir() const {
    const std::lock_guard lock(s_->guard);
    s_->changed.notify_all();
  }
  /// Waits until `n` tools have come here.
  void wait_for_arrivals(int n) const {
    std::unique_lock lock(s_->guard);
    s_->changed.wait(lock, [&] { return s_->arrived >= n; });
  }
  /// False when the call was cancelled first.
  bool pass(const std::atomic<bool>& cancelled) const {
    std::unique_lock lock(s_->guard);
    ++s_->arrived;
    s_->changed.notify_all();
    s_->changed.wait(lock, [&] { return s_->open || cancelled.load(); });
    return s_->open;
  }

private:
  struct state {
    std::mutex guard;
    std::condition_variable changed;
    bool open = false;
    int arrived = 0;
  };
  std::shared_ptr<state> s_ = std::make_shared<state>();
};

inline mcp::tool_result echo(mcp::call& c) {
  mcp::json_writer out;
  out.begin_object().member("text", *c.arguments()["text"].string()).end_object();
  return {.json = out.take()};
}

inline mcp::tool_result big(mcp::call& c) {
  mcp::json_writer out;
  const auto bytes = static_cast<std::size_t>(*c.arguments()["bytes"].integer());
  out.begin_object().member("text", std::string(bytes, 'x')).end_object();
  return {.json = out.take()};
}

inline mcp::tool_result steps(mcp::call& c) {
  c.progress(1, "one");
  c.progress(1, "again");
  c.progress(0.5, "back");
  c.progress(2.5, "");
  return {.json = "{}"};
}

inline mcp::tool_result wait_at(const gate& g, mcp::call& c) {
  c.on_cancel([g] { g.stir(); });
  const bool passed = g.pass(c.cancelled());
  c.on_cancel({});
  if (!passed) return mcp::tool_result::failure(error_code::cancelled, "cancelled");
  return {.json = R"({"passed":true})"};
}

inline std::vector<mcp::tool> fixture_tools(const gate& g) {
  using enum mcp::parameter_type;
  using mcp::presence;
  std::vector<mcp::tool> tools;
  tools.push_back(
      {.name = "echo",
       .title = "Echo",
       .description = "Gives the text back.",
       .parameters = {{.name = "text", .description = "Any text", .characters_max = 100}},
       .output_schema = R"({"type":"object","properties":{"text":{"type":"string"}}})",
       .annotations = {.read_only = true, .destructive = false, .idempotent = true},
       .handler = echo});
  tools.push_back(
      {.name = "every",
       .description = "Takes every type.",
       .parameters =
           {{.name = "s", .characters_min = 1, .characters_max = 3},
            {.name = "i",
             .type = integer,
             .presence = presence::optional,
             .minimum = -1,
             .maximum = 9},
            {.name = "b", .type = boolean, .presence = presence::optional},
            {.name = "sa", .type = string_array, .presence = presence::optional},
            {.name = "ia", .type = integer_array, .presence = presence::optional, .minimum = 0},
            {.name = "sm", .type = string_map, .presence = presence::optional}},
       .handler = [](mcp::call& c) { return mcp::tool_result{.json = c.arguments().text()}; }});
  tools.push_back({.name = "fail", .description = "Fails.", .handler = [](mcp::call&) {
                     return mcp::tool_result::failure(error_code::not_found, "no such thing");
                   }});
  tools.push_back({.name = "big",
                   .description = "A result of many bytes.",
                   .parameters = {{.name = "bytes", .type = integer, .minimum = 0}},
                   .too_large_hint = "ask for fewer bytes",
                   .handler = big});
  tools.push_back({.name = "steps", .description = "Reports progress.", .handler = steps});
  tools.push_back(
      {.name = "picture",
       .description = "Has content of its own, with a line break in it.",
       .handler = [](mcp::call&) {
         return mcp::tool_result{
             .json = "{\n\"a\":1}",
             .content = "[{\"type\":\"image\",\n\"data\":\"AA==\",\"mimeType\":\"image/png\"}]"};
       }});
  tools.push_back(
      {.name = "block", .description = "Waits, and says so.", .handler = [g](mcp::call& c) {
         c.may_block();
         return wait_at(g, c);
       }});
  tools.push_back({.name = "hang",
                   .description = "Waits without a word.",
                   .handler = [g](mcp::call& c) { return wait_at(g, c); }});
  tools.push_back(
      {.name = "deaf", .description = "Waits whatever happens.", .handler = [g](mcp::call& c) {
         static const std::atomic<bool> never{false};
         c.may_block();
         g.pass(never);
         return mcp::tool_result{.json = "{}"};
       }});
  return tools;
}

inline mcp::server_options fixture_options() {
  return {.name = "fixture", .version = "1.2.3", .title = "Fixture", .instructions = "Be kind."};
}

/// A request without an era. `params` is JSON text.
inline std::string legacy(std::string_view method, std::string_view params = "{}") {
  return R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) + R"(","params":)" +
         std::string(params) + "}";
}
inline std::string initialize(std::string_view version) {
  return legacy("initialize",
                R"({"protocolVersion":")" + std::string(version) +
                    R"(","capabilities":{},"clientInfo":{"name":"c","version":"9"}})");
}
/// `more` are members of params, each with a comma before it.
inline std::string modern(std::string_view method, std::string_view more = "") {
  return legacy(method, R"({"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                        R"("io.modelcontextprotocol/clientCapabilities":{}})" +
                            std::string(more) + "}");
}

} // namespace paddock::test
