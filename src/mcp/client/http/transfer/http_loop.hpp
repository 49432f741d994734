// SPDX-License-Identifier: MIT
#pragma once

// The thread of an HTTP client, which runs libcurl: all its connections, its timers and its state
// belong to it. Others hand it tasks.

#include "mcp/client/http/transfer/http_transfer.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace paddock::mcp {

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
  /// The transfer's number, for `abandon`.
  std::uint64_t send(http_request request, std::unique_ptr<response_handler> handler);
  /// Nothing more is called for it. Unknown numbers are ignored.
  void abandon(std::uint64_t number);
  void abandon_all();
  /// The transfer may take that much longer; afterwards it fails with `timed_out`.
  void limit(std::uint64_t number, std::int64_t delay_ms);
  void after(std::int64_t delay_ms, task t);
  [[nodiscard]] const url& server() const noexcept { return server_.to; }

private:
  struct freed {
    void operator()(CURLM* handle) const noexcept { libcurl().multi_cleanup(handle); }
  };
  using multi_handle = std::unique_ptr<CURLM, freed>;

  http_loop(http_origin server, multi_handle multi, file_descriptor wake);
  void run();
  void run_tasks();
  void run_timers(std::int64_t now_ms);
  void begin_transfers();
  void transfer();
  void end_transfers(std::int64_t now_ms);
  void hang_up(std::int64_t now_ms);
  void wait(std::int64_t at_most_ms);
  [[nodiscard]] std::int64_t wait_ms(std::int64_t now_ms) const;
  [[nodiscard]] http_transfer* find(std::uint64_t number) const;

  struct timer {
    std::int64_t at_ms;
    task run;
  };

  std::thread thread_;

  std::mutex guard_;
  std::vector<task> inbox_; // under guard_
  bool stopping_ = false;   // under guard_
  const file_descriptor wake_;

  // Of the loop's thread.
  multi_handle multi_;
  http_origin server_;
  std::vector<std::unique_ptr<http_transfer>> transfers_;
  std::size_t begun_ = 0; ///< so many of them, from the front, are libcurl's
  std::vector<curl_handle> spare_;
  std::vector<timer> timers_;
  std::uint64_t last_number_ = 0;
  bool is_used_ = false;            ///< there may be connections
  std::int64_t idle_since_ms_ = -1; ///< -1 while there are transfers, and without connections
};

} // namespace paddock::mcp
