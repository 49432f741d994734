// SPDX-License-Identifier: MIT
#pragma once

/// The path sandbox: a directory capability. A `root` holds the workspace directory open; every
/// path is resolved beneath that descriptor by the kernel (openat2 with RESOLVE_BENEATH,
/// RESOLVE_NO_MAGICLINKS and RESOLVE_NO_SYMLINKS), so nothing that happens to names, links or
/// directories during an operation can make it reach outside. There is no check that could be
/// overtaken by a rename.
///
/// Symbolic links are followed in two steps. A walker, which never trusts a name twice, translates
/// the path into one without links; the kernel then opens that one and refuses it if a link has
/// appeared meanwhile, in which case the translation is repeated (a bounded number of times). Where
/// openat2 is missing or filtered the same strict open is done component by component with
/// O_NOFOLLOW.
///
/// Guaranteed: no operation of this toolkit reads, creates, changes or deletes anything that is not
/// beneath the root directory, whatever other processes do to the tree meanwhile. Hidden entries of
/// `protected_names` are refused, whatever spelling, link or rename leads to them; read-only ones
/// are never changed (protected_names.hpp).
///
/// Not guaranteed: that hard links and mounts which somebody else placed in the workspace lead
/// inside. A directory that another process moves out of the root while it is held open stays in
/// use until the operation ends. Other programs are not confined (see command.hpp).
///
/// Paths are bytes. Relative ones start at the root; absolute ones are accepted when they name the
/// root's own location component by component (as configured, or as the kernel spells it). `~` and
/// variables are ordinary characters.
///
/// Thread-safety: all const members may be called from any number of threads at once.

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/file_status.hpp>
#include <paddock/base/limits.hpp>
#include <paddock/base/result.hpp>
#include <paddock/path/protected_names.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

class entry_lookup;
class name_rules;

/// One path component that is safe to hand to an `*at` system call. It is not empty, not `.` or
/// `..`, and has no slash, no NUL and at most 255 bytes. Every mutation takes this type, so none
/// can be given a path.
class component {
public:
  /// Errors: invalid_name, name_too_long.
  static result<component> from(std::string_view name) noexcept;

  /// Ends in a NUL; valid as long as this object.
  [[nodiscard]] const char* c_str() const noexcept { return bytes_.data(); }
  /// The name; valid as long as this object.
  [[nodiscard]] std::string_view view() const noexcept { return {bytes_.data(), size_}; }

private:
  component() noexcept = default;
  std::array<char, name_bytes_max + 1> bytes_;
  std::uint8_t size_ = 0;
};

/// How paths are resolved. `automatic` uses openat2 and falls back to the walker where the kernel
/// or a system call filter denies it.
enum class resolver : std::uint8_t { automatic, openat2, walker };

/// Whether other file systems mounted inside the workspace may be entered. procfs and sysfs never
/// are.
enum class mounts : std::uint8_t { enter, refuse };

struct root_options {
  paddock::resolver resolver = paddock::resolver::automatic;
  paddock::mounts mounts = paddock::mounts::enter;
  /// What is hidden or read-only by its name. A hidden entry at the top stays so when it is renamed
  /// while the root is open.
  std::vector<protected_name> protected_names = usual_protected_names();
  /// Absolute paths of files and directories that are read-only where they lie beneath the root:
  /// the program's own, for example. Neither they nor a directory above them can be moved.
  std::vector<std::string> read_only_paths{};
  /// The absolute path of a file, made if it is not there, by which several processes keep out of
  /// each other's changes of one content. It should lie where no command reaches. Where it cannot
  /// be used, only this process keeps out of its own way.
  std::string lock_file{};
};

/// What an open is for; it decides what the object has to be.
enum class access : std::uint8_t {
  read,      ///< a regular file, for reading
  append,    ///< a regular file with one hard link, for writing at its end
  directory, ///< a directory, for listing
  inspect,   ///< anything, without opening it (O_PATH)
};

/// An open object and where it was found. `path` is relative to the root, free of links, `.` and
/// `..`, and empty for the root itself.
struct opened {
  file_descriptor fd;
  std::string path;
  file_status status;
};

