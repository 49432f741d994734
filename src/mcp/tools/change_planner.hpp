// SPDX-License-Identifier: MIT
#pragma once

// What a call of applyChanges asks for, planned in memory: each file as it is to be, with what was
// read of it.

#include "mcp/tools/planned_changes.hpp"
#include "mcp/tools/refusals.hpp"
#include "mcp/tools/tools.hpp"

#include <paddock/base/work_bounds.hpp>
#include <paddock/file/change_set.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/text/patch.hpp>
#include <paddock/text/text_matching.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

struct planner_options {
  text_matching matching = text_matching::exact;
  std::uint64_t file_bytes_max = limits{}.edit_file_bytes_max;
  work_bounds bounds{};
  std::size_t refusals_max = 1; ///< hunks of one file that are told of
};

/// Plans the changes of one call. Each change is of files as they were before the call, so a file
/// may be named by one of them only; but for parts of one patch, which change what those before
/// them have made, under the name that it has by then.
class change_planner {
public:
  explicit change_planner(const root& root, const planner_options& options = {})
      : root_(root), options_(options) {}

  /// One element of `changes`, which fits the table.
  [[nodiscard]] result<void, failed_change> add(json_view change, std::size_t number);
  /// One file of a patch. After a refusal others can follow, to learn what is wrong with them.
  [[nodiscard]] result<void, failed_change> add(const file_patch& patch);
  [[nodiscard]] planned_changes take() && { return std::move(plan_); }

private:
  static constexpr std::string_view the_patch = "the patch";

  struct made_text {
    std::string bytes;
    loose_lines loose{};
  };
  /// Makes the new content of a file out of the present one.
  using maker = std::function<result<made_text, failed_change>(std::string_view content)>;
  struct target {
    std::string_view given;
    std::string_view move_to{}; ///< as it was given; empty: it stays
    std::string_view hash{};
    std::optional<bool> is_executable{}; ///< afterwards
  };
  /// Who has named a file.
  struct claim {
    std::string by;          ///< such as "changes[0]"
    std::string given;       ///< its path, as it was given there
    std::size_t change = 0;  ///< the number of what was planned then
    bool is_left = false;    ///< it has another name by now
    bool is_refused = false; ///< nothing was planned
  };

  result<void, failed_change> edit(const target& what, const maker& make);
  result<void, failed_change> write(const target& what, std::string text);
  /// Moves or removes; of what is removed `remainder` has to leave nothing.
  result<void, failed_change> take_away(const target& what, const maker* remainder = nullptr);
  result<void, failed_change> create(const target& what, std::string bytes);
  /// Edits what a part of the same patch has made before.
  result<void, failed_change> edit_again(file_change& earlier, const target& what,
                                         const maker& make);
  /// Removes it, where `remainder` leaves nothing of it.
  result<void, failed_change> remove_again(file_change& earlier, const target& what,
                                           const maker* remainder);
  /// Takes what was to be created out of the plan.
  result<void, failed_change> forget(const file_change& created, const target& what,
                                     const std::string& name);
  /// git reads the old names of a patch in the files as they were, here each part follows the one
  /// before. Refuses where the two differ: the earlier part moves a file over this one.
  [[nodiscard]] result<void, failed_change> check_place(const file_change& earlier,
                                                        const target& what) const;
  /// Renames it, and edits it if there is something to edit.
  result<void, failed_change> move_again(file_change& earlier, const target& what,
                                         const maker* make);

  /// What parts of this patch before do to a file, under its present name; null: nothing.
  [[nodiscard]] file_change* part_before(std::string_view given, final_link last);
  /// The same of a file that is there by then.
  [[nodiscard]] file_change* made_before(std::string_view given,
                                         final_link last = final_link::follow);
  [[nodiscard]] std::size_t number_of(const file_change& change) const;
  result<made_text, failed_change> make_again(const file_change& earlier, const target& what,
                                              const maker& make);
  result<void, failed_change> set_bytes(file_change& of, const target& what, std::string bytes);
  [[nodiscard]] static failed_change shows_only_a_part(std::string_view given);
  /// Takes a file, which is named for the first time, for what is planned next.
  result<void, failed_change> take_file(std::string_view given, const std::string& path);
  /// Makes a move of a change that is to lead elsewhere.
  result<void, failed_change> lead_elsewhere(file_change& change, std::string_view move_to);
  /// Refuses to edit and move what is a link: an edit is of what it leads to, a move of itself.
  [[nodiscard]] result<void, failed_change> check_no_link(std::string_view given) const;

  result<std::string, failed_change> read(const target& what, planned_file& file);
  /// The bounds of the call, with the memory that the plan holds.
  [[nodiscard]] work_bounds bounds_now() const;
  [[nodiscard]] std::string resolved(std::string_view given, final_link last) const;
  result<void, failed_change> push(file_change change, planned_file file);
  /// The text with all hunks; or why not, of each that has no place.
  result<patched_text, failed_change> patched(std::string_view text,
                                              std::span<const patch_hunk> hunks) const;
  maker maker_of(const std::vector<edit_step>& steps, std::string list) const;
  maker maker_of(const file_patch& patch) const;
  result<void, failed_change> plan(const file_patch& patch);

  const root& root_;
  planner_options options_;
  planned_changes plan_;
  std::uint64_t bytes_again_ = 0;       ///< what `edit_again` has looked through
  std::string now_;                     ///< which change is planned: as in `claim::by`
  std::map<std::string, claim> claims_; ///< by the resolved path
};

} // namespace paddock::mcp
