// SPDX-License-Identifier: MIT
#pragma once

// One POST with a JSON-RPC message, and how what its call says on any thread gets to the thread
// that owns the connection.

#include "http/server/application.hpp"
#include "http/server/mailbox.hpp"
#include "http/server/worker_pool.hpp"
#include "mcp/server/session.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::mcp {

class posted_message;
struct legacy_session;

struct reply_part {
  enum class kind : std::uint8_t {
    event,   ///< a message before the response
    told,    ///< one that comes once, and must not be lost
    answer,  ///< the response
    refusal, ///< the response, which `code` decides the status of
    done,    ///< the call has returned; there may have been no response
  };
  std::shared_ptr<posted_message> to;
  kind what = kind::done;
  rpc_error code{};
  std::string text;
  std::string brief{}; ///< of one that is told: for a client that is far behind
};

using mailbox = http::mailbox<reply_part>;

enum class era : std::uint8_t { legacy, modern };

class posted_message final : public call_events,
                             public http::pending_answer,
                             public std::enable_shared_from_this<posted_message> {
public:
  posted_message(std::shared_ptr<mailbox> out, std::uint64_t connection_number)
      : connection(connection_number), out_(std::move(out)) {}

  void offer(std::string_view line) override;
  void tell(std::string_view line, std::string_view brief) override;
  void may_block(std::uint64_t) override {} // calls never run on the thread that reads
  void only_waits(std::uint64_t) override;
  [[nodiscard]] std::weak_ptr<call_events> while_subscribed() noexcept override {
    return weak_from_this();
  }
  /// Posts what answers the message, if anything does.
  void answer(std::unique_ptr<transaction> t);
  /// An event of that many bytes was taken out of the mailbox.
  void event_taken(std::size_t bytes) noexcept { events_waiting_.fetch_sub(bytes); }

  /// Closing the connection is how a modern client cancels; an older one may only have lost it.
  [[nodiscard]] client_loss when_client_leaves() const noexcept override;
  void finish() override;
  void cancel() override;
  void abandon() override;
  /// Runs the calls of `t` on the thread of a pool.
  [[nodiscard]] std::unique_ptr<http::worker_pool::job> job_of(std::unique_ptr<transaction> t);

  const std::uint64_t connection;

  // Of the thread that owns the connection.
  era speaks = era::legacy;
  std::shared_ptr<session> talk;
  std::shared_ptr<legacy_session> owner; ///< in the legacy era
  std::string new_session;               ///< the id to announce
  bool accepts_json = true;
  bool accepts_events = true;
  bool listening = false; ///< an open subscription: messages are events until the end

private:
  class calls;
  void end();
  void post(reply_part::kind what, std::string_view line, rpc_error code = {},
            std::string_view brief = {});

  const std::shared_ptr<mailbox> out_;
  std::atomic<std::size_t> events_waiting_{0};
  http::worker_pool::place* place_ = nullptr; ///< of its call, while that runs
};

} // namespace paddock::mcp
