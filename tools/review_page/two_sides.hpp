// SPDX-License-Identifier: MIT
#pragma once

// One change with what the file held at the checkpoint and what it holds now.

#include "common/git_worktree.hpp"

#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/history/history.hpp>
#include <paddock/path/root.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::review_page {

/// Of a larger file no text is shown.
inline constexpr std::uint64_t text_bytes_max = std::uint64_t{4} << 20U;
/// Of a longer one neither.
inline constexpr std::size_t text_lines_max = 200'000;
inline constexpr std::uint64_t image_bytes_max = std::uint64_t{16} << 20U;

/// The workspace and its history; both may be used by any number of threads.
struct reviewed {
  std::shared_ptr<const root> workspace;
  std::shared_ptr<history::store> store;
  std::uint64_t since = 0;       ///< the checkpoint that is shown first
  std::string state_directory{}; ///< for changes of files (change_set.hpp)
  /// By a restore to a checkpoint; may be empty.
  std::function<std::optional<cli::left_commits>(std::optional<std::uint64_t> to)> left_outside{};
};

/// What of a side can be shown.
enum class side_form : std::uint8_t {
  absent,    ///< there was no file, or something that holds no bytes
  text,      ///< in any encoding; of a link, where it leads
  image,     ///< of a type that browsers show
  binary,    //
  too_large, ///< to be shown
  unknown,   ///< its bytes are not in the history, or cannot be read
};
[[nodiscard]] std::string_view name_of(side_form form);

struct side {
  side_form form = side_form::absent;
  std::string bytes{};
  std::string text{}; ///< of a text: its lines as they are compared, of UTF-16 as UTF-8
  std::string_view image_type{};
  std::string problem{}; ///< why its bytes are not known, as a clause
};

struct two_sides {
  history::change change{};
  side before{}, after{};

  /// Whether lines can be compared.
  [[nodiscard]] bool is_text() const;
};

/// The change of that very path. Errors: not_found (nothing changed there), those of the history.
[[nodiscard]] result<history::change> change_at(const reviewed& of,
                                                std::optional<std::uint64_t> since,
                                                std::string_view path, const work_bounds& bounds);
/// Reads both sides. The present one is read from the workspace.
[[nodiscard]] two_sides sides_of(const reviewed& of, history::change what,
                                 const work_bounds& bounds);

} // namespace paddock::review_page
