// SPDX-License-Identifier: MIT

// The client against test/support/fault_server.cpp, which has every bad habit, and against our own
// adapter.

#include "support/command_fixture.hpp"
#include "support/matchers.hpp"
#include "support/temp_tree.hpp"

#include <paddock/mcp/client.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace paddock::mcp {
namespace {

using test::eventually;
using test::IsError;
using test::IsOk;
using test::processes_with;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Dead or alive.
std::size_t children() {
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

  [[nodiscard]] stdio_endpoint server(const std::string& mode) const {
    return {.argv = {PADDOCK_TEST_FAULT_SERVER, mode, cookie_},
            .environment = {"PATH=/usr/bin:/bin"}};
  }
  [[nodiscard]] client_options quick() {
    return {.discover_timeout_ms = 20'000, // what is tested is not to depend on it
            .close_grace_ms = 100,
            .on_log =
                [this](std::string_view line) {
                  const std::lock_guard lock(log_guard_);
                  log_.emplace_back(line);
                },
            .on_lost = [this](std::string_view why) { lost_.emplace_back(why); }};
  }
  [[nodiscard]] result<client> connect(const std::string& mode) {
    return client::connect(server(mode), quick(), &why_);
  }
  result<call_reply> call(client& c, std::int64_t timeout_ms = 20'000) {
    return c.call_tool("t", "{}", {.timeout_ms = timeout_ms}, &why_);
  }
  [[nodiscard]] std::vector<std::string> log() {
    const std::lock_guard lock(log_guard_);
    return log_;
  }

  std::string cookie_;
  std::string why_;
  std::vector<std::string> lost_; ///< to be looked at after close

private:
  static inline int next_ = 0;
  std::mutex log_guard_;
  std::vector<std::string> log_;
};

std::string text(const std::string& content) {
  return R"("text":")" + content + R"(")";
}

TEST_F(mcp_client, calls_a_tool) {
  auto c = connect("");
  ASSERT_THAT(c, IsOk()) << why_;
  EXPECT_EQ("fault", c->server().name);
  EXPECT_EQ("2024-11-05", c->server().revision);
  ASSERT_THAT(*c->tools(), SizeIs(1));
  EXPECT_EQ("t", c->tools()->front().name);
  EXPECT_EQ(R"({"type":"object"})", c->tools()->front().input_schema);
  const auto reply = call(*c);
  ASSERT_THAT(reply, IsOk()) << why_;
  EXPECT_THAT(reply->json, HasSubstr(text("pong")));
  EXPECT_FALSE(reply->failed);
  EXPECT_TRUE(c->connected());
  c->close();
  EXPECT_FALSE(c->connected());
  EXPECT_THAT(call(*c), IsError(error_code::cancelled));
  EXPECT_THAT(lost_, SizeIs(0));
}

// --- faults -------------------------------------------------------------------------------------

struct fault {
  const char* mode;
  error_code expected;
  const char* why;
  bool connected_afterwards;
};

std::ostream& operator<<(std::ostream& out, const fault& f) {
  return out << f.mode;
}

class mcp_client_fault : public mcp_client, public testing::WithParamInterface<fault> {};

TEST_P(mcp_client_fault, ends_in_an_error) {
  const fault& f = GetParam();
  client_options options = quick();
  options.message_bytes_max = std::size_t{1} * 1024 * 1024;
  {
    auto c = client::connect(server(f.mode), options, &why_);
    ASSERT_THAT(c, IsOk()) << why_;
    const bool times_out = f.expected == error_code::timed_out;
    const auto reply = c->call_tool("t", "{}",
                                    {.timeout_ms = times_out ? 100 : 60'000,
                                     .timeout_ms_max = times_out ? 300 : 60'000,
                                     .on_progress = [](double, double, std::string_view) {}},
                                    &why_);
    EXPECT_THAT(reply, IsError(f.expected));
    EXPECT_THAT(why_, HasSubstr(f.why));
    EXPECT_EQ(f.connected_afterwards, c->connected());
    if (!f.connected_afterwards) {
      EXPECT_THAT(call(*c), IsError(f.expected)) << "again";
    }
  }
  EXPECT_THAT(lost_, SizeIs(f.connected_afterwards ? 0 : 1));
  EXPECT_EQ(0U, children());
}

INSTANTIATE_TEST_SUITE_P(
    all, mcp_client_fault,
    testing::Values(fault{"crashes", error_code::io, "killed by signal 9", false},
                    fault{"exits_within_a_line", error_code::io, "exited with status 7", false},
                    fault{"closes_stdout", error_code::io, "closed its standard output", false},
                    fault{"leaves_daemon", error_code::io, "exited with status 0", false},
                    fault{"endless_line", error_code::too_large, "longer than allowed", false},
                    fault{"floods_garbage", error_code::timed_out, "tools/call", true},
                    fault{"floods_notifications", error_code::timed_out, "tools/call", true},
                    fault{"floods_requests", error_code::timed_out, "tools/call", true},
                    fault{"never_answers", error_code::timed_out, "tools/call", true},
                    fault{"wrong_ids", error_code::timed_out, "tools/call", true},
                    fault{"progress_forever", error_code::timed_out, "tools/call", true},
                    fault{"stops_reading", error_code::timed_out, "tools/call", true},
                    fault{"result_is_text", error_code::io, "no result object", true},
                    fault{"refuses", error_code::invalid_argument, "no (-32602)", true},
                    fault{"needs_input", error_code::unsupported, "input", true},
                    fault{"unknown_kind", error_code::unsupported, "resultType", true}),
    [](const auto& p) { return std::string(p.param.mode); });

TEST_F(mcp_client, leaves_nothing_behind) {
  const std::size_t before = open_descriptors();
  for (int round = 0; round < 1000; ++round) {
    auto c = connect("");
    ASSERT_THAT(c, IsOk()) << why_ << " in round " << round;
  }
  EXPECT_EQ(before, open_descriptors());
  EXPECT_EQ(0U, children());
  EXPECT_THAT(processes_with(cookie_), SizeIs(0));
}

} // namespace
} // namespace paddock::mcp
