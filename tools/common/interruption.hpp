// SPDX-License-Identifier: MIT
#pragma once

// What a person does to end a program at work: Ctrl-C, a closed terminal, kill(1).

#include <paddock/base/cancellation.hpp>

#include <atomic>
#include <optional>

namespace paddock::cli {

/// While it lives, SIGINT, SIGTERM and SIGHUP ask for the end of what watches `asked`, but for
/// those that were ignored before. The second of one kind ends this program at once, and with it
/// what it has started. One at a time.
class interruption {
public:
  interruption();
  interruption(const interruption&) = delete;
  interruption& operator=(const interruption&) = delete;
  ~interruption();

  [[nodiscard]] const cancellation& asked() const noexcept { return asked_; }
  /// The same for work_bounds.
  [[nodiscard]] const std::atomic<bool>& is_asked() const noexcept;
  /// The signal that came first.
  [[nodiscard]] std::optional<int> signal() const noexcept;

private:
  cancellation asked_;
};

} // namespace paddock::cli
