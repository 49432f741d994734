// SPDX-License-Identifier: MIT
#pragma once

// What the two directories of skills hold, remembered between two looks. A directory is looked at
// again when the identity, size or times of its SKILL.md have changed, and always when they cannot
// prove that nothing has: behind links, and shortly after a change, because two changes within one
// tick of the file system's clock look like one.

#include "sys/syscall.hpp"

#include <paddock/path/root.hpp>
#include <paddock/skill/store.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace paddock {

inline constexpr std::string_view skill_file_name = "SKILL.md";

/// One of the two directories, open for one look.
struct skill_directory {
  const root* base = nullptr;
  const skill_store_options* options = nullptr;
  skill_source source = skill_source::user;
  std::string prefix; ///< relative to the root, as configured, with a slash at its end
  file_descriptor fd;
  file_status status;
  bool strict_only = false; ///< a strict open beneath `fd` needs no further check
};

/// Empty when the directory does not exist. Errors: those of a path.
[[nodiscard]] result<std::optional<skill_directory>>
open_skill_directory(const root& base, const skill_store_options& options, skill_source source);

/// What has to stay the same for a file's content to be the same.
struct file_stamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  friend bool operator==(const file_stamp&, const file_stamp&) = default;
};

struct examined_skill {
  std::variant<skill, unloaded_directory> what;
  /// Set when an equal stamp proves an equal content.
  std::optional<file_stamp> stamp;
};

/// Looks at one directory of skills. Empty: there is no such directory. `path` is only room for a
/// path, which whoever looks at many keeps.
[[nodiscard]] std::optional<examined_skill> examine_skill(const skill_directory& in,
                                                          std::string_view id, std::string& path);
[[nodiscard]] inline std::optional<examined_skill> examine_skill(const skill_directory& in,
                                                                 std::string_view id) {
  std::string path;
  return examine_skill(in, id, path);
}

class skill_index {
public:
  skill_index(const root& base, const skill_store_options& options)
      : base_(base), options_(options) {}

  /// What is there now; the same object as before when nothing has changed.
  [[nodiscard]] result<std::shared_ptr<const skill_list>> refresh();

private:
  /// What is remembered of one skill or directory that is none.
  struct known {
    std::uint32_t name_offset = 0; ///< into half::names
    std::uint16_t name_size = 0;
    bool is_skill = false;
    std::uint32_t at = 0; ///< in last_->skills or half::unloaded
    std::optional<file_stamp> stamp;
  };
  struct half {
    std::string names;
    std::vector<known> entries; ///< by id, bytewise
    std::vector<unloaded_directory> unloaded;
    std::vector<std::string> left_out; ///< ids beyond entries_max

    [[nodiscard]] std::string_view id(const known& k) const {
      return std::string_view(names).substr(k.name_offset, k.name_size);
    }
  };
  struct candidate;
  struct survey;

  [[nodiscard]] result<survey> look(skill_source source) const;
  void examine(survey& found) const;
  [[nodiscard]] bool nothing_changed(const survey& found, const half& before) const;
  [[nodiscard]] std::shared_ptr<const skill_list> merge(survey& system, survey& user);
  void adopt(survey& found, candidate& c, bool shadowed, half& now, skill_list& list) const;

  const root& base_;
  const skill_store_options& options_;
  std::mutex busy_;
  std::shared_ptr<const skill_list> last_;
  std::array<half, 2> halves_; ///< by skill_source
};

} // namespace paddock
