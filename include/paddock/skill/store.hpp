// SPDX-License-Identifier: MIT
#pragma once

/// Skills on disk: directories with a SKILL.md, the application's own in `.agents/sys.skills`
/// (never changed) and the user's in `.agents/skills`. List, add, edit, delete, import.
///
/// Everything happens beneath a `root`. A change is staged beside its destination and swapped in by
/// one rename: an import or edit that fails leaves the old skill whole. So it does when the process
/// is killed in the middle. What is left behind then is no skill: a directory named `.staging-` and
/// 32 hexadecimal digits, which the next change removes if the store has a state directory, or of
/// an edit a file named `.paddock-tmp-` and as many, which stays. What other programs change is
/// seen by the next call: the index is kept, but each entry is checked against the file's identity,
/// size and times.
///
/// Not guaranteed: that two programs which change the same skill at the same time both succeed; one
/// gets `conflict` or `already_exists`.
///
/// Thread-safety: all members may be called from any number of threads at once.

#include <paddock/base/limits.hpp>
#include <paddock/base/result.hpp>
#include <paddock/file/file.hpp>
#include <paddock/frontmatter/frontmatter.hpp>
#include <paddock/path/root.hpp>
#include <paddock/skill/skill.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {

// X(enumerator, wire name, what is the matter)
#define PADDOCK_NOT_A_SKILL(X)                                                                     \
  X(no_skill_file, "no_skill_file", "there is no SKILL.md")                                        \
  X(wrong_case, "wrong_case", "the name of its file is not all capitals; rename it to SKILL.md")   \
  X(invalid_frontmatter, "invalid_frontmatter", "the frontmatter of SKILL.md is not valid")        \
  X(unreadable, "unreadable", "SKILL.md cannot be read")                                           \
  X(shadowed, "shadowed", "a system skill has the same id")                                        \
  X(left_out, "left_out",                                                                          \
    "it was not looked at, because there are too many directories; remove some")

/// Why a directory is not a skill. The diagnostics say where the frontmatter is not valid, `reason`
/// why a file cannot be read: a FIFO, a link that leaves the root, no permission.
enum class not_a_skill : std::uint8_t {
#define PADDOCK_ENTRY(name, wire, text) name,
  PADDOCK_NOT_A_SKILL(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
};

/// The stable name for programs, lower case with underscores.
[[nodiscard]] std::string_view wire_name(not_a_skill why) noexcept;
/// A sentence for people.
[[nodiscard]] std::string_view text(not_a_skill why) noexcept;

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
  unsigned threads_max = 2; ///< for scanning large stores; at least 1
  /// Directories looked at in each of the two, those with the first ids; each other one is told as
  /// left out.
  std::uint32_t entries_max = 20'000;
  /// What a power cut leaves of a change: with `data` the skill is whole, old or new; with `full` a
  /// change that was reported is there.
  paddock::durability durability = paddock::durability::none;
  /// Where each change notes what it would leave if it were killed; an absolute path outside of the
  /// root, which nobody else may write to. Made if missing. Empty: nothing is noted.
  std::string state_directory{};
};

/// What an edit changes; the rest stays.
struct skill_changes {
  std::optional<std::string> name{};
  std::optional<std::string> description{};
};

struct skill_file {
  std::string path; ///< relative to the skill's directory
  std::uint64_t size = 0;
  entry_kind kind = entry_kind::file;
};

enum class overwrite : std::uint8_t { refuse, replace };

/// What a source may be at most. Both what an archive declares and what it really holds counts.
struct import_limits {
  std::uint64_t archive_bytes_max = std::uint64_t{32} * 1024 * 1024;
  std::uint64_t entries_max = 2'000;
  std::uint64_t file_bytes_max = std::uint64_t{32} * 1024 * 1024;
  std::uint64_t total_bytes_max = std::uint64_t{64} * 1024 * 1024;
  std::uint64_t ratio_max =
      200; ///< expanded to compressed size of an entry, above `ratio_bytes_min`
  std::uint64_t ratio_bytes_min = std::uint64_t{1024} * 1024;
  std::uint64_t path_bytes_max = 1'024;
  std::uint64_t depth_max = 16; ///< components of a path
};

struct import_options {
  /// Empty: the name of the only top folder, or of the source, as far as it can be an id.
  std::string id{};
  paddock::overwrite overwrite = paddock::overwrite::refuse;
  /// Called now and then with the files and bytes done and the files in all; must not throw.
  std::function<void(std::uint64_t files, std::uint64_t bytes, std::uint64_t files_total)>
      on_progress{};
  const std::atomic<bool>* cancelled = nullptr;
  import_limits limits = {};
};

