// SPDX-License-Identifier: MIT
#pragma once

// What a call of applyChanges asks for, planned in memory: each file as it is to be, with what was
// read of it.

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
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

/// One file of a plan; that with the same number of `planned_changes::changes` is what to do.
struct planned_file {
  std::string given; ///< its path, as the call or the patch has it
  /// Lines that fitted but for white space, from 0, in the file before.
  std::vector<std::uint64_t> lines_that_differ{};
  memory_share memory{};       ///< for the contents
  bool was_executable = false; ///< what was read
};

struct planned_changes {
  std::vector<file_change> changes;
  std::vector<planned_file> files;
};

/// Plans the changes of one call. Each change is of files as they were before the call, so a file
/// may be named by one of them only; but for parts of one patch, which edit what those before them
/// have made.
class change_planner {
public:
  change_planner(const root& root, text_matching matching, std::uint64_t file_bytes_max,
                 work_bounds bounds)
      : root_(root), matching_(matching), file_bytes_max_(file_bytes_max), bounds_(bounds) {}

  /// One element of `changes`, which fits the table.
  [[nodiscard]] result<void, failed_change> add(json_view change, std::size_t number);
  /// One file of a patch.
  [[nodiscard]] result<void, failed_change> add(const file_patch& patch);
  [[nodiscard]] planned_changes take() && { return std::move(plan_); }

private:
  struct made_text {
    std::string bytes;
    std::vector<std::uint64_t> lines_that_differ;
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
    std::string by;         ///< such as "changes[0]"
    std::string given;      ///< its path, as it was given there
    std::size_t change = 0; ///< the number of what was planned then
  };

  result<void, failed_change> edit(const target& what, const maker& make);
  result<void, failed_change> write(const target& what, std::string text);
  /// Moves or removes; of what is removed `remainder` has to leave nothing.
  result<void, failed_change> take_away(const target& what, const maker* remainder = nullptr);
  result<void, failed_change> create(const target& what, std::string bytes);
  /// Edits what a part of the same patch has made before.
  result<void, failed_change> edit_again(file_change& earlier, const target& what,
                                         const maker& make);

  /// Takes a file for what is planned next. What was planned for it before, if that can be edited
  /// once more; null: it is named for the first time.
  enum class use : std::uint8_t { once, edit };
  result<file_change*, failed_change> take_file(std::string_view given, const std::string& path,
                                                use how = use::once);

  result<std::string, failed_change> read(const target& what, planned_file& file);
  [[nodiscard]] std::string resolved(std::string_view given, final_link last) const;
  result<void, failed_change> push(file_change change, planned_file file);
  maker maker_of(const std::vector<edit_step>& steps, std::string list) const;
  maker maker_of(const file_patch& patch) const;

  const root& root_;
  text_matching matching_;
  std::uint64_t file_bytes_max_;
  work_bounds bounds_;
  planned_changes plan_;
  std::uint64_t bytes_again_ = 0;       ///< what `edit_again` has looked through
  std::string now_;                     ///< which change is planned: as in `claim::by`
  std::map<std::string, claim> claims_; ///< by the resolved path
};

} // namespace paddock::mcp
