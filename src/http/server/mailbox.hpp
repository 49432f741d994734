// SPDX-License-Identifier: MIT
#pragma once

// How what other threads have to say gets to the one thread that owns the connections.

#include "sys/stream.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <mutex>
#include <utility>
#include <vector>

namespace paddock::http {

/// Messages in the order in which they were posted.
template <class Message> class mailbox {
public:
  explicit mailbox(file_descriptor wake) : wake_(std::move(wake)) {}

  void post(Message m) {
    bool first = false;
    {
      const std::lock_guard lock(guard_);
      if (closed_) return;
      first = messages_.empty();
      messages_.push_back(std::move(m));
    }
    if (first) sys::raise_event(wake_.get());
  }
  [[nodiscard]] std::vector<Message> take() {
    sys::clear_event(wake_.get());
    const std::lock_guard lock(guard_);
    return std::exchange(messages_, {});
  }
  /// Nobody takes messages any more; they would keep each other alive through their senders.
  void close() {
    std::vector<Message> dropped; // let go without the lock: destructors of anything may run
    const std::lock_guard lock(guard_);
    closed_ = true;
    dropped.swap(messages_);
  }
  /// Readable while there may be messages.
  [[nodiscard]] int descriptor() const noexcept { return wake_.get(); }

private:
  const file_descriptor wake_;
  std::mutex guard_;
  std::vector<Message> messages_;
  bool closed_ = false;
};

} // namespace paddock::http
