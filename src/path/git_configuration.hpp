// SPDX-License-Identifier: MIT
#pragma once

// The format of git's configuration files, as strictly as git reads it, and which of their values
// run nothing. Thread-safety: one object per thread.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

struct git_setting {
  std::string section;              ///< in lower case
  std::string subsection;           ///< as it is written; empty: none
  std::string key;                  ///< in lower case
  std::optional<std::string> value; ///< none: there is no equals sign, which git takes for true
  bool operator==(const git_setting&) const = default;
};

/// One setting after the other.
class git_settings {
public:
  explicit git_settings(std::string_view text);

  /// None at the end, and where git would refuse the rest.
  [[nodiscard]] std::optional<git_setting> next();
  [[nodiscard]] bool broken() const noexcept { return broken_; }

private:
  std::optional<git_setting> fail();
  [[nodiscard]] char peek() const;
  char take();
  void skip_line();
  bool read_section();
  bool read_subsection();
  bool read_value(std::string& into);

  std::string_view rest_;
  std::string section_, subsection_;
  bool broken_ = false;
};

/// Whether a directory is one that a repository may have its files in; the path is as it is
/// written, relative to the repository.
using is_worktree = std::function<bool(std::string_view path)>;

/// Whether a remote may have this path: a person's fetch would bring in what the agent cannot read,
/// a push change what it cannot write.
using is_local_remote = std::function<bool(std::string_view path)>;

/// Nothing where no setting of a file makes git run a program, go to another repository of this
/// machine, or read another file that could say so; else a file with those that do not.
[[nodiscard]] std::optional<std::string> harmless_part(std::string_view text,
                                                       const is_worktree& is_allowed,
                                                       const is_local_remote& is_local);

/// What becomes of the configuration of somebody else's repository when a command has changed its
/// copy.
struct carried_settings {
  std::optional<std::string> text;   ///< what it is to be; none: it stays as it is
  std::vector<std::string> left_out; ///< "core.fsmonitor": what a command may not change
};

/// Remotes, branches and who the user is are carried over, as far as none of it runs a program or
/// leads to another repository of this machine.
[[nodiscard]] carried_settings carry_settings(std::string_view before, std::string_view after,
                                              const is_local_remote& is_local);

} // namespace paddock
