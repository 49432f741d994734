// SPDX-License-Identifier: MIT
#pragma once

/// Whether long work on a text is still wanted, asked about every MiB that it has looked through;
/// once the answer was no, it stays so and nobody is asked again. Thread-safety: as for any value.

#include <paddock/base/detail/function_view.hpp>
#include <paddock/text/detail/line_breaks.hpp>

#include <cstddef>

namespace paddock {

class text_pace {
public:
  /// `wanted` outlives it; without one it is.
  explicit text_pace(detail::function_view<bool()> wanted) : wanted_(wanted) {}

  /// Whether to go on after so many bytes more.
  [[nodiscard]] bool go_on(std::size_t bytes) {
    passed_ += bytes;
    return passed_ < detail::wanted_step_bytes ? !is_over_ : ask();
  }
  /// The same, asking now.
  [[nodiscard]] bool ask() {
    passed_ = 0;
    is_over_ = is_over_ || (wanted_ && !wanted_());
    return !is_over_;
  }
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }

private:
  detail::function_view<bool()> wanted_;
  std::size_t passed_ = 0; ///< since the last question
  bool is_over_ = false;
};

} // namespace paddock
