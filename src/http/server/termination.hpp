// SPDX-License-Identifier: MIT
#pragma once

#include "sys/stream.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>

#include <utility>

namespace paddock::http {

/// While it lives, the signals that ask a process to end make `descriptor` readable instead. One at
/// a time in a process.
class termination {
public:
  [[nodiscard]] static result<termination> redirect() {
    PADDOCK_TRY(file_descriptor event, sys::eventfd());
    sys::redirect_termination(event.get());
    return termination(std::move(event));
  }
  termination(termination&&) noexcept = default;
  termination& operator=(termination&&) = delete;
  ~termination() {
    if (event_) sys::redirect_termination(-1);
  }
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

private:
  explicit termination(file_descriptor event) noexcept : event_(std::move(event)) {}
  file_descriptor event_;
};

} // namespace paddock::http
