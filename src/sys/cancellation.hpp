// SPDX-License-Identifier: MIT
#pragma once

// The descriptor side of a cancellation: readable once it was requested.

#include <paddock/base/cancellation.hpp>
#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>

#include <atomic>

namespace paddock {

struct cancellation::state {
  result<file_descriptor> event;
  std::atomic<int> owners{1};
  std::atomic<bool> requested{false};
};

class cancellation_watch {
public:
  /// Borrowed. Errors: too_many, when the cancellation could not have one.
  static result<int> descriptor(const cancellation& from) {
    if (!from.state_->event) return from.state_->event.error();
    return from.state_->event->get();
  }
};

} // namespace paddock
