// SPDX-License-Identifier: MIT
#pragma once

/// Skills on disk: directories with a SKILL.md, the application's own in `.agents/sys.skills`
/// (never changed) and the user's in `.agents/skills`. List, add, edit, delete, import.
///
/// Everything happens beneath a `root`. A change is staged beside its destination and swapped in by
/// one rename, so that a failed import or edit leaves the old skill whole, also when the process is
/// killed in the middle; what it leaves behind is recognised and cleaned by the next change. What
/// other programs change is seen by the next call: the index is kept, but each entry is checked
/// against the file's identity, size and times.
///
/// Not guaranteed: that two programs which change the same skill at the same time both succeed; one
/// gets `conflict` or `already_exists`.
///
/// Thread-safety: all members may be called from any number of threads at once.

#include <paddock/frontmatter.hpp>
#include <paddock/limits.hpp>
#include <paddock/result.hpp>
#include <paddock/root.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

enum class skill_source : std::uint8_t {
  system, ///< read-only; wins over a user skill of the same id
  user,
};

struct skill {
  std::string id; ///< the directory's name
  std::string name;
  std::string description;
  skill_source source = skill_source::user;
  std::string path;                                 ///< of SKILL.md, relative to the root
  std::vector<frontmatter::diagnostic> diagnostics; ///< warnings only
};

/// Why a directory is not a skill.
enum class not_a_skill : std::uint8_t {
  no_skill_file,       ///< there is no SKILL.md
  invalid_frontmatter, ///< the diagnostics say where
  unreadable,          ///< `reason` says why: a FIFO, a link that leaves the root, no permission
  shadowed,            ///< a system skill has the same id
};

struct unloaded_directory {
  std::string id;
  skill_source source = skill_source::user;
  std::string path; ///< of the directory, relative to the root
  not_a_skill why = not_a_skill::no_skill_file;
  std::optional<error> reason;
  std::vector<frontmatter::diagnostic> diagnostics;
};

struct skill_list {
  std::vector<skill> skills;                  ///< by id, bytewise
  std::vector<unloaded_directory> not_loaded; ///< by path
};

struct skill_store_options {
  std::string system_directory = ".agents/sys.skills"; ///< relative to the root
  std::string user_directory = ".agents/skills";
  frontmatter::policy policy = frontmatter::policy::lenient;
  unsigned threads_max = 2;           ///< for scanning large stores; at least 1
  std::uint32_t entries_max = 20'000; ///< directories looked at in each of the two
};

/// What an edit changes; the rest stays.
struct skill_changes {
  std::optional<std::string> name;
  std::optional<std::string> description;
};

struct skill_file {
  std::string path; ///< relative to the skill's directory
  std::uint64_t size = 0;
  entry_kind kind = entry_kind::file;
};

enum class overwrite : std::uint8_t { refuse, replace };

struct import_options {
  std::string id; ///< empty: the directory's or the archive's name
  paddock::overwrite overwrite = paddock::overwrite::refuse;
  /// Called now and then with the files and bytes done and the files in all; must not throw.
  std::function<void(std::uint64_t files, std::uint64_t bytes, std::uint64_t files_total)>
      on_progress;
  const std::atomic<bool>* cancelled = nullptr;
};

// X(enumerator, wire name, error code, what is wrong and what to do)
#define PADDOCK_IMPORT_REFUSALS(X) X(none, "none", io, "")

/// Why a source was refused. Nothing was changed.
enum class import_refusal : std::uint8_t {
#define X(name, wire, code, text) name,
  PADDOCK_IMPORT_REFUSALS(X)
#undef X
};

[[nodiscard]] std::string_view wire_name(import_refusal refusal) noexcept;
[[nodiscard]] std::string_view text(import_refusal refusal) noexcept;

/// What an import did, or why it did not.
struct import_report {
  import_refusal refusal = import_refusal::none;
  std::string entry; ///< the entry of the source at fault; raw bytes, may be empty
  std::string id;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  bool replaced = false;
  std::vector<frontmatter::diagnostic> diagnostics; ///< of SKILL.md; with an error among them the
                                                    ///< directory is there but not listed
};

/// One file of an upload.
struct uploaded_file {
  std::string path; ///< relative, with '/'
  std::string_view bytes;
};

class skill_store {
public:
  /// Missing directories are empty lists. Errors: those of a path, for the two directories.
  [[nodiscard]] static result<skill_store> open(std::shared_ptr<const root> root,
                                                skill_store_options options = {});
  skill_store(skill_store&&) noexcept;
  skill_store& operator=(skill_store&&) noexcept;
  ~skill_store();

  /// All skills and all directories that are none. Errors: those of reading the two directories.
  [[nodiscard]] result<std::shared_ptr<const skill_list>> list() const;
  /// Errors: not_found.
  [[nodiscard]] result<skill> find(std::string_view id) const;
  /// Every file and directory of a skill, by path, links not followed. Also of directories that are
  /// not loaded. Errors: not_found, too_many.
  [[nodiscard]] result<std::vector<skill_file>> files(std::string_view id) const;

  /// Makes a user skill with a minimal SKILL.md. Errors: invalid_argument (`operation` says which
  /// of "id", "name", "description"), already_exists.
  [[nodiscard]] result<skill> add(std::string_view id, std::string_view name,
                                  std::string_view description) const;
  /// Errors: not_found, read_only (a system skill), invalid_argument, conflict.
  [[nodiscard]] result<skill> edit(std::string_view id, const skill_changes& changes) const;
  /// Deletes a user skill with everything in it; also a directory that is not loaded. Errors:
  /// not_found, read_only.
  [[nodiscard]] result<void> remove(std::string_view id) const;

  /// Copies a skill from a folder, a zip or a `.skill` archive anywhere on this machine (ambient
  /// authority, like root::open). Errors: by what `report->refusal` says; already_exists,
  /// unsupported (an archive, without libzip), those of reading the source and writing.
  [[nodiscard]] result<skill> import(const std::string& source, const import_options& options = {},
                                     import_report* report = nullptr) const;
  /// The same from an archive in memory; `name` is its file name.
  [[nodiscard]] result<skill> import_archive(std::string_view bytes, std::string_view name,
                                             const import_options& options = {},
                                             import_report* report = nullptr) const;
  /// The same from files in memory.
  [[nodiscard]] result<skill> import_files(std::span<const uploaded_file> files,
                                           std::string_view name,
                                           const import_options& options = {},
                                           import_report* report = nullptr) const;

  [[nodiscard]] const skill_store_options& options() const noexcept;
  [[nodiscard]] const std::shared_ptr<const root>& root_shared() const noexcept;

private:
  struct state;
  explicit skill_store(std::unique_ptr<state> s) noexcept;
  std::unique_ptr<state> state_;
};

} // namespace paddock
