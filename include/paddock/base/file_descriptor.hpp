// SPDX-License-Identifier: MIT
#pragma once

/// An owned file descriptor: closed exactly once, moved, never copied.
///
/// It does not say what the descriptor refers to, and `close` errors are not reported: what must be
/// durable is synchronised before. Thread-safety: distinct objects are independent; one object must
/// not be changed while another thread uses it.

#include <paddock/base/config.hpp>

namespace paddock {

/// The one owner of a descriptor, or of none.
class [[nodiscard]] file_descriptor {
public:
  constexpr file_descriptor() noexcept = default;
  /// Takes ownership of `fd`; -1 means "none".
  constexpr explicit file_descriptor(int fd) noexcept : fd_(fd) {}
  constexpr file_descriptor(file_descriptor&& other) noexcept : fd_(other.release()) {}
  file_descriptor& operator=(file_descriptor&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  file_descriptor(const file_descriptor&) = delete;
  file_descriptor& operator=(const file_descriptor&) = delete;
  ~file_descriptor() {
    if (fd_ >= 0) reset();
  }

  /// The descriptor, which stays owned; -1 for none.
  [[nodiscard]] constexpr int get() const noexcept { return fd_; }
  [[nodiscard]] constexpr explicit operator bool() const noexcept { return fd_ >= 0; }
  /// Gives the descriptor away; the caller closes it.
  [[nodiscard]] constexpr int release() noexcept {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  /// Closes what is owned and takes `fd` instead. errno is preserved.
  void reset(int fd = -1) noexcept;

private:
  int fd_ = -1;
};

} // namespace paddock