/// The place of an entry that exists or is to be made: what mutations take.
struct place {
  file_descriptor parent; ///< O_PATH, a directory beneath the root
  component name;
  std::string path;                    ///< as in `opened`
  bool directory = false;              ///< the path ended in a slash: only a directory will do
  std::optional<file_status> existing; ///< the entry when it was looked up, links not followed
  unsigned parents_made = 0;           ///< how many of its parents `locate` has made
};

/// What to do when the last component is a symbolic link.
enum class final_link : std::uint8_t {
  keep,   ///< act on the link itself
  follow, ///< act on what it points to, which need not exist
};

/// What is to become of the entry that a path names. A directory that leads to protected entries
/// may be made, but not be replaced, moved or deleted. One that holds the repository of a submodule
/// or worktree may not be removed with all that is in it.
enum class purpose : std::uint8_t { change, make_directory, remove_tree };

struct protected_together {
  std::size_t number; ///< of a path, from 0
  const char* rule;   ///< as an error of check_changeable names it
};

/// Whether missing parent directories are made.
enum class parents : std::uint8_t { require, create };

/// The directory that paths are resolved beneath, held open. Move-only.
class root {
public:
  /// Opens the directory at `path` (ambient authority: any path of this process). The directory is
  /// held by descriptor from then on; renaming it does not change which one it is.
  /// Errors: not_found, not_a_directory, permission_denied, unsupported (openat2 was demanded).
  static result<root> open(std::string_view path, const root_options& options = {});

  /// Opens what `path` names, following links that stay beneath the root. FIFOs, sockets and
  /// devices are refused without waiting. Errors: every reason of a path (not_found, escapes_root,
  /// absolute_symlink, symlink_loop, magic_link, crosses_mount, protected_entry, not_a_directory,
  /// invalid_argument for an empty path, …), and by `access`: is_a_directory, not_regular,
  /// hard_linked, permission_denied.
  [[nodiscard]] result<opened> open_beneath(std::string_view path, access intent) const;

  /// Finds the parent directory and the last component of `path`, which need not exist.
  /// Errors: as open_beneath for the parent; workspace_root when `path` names the root;
  /// invalid_argument when it ends in `..`; protected_entry; write_protected; dangling_symlink when
  /// a link in the middle leads nowhere.
  [[nodiscard]] result<place> locate(std::string_view path, final_link last,
                                     parents missing = parents::require,
                                     purpose wanted = purpose::change) const;

  /// The absolute path of a root-relative, resolved one, as the kernel spelled the root when it was
  /// opened.
  [[nodiscard]] std::string absolute(std::string_view resolved) const;
  /// Absolute, as the kernel spelled the root when it was opened.
  [[nodiscard]] const std::string& path() const noexcept { return canonical_; }

  /// Whether a root-relative, resolved path is hidden or lies beneath a hidden entry: by the
  /// spelling of a component, or because a component is the same object as a hidden entry at the
  /// top, also when that has been renamed since the root was opened.
  [[nodiscard]] bool is_protected(std::string_view resolved) const;
  /// Whether a component is a hidden name by its spelling.
  [[nodiscard]] bool is_hidden_name(std::string_view component) const;

  /// Errors: write_protected when a root-relative, resolved path is or lies beneath an entry that
  /// may not be changed, or when such an entry would go with it. `operation` is the name of the
  /// rule (see how_to_allow), or empty for one of `read_only_paths`.
  [[nodiscard]] result<void> check_changeable(std::string_view resolved,
                                              purpose wanted = purpose::change) const;
  /// The same where `look` answers what is there: the directory that is held, and not its path.
  /// Errors: write_protected.
  [[nodiscard]] result<void> check_changeable(std::string_view resolved, purpose wanted,
                                              const entry_lookup& look) const;

  /// The first path that, when the others are there too, makes a repository of a directory or is
  /// protected beside one, though by itself it may be changed. `resolved` as in check_changeable.
  [[nodiscard]] std::optional<protected_together>
  find_protected_together(std::span<const std::string> resolved) const;

