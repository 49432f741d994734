// SPDX-License-Identifier: MIT
#pragma once

// The rules of protected names, asked about the directories that a change holds: whoever made the
// plan asked by path, and another directory may have had the path then.

#include "change/held_directories.hpp"
#include "change/plan.hpp"

#include <paddock/base/result.hpp>
#include <paddock/path/root.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <string_view>

namespace paddock {

class asked_rules {
public:
  /// Whether an object is what the change itself has put there: by the number of the step, or of
  /// the move behind the last step.
  using is_own = std::function<bool(std::size_t number, const file_status& there)>;
  /// All of them live longer.
  asked_rules(const root& root, const change_plan& plan, held_directories& held, is_own own);

  // Errors: conflict (the directory lies outside of the root), protected_entry, write_protected.
  /// Whether a step may change an entry. `way` leads to it from a directory that is there.
  [[nodiscard]] result<void> check_step(held_directories::id in, std::string_view way,
                                        const change_step& step);
  /// Whether an entry may be moved away.
  [[nodiscard]] result<void> check_leaving(held_directories::id in, std::string_view name,
                                           entry_kind kind);
  /// Whether what lies in `from` may come here.
  [[nodiscard]] result<void> check_coming(held_directories::id in, std::string_view name,
                                          entry_kind kind, int from, std::string_view name_there);

private:
  struct place;
  class lookup;
  [[nodiscard]] result<place> find(held_directories::id in, std::string_view way);
  [[nodiscard]] result<void> check_there(const place& at, purpose wanted) const;

  const root& root_;
  held_directories& held_;
  is_own is_own_;
  std::map<std::string_view, std::size_t> comes_; ///< by the plan, where nothing is
};

} // namespace paddock
