// SPDX-License-Identifier: MIT
#pragma once

// An open subscriptions/listen of 2026-07-28, as those see it who have something to tell.
//
// Thread-safety: from any thread.

#include "mcp/server/active_call.hpp"

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

namespace paddock::mcp {

class subscription {
public:
  subscription(request_id id, std::weak_ptr<call_events> to)
      : id_(std::move(id)), to_(std::move(to)) {}

  [[nodiscard]] const request_id& id() const noexcept { return id_; }
  /// Whether anything can be told of.
  [[nodiscard]] bool is_heard() const noexcept { return !to_.expired(); }
  /// Says that a task has changed; `outcome` is the task as its client knows it, an object, and
  /// `state` the same without what it came to.
  void tell_of_task(std::string_view outcome, std::string_view state);
  /// When this returns nothing is told any more.
  void end();

private:
  [[nodiscard]] std::string line_of(std::string_view task) const;

  const request_id id_;
  const std::weak_ptr<call_events> to_;
  std::mutex guard_; // held while the transport is given something; after those of tables
  bool over_ = false;
};

} // namespace paddock::mcp
