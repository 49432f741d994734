// SPDX-License-Identifier: MIT
#pragma once

// A tool call without a connection: the handler runs on the caller's thread, and only when it says
// that it may block does another thread watch for cancellation and the deadline.

#include <paddock/base/file_descriptor.hpp>
#include <paddock/mcp/client.hpp>
#include <paddock/mcp/tool.hpp>

#include <cstddef>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>

namespace paddock::skill_manager {

class in_process_call final : public mcp::call {
public:
  /// The options must live as long as the call.
  in_process_call(mcp::json_view arguments, const mcp::call_options& options,
                  std::size_t message_bytes_max);
  ~in_process_call() override;

  void on_cancel(std::function<void()> f) override;
  void may_block() override;
  [[nodiscard]] bool wants_progress() const noexcept override {
    return options_.on_progress != nullptr;
  }
  void progress(double progress, std::string_view message) override;
  void log(mcp::log_level, std::string_view) override {} // there is no client
  [[nodiscard]] std::size_t message_bytes_max() const noexcept override {
    return message_bytes_max_;
  }

  void cancel();
  /// Ends the watching; afterwards nothing cancels any more.
  void finish();
  [[nodiscard]] bool timed_out() const noexcept { return timed_out_; }

private:
  void watch(int cancellation_fd);

  const mcp::call_options& options_;
  const std::size_t message_bytes_max_;
  std::mutex guard_; ///< held while on_cancel_ is set or runs
  std::function<void()> on_cancel_;
  std::atomic<bool> timed_out_{false};
  std::mutex progress_guard_;
  double last_progress_ = -std::numeric_limits<double>::infinity();
  file_descriptor finished_;
  std::thread watcher_;
};

} // namespace paddock::skill_manager
