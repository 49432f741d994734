// SPDX-License-Identifier: MIT

// The importing part of a skill store: one way for every source. List, check, rehearse, write into
// a hidden directory, swap.

#include "file/durable.hpp"
#include "file/replace.hpp"
#include "path/resolve.hpp"
#include "skill/import_policy.hpp"
#include "skill/source.hpp"
#include "skill/staging.hpp"
#include "skill/store_state.hpp"

#include <paddock/base/detail/ascii.hpp>

#include <fcntl.h>

#include <algorithm>
#include <string>
#include <utility>

namespace paddock {

std::string_view wire_name(import_refusal refusal) noexcept {
  switch (refusal) {
#define X(name, wire, code, text)                                                                  \
  case import_refusal::name:                                                                       \
    return wire;
    PADDOCK_IMPORT_REFUSALS(X)
#undef X
  }
  return "unknown";
}

std::string_view text(import_refusal refusal) noexcept {
  switch (refusal) {
#define X(name, wire, code, text)                                                                  \
  case import_refusal::name:                                                                       \
    return text;
    PADDOCK_IMPORT_REFUSALS(X)
#undef X
  }
  return "unknown refusal";
}

error_code code_of(import_refusal refusal) noexcept {
  switch (refusal) {
#define X(name, wire, code, text)                                                                  \
  case import_refusal::name:                                                                       \
    return error_code::code;
    PADDOCK_IMPORT_REFUSALS(X)
#undef X
  }
  return error_code::io;
}

namespace {

constexpr unsigned directory_mode = 0755;
constexpr unsigned file_mode = 0644;
constexpr unsigned program_mode = 0755;

class importer {
public:
  importer(const root& base, const skill_store_options& options, skill_source_reader& source,
           const import_context& in)
      : base_(base), options_(options), source_(source), in_(in) {}

  result<skill> run(std::string_view source_name) {
    PADDOCK_TRY(auto entries, source_.entries(in_));
    PADDOCK_TRY(plan_, plan_import(std::move(entries), in_));
    PADDOCK_TRY(const auto id, choose_id(source_name));
    PADDOCK_CHECK(check_free(id));
    if (source_.needs_rehearsal()) PADDOCK_CHECK(rehearse());

    PADDOCK_TRY(const auto user, open_for_change(base_, options_));
    {
      PADDOCK_TRY(auto stage, staging::create(base_, options_, user));
      PADDOCK_CHECK(write_all_into(stage.fd()));
      auto done = stage.publish(id, in_.options.overwrite, options_.durability,
                                {.cancelled = in_.options.cancelled});
      if (!done && done.error().code == error_code::already_exists)
        return in_.refuse(import_refusal::id_exists, id.view());
      if (!done) return done.error();
      in_.report.replaced = *done == staging::outcome::replaced;
    }
    PADDOCK_TRY(auto made, describe_changed(base_, options_, id));
    in_.report.diagnostics = made.diagnostics;
    return made;
  }

private:
  result<component> choose_id(std::string_view source_name) {
    const auto& asked = in_.options.id;
    in_.report.id = !asked.empty() ? asked : id_from(plan_.top.empty() ? source_name : plan_.top);
    const auto id = new_id(in_.report.id);
    if (!id) return in_.refuse(import_refusal::bad_id, in_.report.id);
    return *id;
  }

  /// Before any work is done; publishing decides it again.
  result<void> check_free(const component& id) {
    PADDOCK_TRY(const auto system, open_skill_directory(base_, options_, skill_source::system));
    if (system && has_entry(*system, id))
      return in_.refuse(import_refusal::system_skill, id.view());
    PADDOCK_TRY(const auto user, open_skill_directory(base_, options_, skill_source::user));
    if (user && has_entry(*user, id) && in_.options.overwrite == overwrite::refuse)
      return in_.refuse(import_refusal::id_exists, id.view());
    return {};
  }

  /// Reads a file to its end, holding it to what it declared and all files to the limits.
  result<void> pump(const source_entry& file, std::uint64_t& total,
                    const skill_source_reader::sink& out) {
    std::uint64_t size = 0;
    PADDOCK_CHECK(source_.read(file, in_, [&](std::string_view piece) -> result<void> {
      PADDOCK_CHECK(in_.check_cancelled());
      size += piece.size();
      total += piece.size();
      if (size > in_.limits().file_bytes_max)
        return in_.refuse(import_refusal::file_too_large, file.path);
      if (total > in_.limits().total_bytes_max)
        return in_.refuse(import_refusal::total_too_large, file.path);
      return out(piece);
    }));
    if (size != file.size) return in_.refuse(import_refusal::size_mismatch, file.path);
    return {};
  }