// X(enumerator, wire name, error code, what is wrong; what to do)
// clang-format off
#define PADDOCK_IMPORT_REFUSALS(X)                                                                                                                                       \
  X(none, "none", io, "nothing was refused")                                                                                                                             \
  X(not_found, "not-found", not_found, "the source does not exist; check the path")                                                                                      \
  X(special_source, "special-source", not_regular, "the source is neither a folder nor a file; give a folder, a .zip or a .skill file")                                  \
  X(contains_destination, "contains-destination", invalid_argument, "the folder contains the directory of skills it would be copied to; choose the skill's own folder")  \
  X(bad_id, "bad-id", invalid_argument, "this cannot be the id of a skill; choose one of letters, digits and hyphens")                                                   \
  X(id_exists, "id-exists", already_exists, "there is a skill with this id; choose another id, or ask to overwrite it")                                                  \
  X(system_skill, "system-skill", read_only, "a system skill has this id and would hide the import; choose another id")                                                  \
  X(no_zip_support, "no-zip-support", unsupported, "archives are read by libzip, which cannot be loaded; install it (Debian: libzip4), or import the unpacked folder")    \
  X(archive_too_large, "archive-too-large", too_large, "the archive is too large; remove what the skill does not need")                                                  \
  X(too_many_entries, "too-many-entries", too_many, "there are too many files; remove what the skill does not need")                                                     \
  X(file_too_large, "file-too-large", too_large, "a file is too large; make it smaller or leave it out")                                                                 \
  X(total_too_large, "total-too-large", too_large, "the files are too large together; remove what the skill does not need")                                              \
  X(ratio, "compression-ratio", too_large, "an entry expands to far more than is plausible; pack it again without it")                                                   \
  X(not_utf8, "not-utf8", invalid_name, "a name is not UTF-8; rename the file or pack it with a tool that writes UTF-8 names")                                           \
  X(control_character, "control-character", invalid_name, "a name has a control character; rename the file")                                                             \
  X(empty_name, "empty-name", invalid_name, "a name is empty or has an empty part; pack it again")                                                                       \
  X(dot_component, "dot-component", invalid_name, "a name has a part that is only a dot; pack it again")                                                                 \
  X(parent_component, "parent-component", escapes_root, "a name has a part that is two dots and leads out of the skill; do not trust this source")                       \
  X(absolute_name, "absolute-name", escapes_root, "a name begins with a slash and leads out of the skill; pack it with relative names")                                  \
  X(backslash, "backslash", invalid_name, "a name has a backslash; pack it with a tool that writes slashes")                                                             \
  X(colon, "colon", invalid_name, "a name has a colon, as drives have; rename the file")                                                                                 \
  X(component_too_long, "component-too-long", name_too_long, "a file name is too long; shorten it")                                                                      \
  X(path_too_long, "path-too-long", path_too_long, "a path is too long; shorten the names of its folders")                                                               \
  X(too_deep, "too-deep", path_too_long, "folders are nested too deeply; flatten them")                                                                                  \
  X(duplicate, "duplicate", already_exists, "two names are the same, perhaps but for case or accents; rename one of them")                                               \
  X(file_and_directory, "file-and-directory", already_exists, "one name is a file and a folder at once; rename one of them")                                             \
  X(symlink, "symlink", unsupported_type, "there is a symbolic link; replace it by a copy of what it points to")                                                         \
  X(special, "special-file", not_regular, "there is a device, FIFO or socket; leave it out")                                                                             \
  X(type_mismatch, "type-mismatch", invalid_argument, "an entry calls itself a folder and a file; pack it again")                                                        \
  X(repository, "repository", write_protected, "there is a Git repository that is not called .git, whose configuration git would obey; leave it out")                        \
  X(protected_name, "protected-name", write_protected, "there is a name that editors, shells or agents obey; leave it out, or add it by hand after a look at it")          \
  X(encrypted, "encrypted", unsupported_type, "the archive is encrypted; pack it without a password")                                                                    \
  X(compression_method, "compression-method", unsupported_type, "the archive uses an unusual compression; pack it with deflate")                                         \
  X(multi_disk, "multi-disk", unsupported_type, "the archive is one part of several; join them first")                                                                   \
  X(not_a_zip, "not-a-zip", unsupported_type, "this is no zip archive; give a folder, a .zip or a .skill file")                                                          \
  X(truncated, "truncated", invalid_argument, "the archive is cut off; download it again")                                                                               \
  X(inconsistent, "inconsistent", invalid_argument, "the archive contradicts itself; pack it again, and do not trust its source")                                        \
  X(name_mismatch, "name-mismatch", invalid_argument, "an entry has two different names; pack it again, and do not trust its source")                                    \
  X(size_mismatch, "size-mismatch", invalid_argument, "an entry has another size than it declares; pack it again, and do not trust its source")                          \
  X(bad_checksum, "bad-checksum", invalid_argument, "an entry does not match its checksum; download the archive again")                                                  \
  X(bad_data, "bad-data", invalid_argument, "an entry cannot be decompressed; download the archive again")                                                               \
  X(no_skill_file, "no-skill-file", not_found, "there is no SKILL.md at the top or in the only top folder; add one")                                                     \
  X(skill_file_case, "skill-file-case", not_found, "the file has to be named SKILL.md in just this spelling; rename it")                                                 \
  X(several_skills, "several-skills", invalid_argument, "there are several skills; import them one by one")                                                              \
  X(beside_skill, "beside-skill", invalid_argument, "there are files beside the skill's folder; import the folder alone")                                                \
  X(changed, "changed", conflict, "the source changed while it was read; import it again")
