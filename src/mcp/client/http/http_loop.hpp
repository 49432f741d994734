// SPDX-License-Identifier: MIT
#pragma once

// The thread of an HTTP client: all its connections, its timers and its state belong to it. Others
// hand it tasks.

#include "mcp/client/http/http_connection.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace paddock::mcp {

/// Header lines as they are sent.
using http_headers = std::vector<std::pair<std::string, std::string>>;

struct http_request {
  std::string_view method = "POST";
  std::string target;
  http_headers headers;
  std::string body;
  std::int64_t timeout_ms = 0; ///< for the whole exchange; 0 for none
};

class http_loop {
public:
  using task = std::function<void()>;

  [[nodiscard]] static result<std::unique_ptr<http_loop>> start(http_origin server);
  ~http_loop(); ///< stops

  /// Runs `t` on the loop's thread, after what was posted before. From any thread.
  void post(task t);
  /// Ends everything and waits for it: nothing runs afterwards. Not from the loop's thread.
  void stop() noexcept;

  // --- on the loop's thread only
  /// The exchange's number, for `abandon`.
  std::uint64_t exchange(const http_request& request, std::unique_ptr<http_exchange> receiver);
  /// Nothing more is called for it. Unknown numbers are ignored.
  void abandon(std::uint64_t number);
  void abandon_all();
  /// The exchange may take that much longer; afterwards it fails with `timed_out`.
  void limit(std::uint64_t number, std::int64_t delay_ms);
  void after(std::int64_t delay_ms, task t);
  [[nodiscard]] const url& server() const noexcept { return server_.to; }

private:
  http_loop(http_origin server, file_descriptor wake);
  void run();
  void run_tasks();
  void run_timers(std::int64_t now_ms);
  [[nodiscard]] std::int64_t wait_ms(std::int64_t now_ms) const;
  void poll_connections();
  [[nodiscard]] http_connection& connection_for_next(std::int64_t now_ms);

  struct timer {
    std::int64_t at_ms;
    task run;
  };

  const http_origin server_;
  const file_descriptor wake_;
  std::thread thread_;

  std::mutex guard_;
  std::vector<task> inbox_; // under guard_
  bool stopping_ = false;   // under guard_

  // Of the loop's thread.
  std::vector<std::unique_ptr<http_connection>> connections_;
  std::vector<timer> timers_;
  std::unique_ptr<char[]> buffer_;
  std::uint64_t last_number_ = 0;
};

} // namespace paddock::mcp
