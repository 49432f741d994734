// SPDX-License-Identifier: MIT
#pragma once

// A case of the corpus while it runs: its tree, the back end, user and interface it is run with,
// and the operations, which are the same calls of the library or of the tools.

#include "support/files/canary.hpp"

#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::test::corpus {

/// How paths are resolved, and what the kernel says to openat2.
enum class back_end : std::uint8_t { openat2, forced_walker, openat2_missing, openat2_filtered };
enum class user : std::uint8_t { root, ordinary };
enum class interface : std::uint8_t {
  library,
  adapter, ///< tools/call, answered in this process
  coding,  ///< the same of the coding set: editFile, and applyChanges for what changes files
  program, ///< tools/call, through a pipe to the adapter
  apply,   ///< a person's `paddock apply` for what changes files, the library for the rest
};

struct combination {
  back_end kernel;
  corpus::user user;
  corpus::interface interface;
};
std::string name_of(const combination& c);

enum class action : std::uint8_t {
  read,
  read_part, ///< a few lines of it
  write,
  append,
  edit,
  inspect,
  list,
  make_directory,
  remove_file,
  remove_directory, ///< only an empty one
  remove_tree,
  move,
  enter, ///< as the working directory of a command
};
std::string_view name_of(action what);
/// What editFile and applyChanges do.
constexpr bool changes_a_file(action what) {
  return what == action::write || what == action::edit || what == action::remove_file ||
         what == action::move;
}

enum class needs : std::uint8_t {
  nothing,
  privilege, ///< to build the tree
  mounts,    ///< a mount table of its own
};
enum class reach : std::uint8_t { in_process, over_the_pipe };

/// What files hold unless a row says otherwise, and what nobody may ever be shown.
inline constexpr std::string_view inside_mark = "inside";
inline constexpr std::string_view reserved_mark = "RESERVED";

/// The tree of a case: `ws` with a few entries, and the outside.
class scene {
public:
  scene();

  [[nodiscard]] const temp_tree& tree() const { return canary_.tree(); }
  [[nodiscard]] std::string ws() const { return canary_.ws(); }
  [[nodiscard]] std::string out() const { return canary_.out(); }
  [[nodiscard]] std::string describe_outside() const { return canary_.describe_outside(); }
  /// A path as rows spell it.
  [[nodiscard]] std::string spelled(std::string path) const;

  corpus::user user = user::root;
  std::string lacking; ///< what this machine lacks; not empty: the case is skipped by that name

private:
  canary_tree canary_;
};

/// What an operation came back with.
struct answer {
  std::optional<error_code> code; ///< nothing: it succeeded
  /// What was read; the names of a listing, each with a newline behind it; else the resolved path.
  std::string text;
  std::string raw; ///< everything that was said
};

struct request {
  action what;
  std::string path;
  std::string other = {}; ///< of a move: the destination; of write and append: the text
  mounts mounted = mounts::enter;
  line_range lines = {.from = 0, .to = 1}; ///< of read_part
};

/// One way to ask for operations.
class performer {
public:
  virtual ~performer() = default;
  virtual answer perform(const request& asked) = 0;
};

/// Precondition: the process is as the combination says. `workspace` is opened at once; what cannot
/// be is in the scene's `lacking`.
class session {
public:
  session(scene& at, const combination& how, const std::string& workspace);

  answer perform(const request& asked) { return performer_->perform(asked); }
  /// The error's wire name, or "ok".
  std::string outcome(const request& asked);

  /// The root behind the library and the adapter; a program of its own has another.
  [[nodiscard]] const root& workspace() const { return *root_; }
  [[nodiscard]] std::shared_ptr<const root> shared_workspace() const { return root_; }
  /// Another one to ask at the same time.
  [[nodiscard]] std::unique_ptr<performer> another() const;
  /// And one that has a root for itself.
  [[nodiscard]] std::unique_ptr<performer> another_on(std::shared_ptr<const root> workspace) const;

  scene& at;
  const combination how;

private:
  std::shared_ptr<const root> root_;
  std::shared_ptr<const root> confined_to_one_file_system_;
  std::unique_ptr<performer> performer_;
};

} // namespace paddock::test::corpus