  /// Of moving a directory or a link. Errors: write_protected when that is into, out of or within
  /// what git keeps for itself, or brings a protected name to a place where it counts, or from one.
  [[nodiscard]] result<void> check_movable(std::string_view from, std::string_view to,
                                           entry_kind kind) const;
  /// The same of an entry that was located. Errors: write_protected.
  [[nodiscard]] result<void> check_movable(const place& from, const place& to) const;
  /// Of one of the two places: `around` answers what is there, `look` what the entry holds, which
  /// lies at `now`. Errors: write_protected.
  [[nodiscard]] result<void> check_movable_at(std::string_view path, const entry_lookup& around,
                                              entry_kind kind, const entry_lookup& look,
                                              std::string_view now) const;

  /// Whether every reserved entry is where it was when the root was opened, so that no path but one
  /// that begins with its name leads to it: what a scan of many paths asks once.
  [[nodiscard]] bool protected_in_place() const;

  /// Of a directory or file that was opened by its name alone in a directory beneath the root.
  /// Errors: crosses_mount where other mounts may not be entered, or it shows the system;
  /// protected_entry for a hidden entry of the top, wherever it is now.
  [[nodiscard]] result<void> check_entered(int fd, const file_status& status) const;

  /// Errors: root_gone when the directory was deleted.
  [[nodiscard]] result<void> check_alive() const;
  /// The resolver in use: openat2 or walker.
  [[nodiscard]] paddock::resolver resolver() const noexcept { return resolver_; }
  /// Whether other file systems may be entered.
  [[nodiscard]] paddock::mounts mounts() const noexcept { return mounts_; }
  /// Of the directory, when it was opened.
  [[nodiscard]] const file_status& status() const noexcept { return status_; }
  /// As it was opened: what another root of the same directory may want, too.
  [[nodiscard]] const root_options& options() const noexcept { return options_; }
  /// Of `lock_file`; -1: there is none.
  [[nodiscard]] int lock_descriptor() const noexcept { return locks_.get(); }
  /// For use beside this library (fchdir, *at calls); stays owned by the root.
  [[nodiscard]] int descriptor() const noexcept { return fd_.get(); }

private:
  root() = default;
  [[nodiscard]] result<std::string> relative(std::string_view path) const;
  result<void> reserve(const root_options& options);
  [[nodiscard]] bool leads_through(const file_status& object, std::string_view resolved) const;
  [[nodiscard]] result<opened> open_strictly(const std::string& path, access intent) const;
  [[nodiscard]] result<place> place_in(const std::string& parent, std::string_view name,
                                       parents missing, purpose wanted) const;
  [[nodiscard]] error missing_or_gone(error failure) const;

  root_options options_;
  file_descriptor fd_, locks_;
  std::string configured_; ///< absolute, lexically normal, as the caller spelled it
  std::string canonical_;  ///< as the kernel spells it
  file_status status_;
  struct reserved_entry {
    std::string name;
    std::optional<file_status> object; ///< what had the name when the root was opened
    file_descriptor held;              ///< of it, so that nothing else gets its inode number
  };
  std::vector<reserved_entry> reserved_; ///< the hidden ones
  class rules_owner {                    // <memory> would cost every user of this header
  public:
    rules_owner() noexcept = default;
    explicit rules_owner(const name_rules* rules) noexcept : rules_(rules) {}
    rules_owner(rules_owner&& other) noexcept : rules_(other.rules_) { other.rules_ = nullptr; }
    rules_owner& operator=(rules_owner&& other) noexcept;
    ~rules_owner();
    const name_rules* operator->() const noexcept; ///< without any rule in a root moved from

  private:
    const name_rules* rules_ = nullptr;
  };
  rules_owner rules_;
  struct read_only_entry {
    std::string path; ///< root-relative, resolved
    const char* rule; ///< whose link leads there; empty: it was given as a path
  };
  std::vector<read_only_entry> read_only_;
  paddock::resolver resolver_ = paddock::resolver::openat2;
  paddock::mounts mounts_ = paddock::mounts::enter;
  bool probe_devices_ = false; ///< privileged: look before opening, devices react to being opened
};

} // namespace paddock
