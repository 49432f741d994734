// SPDX-License-Identifier: MIT
#pragma once

// An application whose answers are made by a function that may take its time: request in, answer
// out, on a thread of a pool.

#include "http/server/mailbox.hpp"
#include "http/server/server.hpp"
#include "http/server/worker_pool.hpp"

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::http {

struct request {
  request_head head;
  std::string body;
  /// Becomes true when the client has gone, or the server ends: then nobody waits for the answer.
  const std::atomic<bool>& cancelled;
};

struct answer {
  int status = 200;
  std::string type;
  std::string body;
  std::string lines{}; ///< whole header lines to add
};

class pooled_application : public application {
public:
  struct outcome {
    /// Answers that were not made in time. Their threads still use this object: leave with
    /// std::quick_exit.
    std::size_t abandoned = 0;
    /// Of the loop itself, which ended it.
    std::optional<error> failure{};
  };
  /// Serves until `stop_fd` becomes readable, or the loop fails; once. Errors: of what comes before
  /// it, when nothing was answered.
  [[nodiscard]] result<outcome> serve(listener l, server_options options, int stop_fd);

  void handle(connection& c) final;
  [[nodiscard]] std::string_view sign_of_life() const noexcept final { return "\n"; }
  [[nodiscard]] int wake_descriptor() const noexcept final { return mailbox_->descriptor(); }
  void deliver() final;
  [[nodiscard]] std::int64_t expire(std::int64_t, std::int64_t never) final { return never; }
  void cancel_all() final {}
  [[nodiscard]] bool is_idle() const noexcept final { return open_ == 0; }

protected:
  /// `wake` is an event (`wake_event`).
  pooled_application(file_descriptor wake, unsigned threads_max);
  [[nodiscard]] static result<file_descriptor> wake_event();

  /// The answer to a request that `judge` has let pass. On several threads at once.
  [[nodiscard]] virtual answer answer_to(const request& r) = 0;

private:
  class open_request;
  class job;
  struct ready {
    std::shared_ptr<open_request> to;
    answer what;
    std::string_view refusal; ///< in place of an answer that could not be made
  };

  const std::shared_ptr<mailbox<ready>> mailbox_;
  const std::shared_ptr<worker_pool> pool_;
  server* server_ = nullptr; ///< while it serves
  std::size_t open_ = 0;
};

} // namespace paddock::http
