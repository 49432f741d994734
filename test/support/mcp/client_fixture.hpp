// SPDX-License-Identifier: MIT
#pragma once

// Clients of test/support/mcp/fault_server.cpp, and what they leave behind.

#include "support/process/command_fixture.hpp"

#include <paddock/mcp/client.hpp>

namespace paddock::test {

/// Dead or alive.
inline std::size_t children() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream list(task.path() / "children");
    count += static_cast<std::size_t>(
        std::distance(std::istream_iterator<int>(list), std::istream_iterator<int>()));
  }
  return count;
}

class mcp_client : public testing::Test {
protected:
  mcp_client() : cookie_("cookie-" + std::to_string(::getpid()) + "-" + std::to_string(next_++)) {}
  ~mcp_client() override {
    for (const pid_t left : processes_with(cookie_))
      ::kill(left, SIGKILL);
  }

  [[nodiscard]] mcp::stdio_endpoint server(const std::string& mode) const {
    return {.argv = {PADDOCK_TEST_FAULT_SERVER, mode, cookie_},
            .environment = {"PATH=/usr/bin:/bin"}};
  }
  [[nodiscard]] mcp::client_options quick() {
    return {.discover_timeout_ms = 20'000, // what is tested is not to depend on it
            .close_grace_ms = 100,
            .on_log =
                [this](std::string_view line) {
                  const std::lock_guard lock(log_guard_);
                  log_.emplace_back(line);
                },
            .on_lost = [this](std::string_view why) { lost_.emplace_back(why); }};
  }
  [[nodiscard]] result<mcp::client, detailed_error> connect(const std::string& mode) {
    return mcp::client::connect(server(mode), quick());
  }
  result<mcp::call_reply, detailed_error> call(mcp::client& c, std::int64_t timeout_ms = 20'000) {
    return c.call_tool("t", "{}", {.timeout_ms = timeout_ms});
  }
  [[nodiscard]] std::vector<std::string> log() {
    const std::lock_guard lock(log_guard_);
    return log_;
  }

  std::string cookie_;
  std::vector<std::string> lost_; ///< to be looked at after close

private:
  static inline int next_ = 0;
  std::mutex log_guard_;
  std::vector<std::string> log_;
};

inline std::string text(const std::string& content) {
  return R"("text":")" + content + R"(")";
}

} // namespace paddock::test