// clang-format on

/// Why a source was refused. Nothing was changed.
enum class import_refusal : std::uint8_t {
#define PADDOCK_ENTRY(name, wire, code, text) name,
  PADDOCK_IMPORT_REFUSALS(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
};

/// The stable name for programs, lower case with underscores.
[[nodiscard]] std::string_view wire_name(import_refusal refusal) noexcept;
/// A sentence for people.
[[nodiscard]] std::string_view text(import_refusal refusal) noexcept;
/// The error that the import ends with.
[[nodiscard]] error_code code_of(import_refusal refusal) noexcept;

/// What an import did, or why it did not.
struct import_report {
  import_refusal refusal = import_refusal::none;
  std::string entry; ///< the entry of the source at fault; raw bytes, may be empty
  std::string id;
  std::uint64_t files = 0;
  std::uint64_t bytes = 0;
  bool replaced = false;
  std::vector<std::string> left_out; ///< paths of the source that no skill needs, such as .git
  std::vector<frontmatter::diagnostic> diagnostics; ///< of SKILL.md; with an error among them the
                                                    ///< directory is there but not listed
};

/// A skill that was imported.
struct imported_skill : skill {
  import_report report;
};

/// Why a skill was not imported. Where the source is at fault, `report.refusal` says how, and
/// `code` is code_of(report.refusal).
struct import_error : error {
  import_report report;

  import_error(const error& reason) noexcept : error(reason) {}
  import_error(const error& reason, import_report told) noexcept
      : error(reason), report(std::move(told)) {}
};

/// One file of an upload.
struct uploaded_file {
  std::string path; ///< relative, with '/'
  std::string_view bytes;
  bool executable = false;
};

/// The skills beneath one root: what is there, and what may be changed.
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
  /// Errors: not_found; io, too_many or permission_denied when there may be one but its SKILL.md
  /// cannot be read.
  [[nodiscard]] result<skill> find(std::string_view id) const;
  /// Every file and directory of a skill, by path, links not followed. Also of directories that are
  /// not loaded. Errors: not_found, too_many.
  [[nodiscard]] result<std::vector<skill_file>> files(std::string_view id) const;

  /// Makes a user skill with a minimal SKILL.md. Errors: invalid_argument (`operation` says which
  /// of "id", "name", "description"), already_exists.
  [[nodiscard]] result<skill> add(std::string_view id, std::string_view name,
                                  std::string_view description) const;
  /// Errors: not_found, read_only (a system skill), conflict, invalid_argument (`operation` as for
  /// `add`, or "frontmatter": it is written in a way that cannot be changed without breaking it).
  [[nodiscard]] result<skill> edit(std::string_view id, const skill_changes& changes) const;
  /// Deletes a user skill with everything in it; also a directory that is not loaded. Errors:
  /// not_found, read_only.
  [[nodiscard]] result<void> remove(std::string_view id) const;

  /// Copies a skill from a folder, a zip or a `.skill` archive anywhere on this machine (ambient
  /// authority, like root::open). Errors: by what `report.refusal` says; already_exists,
  /// unsupported (an archive, without libzip), those of reading the source and writing.
  [[nodiscard]] result<imported_skill, import_error>
  import(const std::string& source, const import_options& options = {}) const;
  /// The same from an archive in memory; `name` is its file name. Errors: as import.
  [[nodiscard]] result<imported_skill, import_error>
  import_archive(std::string_view bytes, std::string_view name,
                 const import_options& options = {}) const;
  /// The same from files in memory. Errors: as import.
  [[nodiscard]] result<imported_skill, import_error>
  import_files(std::span<const uploaded_file> files, std::string_view name,
               const import_options& options = {}) const;

  /// As given when the store was opened.
  [[nodiscard]] const skill_store_options& options() const noexcept;
  /// The root that the store works beneath.
  [[nodiscard]] const std::shared_ptr<const root>& root_shared() const noexcept;

private:
  struct state;
  explicit skill_store(std::unique_ptr<state> s) noexcept;
  std::unique_ptr<state> state_;
};

} // namespace paddock