  result<void> rehearse() {
    std::uint64_t total = 0;
    for (const auto& file : plan_.files)
      PADDOCK_CHECK(pump(file, total, [](std::string_view) { return result<void>(); }));
    return {};
  }

  static result<component> last_of(std::string_view path) {
    return component::from(path.substr(path.rfind('/') + 1));
  }

  result<void> write_all_into(int stage) {
    for (const auto& path : plan_.directories) {
      PADDOCK_TRY(const auto parent, open_parent(stage, path));
      PADDOCK_TRY(const auto name, last_of(path));
      auto made = sys::mkdirat(parent.get(), name.c_str(), directory_mode);
      if (!made && made.error().code == error_code::already_exists)
        return in_.refuse(import_refusal::duplicate, path);
      PADDOCK_CHECK(std::move(made));
    }
    in_.report.files = in_.report.bytes = 0;
    for (const auto& file : plan_.files) {
      PADDOCK_CHECK(in_.check_cancelled());
      PADDOCK_CHECK(write_file(stage, file));
      ++in_.report.files;
      if (in_.options.on_progress)
        in_.options.on_progress(in_.report.files, in_.report.bytes, plan_.files.size());
    }
    return options_.durability == durability::none ? result<void>() : sync_directories(stage);
  }

  /// All but the stage itself, whose entries are synchronised when it is published.
  result<void> sync_directories(int stage) {
    for (const auto& path : plan_.directories) {
      PADDOCK_TRY(const auto directory, open_within(stage, path, O_RDONLY | O_DIRECTORY));
      PADDOCK_CHECK(sys::fsync(directory.get()));
    }
    return {};
  }

  result<void> write_file(int stage, const source_entry& file) {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY;
    PADDOCK_TRY(const auto parent, open_parent(stage, file.path));
    PADDOCK_TRY(const auto name, last_of(file.path));
    const auto fd =
        sys::openat(parent.get(), name.c_str(), flags, file.executable ? program_mode : file_mode);
    // Two names that the file system takes for one.
    if (!fd && fd.error().code == error_code::already_exists)
      return in_.refuse(import_refusal::duplicate, file.path);
    if (!fd) return fd.error();
    PADDOCK_CHECK(pump(file, in_.report.bytes, [&](std::string_view piece) {
      return paddock::write_all(fd->get(), piece);
    }));
    return sync_file(fd->get(), options_.durability);
  }

  /// The directory of a path within the stage, opened without following anything.
  [[nodiscard]] result<file_descriptor> open_parent(int stage, std::string_view path) const {
    const auto slash = path.rfind('/');
    return open_within(stage, slash == std::string_view::npos ? "" : path.substr(0, slash),
                       O_PATH | O_DIRECTORY);
  }

  [[nodiscard]] result<file_descriptor> open_within(int stage, std::string_view path,
                                                    int flags) const {
    return resolve::open_strict({.root = stage, .resolver = base_.resolver()}, std::string(path),
                                static_cast<std::uint64_t>(flags));
  }

