// SPDX-License-Identifier: MIT
#pragma once

// Whose a change is, by what tools that are under way have said beforehand.

#include "history/known_state.hpp"

#include <paddock/history/changes.hpp>

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace paddock::history {

/// To whom changes are put down.
struct cause {
  author by = author::other;
  std::string tool{}, command{};
  std::uint64_t server = 0; ///< of an agent: the number of its server's start; 0: not known
};

class announced_paths {
public:
  /// Work at these paths and in them; "" is everywhere. Of two at one path the later one counts.
  void add(const cause& by, std::span<const std::string> paths);
  /// Who works at the path, or nearest above it. A directory in which somebody does has a new time,
  /// or may be new itself; and there lies what a killed process was about to put in place.
  /// Nobody: nullptr.
  [[nodiscard]] const cause* who(std::string_view path, known_kind kind) const;
  [[nodiscard]] bool is_empty() const noexcept { return at_.empty(); }

private:
  std::map<std::string, cause, std::less<>> at_, in_; ///< by path, and by directory
};

} // namespace paddock::history
