// SPDX-License-Identifier: MIT
#pragma once

// How repositories are looked at after a command: what made_repositories.hpp promises, by the kinds
// of what git reads. Thread-safety: one thread at a time.

#include "exec/protection/made_repositories.hpp"
#include "path/git_names.hpp"
#include "sys/process.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>
#include <paddock/path/lexical_path.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

[[nodiscard]] inline bool is_of_submodule(std::string_view path) {
  const std::string_view git = git_around(path);
  return !git.empty() && first_component(path.substr(git.size() + 1)) == git_stores[0];
}

/// One look at all repositories of a workspace, after a command.
class repository_sweep {
public:
  repository_sweep(int top, const std::vector<protected_name>& names,
                   const directory_index::directories& directories, const workspace_then& then)
      : top_(top), top_name_(sys::name_of(top)), names_(names), directories_(directories),
        then_(then) {}

  made_repositories run() &&;
  /// For which the top is that of all directories.
  made_repositories run_outside() &&;

private:
  [[nodiscard]] std::optional<std::size_t> rule_of(std::string_view name) const;
  [[nodiscard]] bool is_new(const file_status& status,
                            const std::optional<file_status>& leads_to = {}) const;
  [[nodiscard]] bool is_repository(const std::string& path) const;
  [[nodiscard]] std::optional<std::string> target_of(std::string_view from,
                                                     std::string_view written) const;
  [[nodiscard]] result<file_descriptor> open(const std::string& path) const;
  void look_into(const std::string& path, const file_status& status);
  void look_at_configuration(int directory, const std::string& path, const char* name,
                             std::size_t rule);
  [[nodiscard]] std::optional<std::string> settings_behind(int directory, const char* name) const;
  void look_at_hooks(int directory, const std::string& path, std::size_t rule);
  void look_at_common_directory(int directory, const std::string& path, std::size_t rule);
  void look_at_followed(const std::string& path);
  void look_at_links(const std::string& path, const std::vector<std::string>& names,
                     const std::string& repository);
  [[nodiscard]] std::optional<std::string> what_stays(int repository, const std::string& path,
                                                      std::string_view file, std::string_view bytes,
                                                      bool is_fresh) const;
  [[nodiscard]] bool is_path_of_worktree(const std::string& path, std::string_view written) const;
  [[nodiscard]] bool is_place_of_worktree(int repository, std::string_view from,
                                          std::string_view written, bool is_fresh) const;
  [[nodiscard]] bool leads_back(std::string_view kept, std::string_view written) const;
  [[nodiscard]] bool leads_nowhere_else(const std::string& path) const;
  void look_at_worktree(const std::string& path);
  void look_at_made(const std::string& directory, std::string_view name);
  void look_at_pointer(const std::string& path, const file_status& status);
  struct held_place {
    int directory;
    const std::string& path;
  };
  bool move_aside(int directory, const char* name, const std::string& path, std::size_t rule) {
    return move_to({directory, path}, {directory, path}, name, rule);
  }
  bool move_to(const held_place& from, const held_place& to, const char* name, std::size_t rule);

  int top_;
  std::string top_name_;
  const std::vector<protected_name>& names_;
  const directory_index::directories& directories_;
  const workspace_then& then_;
  bool is_outside_ = false; ///< this is a look at repositories outside the workspace
  made_repositories found_;
};

} // namespace paddock