  const root& base_;
  const skill_store_options& options_;
  skill_source_reader& source_;
  const import_context& in_;
  import_plan plan_;
};

/// The last component of a path, without slashes at its end.
std::string_view last_component(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

std::string_view without_extension(std::string_view name) {
  for (const std::string_view extension : {".zip", ".skill"})
    if (name.size() > extension.size() &&
        detail::equal_ignoring_ascii_case(name.substr(name.size() - extension.size()), extension))
      return name.substr(0, name.size() - extension.size());
  return name;
}

/// Whether `folder` is the destination or one of the directories above it, by identity.
result<bool> contains_destination(const root& folder, const root& base, std::string path) {
  auto at = base.open_beneath(path, access::inspect);
  while (!at && at.error().code == error_code::not_found && !path.empty()) {
    const auto slash = path.rfind('/');
    path.resize(slash == std::string::npos ? 0 : slash);
    at = base.open_beneath(path.empty() ? "." : path, access::inspect);
  }
  if (!at) return at.error();
  file_descriptor fd = std::move(at->fd);
  file_status here = at->status;
  for (unsigned up = 0; up < path_bytes_max; ++up) {
    if (here.same_object(folder.status())) return true;
    PADDOCK_TRY(auto above, sys::openat(fd.get(), "..", O_PATH | O_DIRECTORY));
    PADDOCK_TRY(const auto status, sys::status_at(above.get(), ""));
    if (status.same_object(here)) return false;
    fd = std::move(above);
    here = status;
  }
  return false;
}

/// The source itself, wherever it is: the caller's authority, links followed. A FIFO does not make
/// it wait.
result<file_descriptor> open_source(const std::string& source, const import_context& in) {
  auto fd = sys::openat(AT_FDCWD, source.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!fd && fd.error().code == error_code::not_found) return in.refuse(import_refusal::not_found);
  if (!fd && fd.error().code == error_code::not_regular)
    return in.refuse(import_refusal::special_source);
  return fd;
}

/// An archive is read as a whole: what is checked is what is unpacked.
result<std::string> read_archive(int fd, std::uint64_t size, const import_context& in) {
  if (size > in.limits().archive_bytes_max) return in.refuse(import_refusal::archive_too_large);
  std::string bytes(static_cast<std::size_t>(size) + 1, '\0');
  std::size_t used = 0;
  while (used < bytes.size()) {
    PADDOCK_CHECK(in.check_cancelled());
    PADDOCK_TRY(const auto n, sys::read(fd, std::span(bytes).subspan(used)));
    if (n == 0) break;
    used += n;
  }
  if (used > size) return in.refuse(import_refusal::changed);
  bytes.resize(used);
  return bytes;
}

/// Runs `import` with a context whose report becomes a part of the answer, whichever it is.
template <class Import>
result<imported_skill, import_error> reported(const import_options& options, Import import) {
  import_report report;
  result<skill> made = import(import_context{options, report});
  if (!made) return import_error(made.error(), std::move(report));
  return imported_skill{*std::move(made), std::move(report)};
}

/// From a folder or an archive outside.
result<skill> import_path(const std::string& source, const root& base,
                          const skill_store_options& options, const import_context& in) {
  if (source.empty() || source.find('\0') != std::string::npos)
    return in.refuse(import_refusal::not_found);
  PADDOCK_TRY(const auto fd, open_source(source, in));
  PADDOCK_TRY(const auto status, sys::status_at(fd.get(), ""));
  if (status.kind == entry_kind::directory) {
    PADDOCK_TRY(const auto folder, root::open(source, {.protected_names = {}}));
    PADDOCK_TRY(const bool around, contains_destination(folder, base, options.user_directory));
    if (around) return in.refuse(import_refusal::contains_destination);
    const auto reader = folder_source(folder);
    return importer(base, options, *reader, in).run(last_component(folder.path()));
  }
  if (status.kind != entry_kind::file) return in.refuse(import_refusal::special_source);
  PADDOCK_TRY(const auto bytes, read_archive(fd.get(), status.size, in));
  const auto reader = zip_source(bytes);
  return importer(base, options, *reader, in).run(without_extension(last_component(source)));
}

} // namespace

result<imported_skill, import_error> skill_store::import(const std::string& source,
                                                         const import_options& options) const {
  return reported(options, [&](const import_context& in) {
    return import_path(source, *state_->base, state_->options, in);
  });
}

result<imported_skill, import_error>
skill_store::import_archive(std::string_view bytes, std::string_view name,
                            const import_options& options) const {
  return reported(options, [&](const import_context& in) -> result<skill> {
    if (bytes.size() > in.limits().archive_bytes_max)
      return in.refuse(import_refusal::archive_too_large);
    const auto reader = zip_source(bytes);
    return importer(*state_->base, state_->options, *reader, in)
        .run(without_extension(last_component(name)));
  });
}

result<imported_skill, import_error>
skill_store::import_files(std::span<const uploaded_file> files, std::string_view name,
                          const import_options& options) const {
  return reported(options, [&](const import_context& in) {
    const auto reader = memory_source(files);
    return importer(*state_->base, state_->options, *reader, in).run(last_component(name));
  });
}

} // namespace paddock
