// SPDX-License-Identifier: MIT
#include "path/entry_lookup.hpp"
#include "path/made_parents.hpp"
#include "path/name_rules.hpp"
#include "path/resolve.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>
#include <paddock/path/root.hpp>

#include <fcntl.h>
#include <linux/magic.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace paddock {
namespace {

error refuse(error_code code, int os_errno = 0) {
  return {code, os_errno, "resolve"};
}

resolve::scope scope_of(const root& r, mounts allowed, std::string_view configured) {
  return {.root = r.descriptor(),
          .resolver = r.resolver(),
          .mounts = allowed,
          .mount = r.status().mount,
          .device = r.status().device,
          .configured = configured,
          .canonical = r.path(),
          .reserving = &r};
}

/// procfs and sysfs show the system, not the workspace, and procfs has links that lead anywhere.
bool shows_the_system(int fd) {
  const auto type = sys::fstatfs_type(fd);
  return type && (*type == PROC_SUPER_MAGIC || *type == SYSFS_MAGIC);
}

/// A path that has to name a directory.
bool demands_directory(std::string_view path) {
  return path.ends_with('/') || path == "." || path.ends_with("/.") || path == ".." ||
         path.ends_with("/..");
}

/// What an object has to be for an access. `mount` and kind are known, nothing has been opened for
/// use yet.
result<void> check_kind(const file_status& status, access intent) {
  if (intent == access::inspect) return {};
  if (intent == access::directory) {
    if (status.kind != entry_kind::directory) return refuse(error_code::not_a_directory, ENOTDIR);
    return {};
  }
  if (status.kind == entry_kind::directory) return refuse(error_code::is_a_directory, EISDIR);
  if (status.kind != entry_kind::file) return refuse(error_code::not_regular);
  if (intent == access::append && status.links > 1) return refuse(error_code::hard_linked);
  return {};
}

/// Whether a path without links names a reserved entry or passes through one.
bool leads_to_protected(const root& r, std::string_view path) {
  if (resolve::is_plain(path)) return r.is_protected(path);
  std::string here;
  for (const auto part : resolve::components(path)) {
    if (part != "..") {
      if (!here.empty()) here += '/';
      here += part;
      continue;
    }
    if (r.is_protected(here)) return true;
    const auto slash = here.rfind('/');
    here.resize(slash == std::string::npos ? 0 : slash);
  }
  return r.is_protected(here);
}

int flags_of(access intent) {
  // O_NONBLOCK: a FIFO or device must not make the open wait. O_NOCTTY: nor may a terminal become
  // ours.
  switch (intent) {
  case access::read:
    return O_RDONLY | O_NONBLOCK | O_NOCTTY;
  case access::append:
    return O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY;
  case access::directory:
    return O_RDONLY | O_DIRECTORY | O_NONBLOCK;
  case access::inspect:
    break;
  }
  return O_PATH;
}

} // namespace

result<component> component::from(std::string_view name) noexcept {
  if (name.size() > name_bytes_max) return refuse(error_code::name_too_long, ENAMETOOLONG);
  if (name.empty() || name == "." || name == ".." ||
      std::memchr(name.data(), '/', name.size()) != nullptr ||
      std::memchr(name.data(), '\0', name.size()) != nullptr)
    return refuse(error_code::invalid_name);
  component c;
  std::memcpy(c.bytes_.data(), name.data(), name.size());
  c.bytes_[name.size()] = '\0';
  c.size_ = static_cast<std::uint8_t>(name.size());
  return c;
}

namespace {

/// Nothing where it is not a file of this user's.
file_descriptor open_lock_file(const std::string& path) {
  if (!path.starts_with('/')) return {};
  constexpr int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  auto fd = sys::openat(AT_FDCWD, path.c_str(), flags, 0600);
  const auto status = fd ? sys::fstat(fd->get()) : result<file_status>(fd.error());
  if (!status || status->kind != entry_kind::file || status->uid != sys::effective_uid()) return {};
  return *std::move(fd);
}

} // namespace

result<root> root::open(std::string_view path, const root_options& options) {
  if (path.empty() || path.find('\0') != std::string_view::npos)
    return error{error_code::invalid_argument, 0, "open root"};
  root r;
  const std::string spelled(path);
  PADDOCK_TRY(r.fd_, sys::openat(AT_FDCWD, spelled.c_str(), O_PATH | O_DIRECTORY));
  PADDOCK_TRY(r.status_, sys::status_at(r.fd_.get(), ""));
  std::string absolute_path = spelled;
  if (path.front() != '/') {
    PADDOCK_TRY(std::string here, sys::getcwd());
    absolute_path = std::move(here) + '/' + spelled;
  }
  // Without procfs the caller's spelling has to serve as the canonical one.
  auto canonical =
      sys::readlinkat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(r.fd_.get())).c_str());
  r.canonical_ = canonical && canonical->starts_with('/') ? *std::move(canonical) : absolute_path;
  // `..` after a link cannot be cancelled by spelling; what does not name the root does not count.
  r.configured_ = normalize_lexically(absolute_path);
  const auto named = sys::status_at(AT_FDCWD, r.configured_.c_str());
  if (!named || !named->same_object(r.status_)) r.configured_ = r.canonical_;

  const bool kernel = options.resolver != paddock::resolver::walker && sys::openat2_available();
  if (!kernel && options.resolver == paddock::resolver::openat2)
    return error{error_code::unsupported, ENOSYS, "openat2"};
  r.resolver_ = kernel ? paddock::resolver::openat2 : paddock::resolver::walker;
  r.mounts_ = options.mounts;
  r.probe_devices_ = sys::effective_uid() == 0;
  PADDOCK_CHECK(r.reserve(options));
  r.options_ = options;
  r.locks_ = open_lock_file(options.lock_file);
  return r;
}

result<std::string> root::relative(std::string_view path) const {
  if (path.empty()) return refuse(error_code::invalid_argument);
  if (path.find('\0') != std::string_view::npos) return refuse(error_code::invalid_name);
  if (path.size() > path_bytes_max) return refuse(error_code::path_too_long, ENAMETOOLONG);
  if (path.front() == '/') {
    auto inside = strip_root_prefix(path, canonical_);
    if (!inside) inside = strip_root_prefix(path, configured_);
    if (!inside) return refuse(error_code::escapes_root);
    path = *inside;
  }
  for (std::size_t begin = 0; begin < path.size();) {
    const auto part = path.substr(begin, path.find('/', begin) - begin);
    begin += part.size() + 1;
    if (part.size() > name_bytes_max) return refuse(error_code::name_too_long, ENAMETOOLONG);
  }
  // Passing through a hidden entry is refused as well, whether it exists or not.
  if (rules_->leads_through_hidden(path)) return refuse(error_code::protected_entry);
  return std::string(path);
}

/// A look-up that fails in a deleted workspace says so instead of blaming the path.
error root::missing_or_gone(error failure) const {
  if (failure.code != error_code::not_found || check_alive()) return failure;
  return error{error_code::root_gone, failure.os_errno, failure.operation};
}

result<void> root::check_alive() const {
  PADDOCK_TRY(const auto now, sys::status_at(fd_.get(), ""));
  if (now.links == 0) return error{error_code::root_gone, ENOENT, "statx"};
  return {};
}

std::string root::absolute(std::string_view resolved) const {
  std::string out = canonical_;
  if (resolved.empty()) return out;
  if (out.back() != '/') out += '/';
  out += resolved;
  return out;
}

result<void> root::check_entered(int fd, const file_status& status) const {
  const bool elsewhere = status.device != status_.device;
  if (mounts_ == mounts::refuse && (elsewhere || status.mount != status_.mount))
    return refuse(error_code::crosses_mount, EXDEV);
  if (elsewhere && shows_the_system(fd)) return refuse(error_code::crosses_mount);
  for (const auto& entry : reserved_)
    if (entry.object && entry.object->same_object(status))
      return refuse(error_code::protected_entry);
  return {};
}

result<opened> root::open_strictly(const std::string& path, access intent) const {
  const auto in = scope_of(*this, mounts_, configured_);
  opened found;
  // Opening a device can have effects of its own, so a process that may open one looks first.
  const bool look_first = probe_devices_ && (intent == access::read || intent == access::append);
  const int flags = flags_of(intent);
  PADDOCK_TRY(found.fd, resolve::open_strict(
                            in, path, static_cast<std::uint64_t>(look_first ? O_PATH : flags)));
  PADDOCK_TRY(found.status, sys::status_at(found.fd.get(), ""));
  PADDOCK_CHECK(check_kind(found.status, intent));
  if (found.status.device != status_.device && shows_the_system(found.fd.get()))
    return refuse(error_code::crosses_mount);
  if (look_first) {
    auto again = sys::reopen(found.fd.get(), flags);
    if (!again && again.error().os_errno == ENOENT) { // no procfs
      again = resolve::open_strict(in, path, static_cast<std::uint64_t>(flags));
      if (again) {
        PADDOCK_TRY(const auto status, sys::status_at(again->get(), ""));
        if (!status.same_object(found.status)) return refuse(error_code::conflict);
      }
    }
    if (!again) return again.error();
    found.fd = *std::move(again);
  }
  PADDOCK_TRY(found.path, resolve::collapse(path));
  return found;
}

result<opened> root::open_beneath(std::string_view path, access intent) const {
  PADDOCK_TRY(const std::string asked, relative(path));
  const bool directory = demands_directory(path);
  std::string translated; // once a link has been met
  for (unsigned attempt = 0; attempt <= resolve_retries_max; ++attempt) {
    const std::string& now = attempt == 0 ? asked : translated;
    auto found = open_strictly(now, intent);
    if (!found && resolve::met_link(found.error())) {
      const auto in = scope_of(*this, mounts_, configured_);
      PADDOCK_TRY(auto expanded, resolve::expand_links(in, asked));
      // First, so that nobody learns which names there are in a reserved entry.
      if (is_protected(expanded.path)) return refuse(error_code::protected_entry);
      if (!expanded.complete())
        return missing_or_gone(refuse(
            expanded.through_link ? error_code::dangling_symlink : error_code::not_found, ENOENT));
      translated = std::move(expanded.path);
      continue;
    }
    // Also when it is not there: the names below a reserved entry are reserved as well.
    if (leads_to_protected(*this, now)) return refuse(error_code::protected_entry);
    if (!found) return missing_or_gone(found.error());
    if (directory && found->status.kind != entry_kind::directory)
      return refuse(error_code::not_a_directory, ENOTDIR);
    if (intent == access::append) PADDOCK_CHECK(check_changeable(found->path));
    return found;
  }
  return refuse(error_code::conflict);
}

namespace {

struct split_path {
  std::string parent;
  std::string name;
};

/// Cuts a collapsed or raw relative path before its last component. Precondition: it has one.
split_path split(std::string_view path) {
  while (path.ends_with('/') || path.ends_with("/."))
    path.remove_suffix(1);
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return {"", std::string(path)};
  return {std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

/// Makes the directories `rest` beneath `at`, one by one; others may be making them at the same
/// time. `check` is asked about each that is there by then, with the way that it came to it.
template <class Check>
result<file_descriptor> make_directories(file_descriptor at, std::string path,
                                         std::string_view rest, made_parents& made,
                                         const Check& check) {
  for (const auto part : resolve::components(rest)) {
    PADDOCK_TRY(const auto name, component::from(part));
    auto fresh = sys::mkdirat(at.get(), name.c_str(), 0777);
    if (!fresh && fresh.error().code != error_code::already_exists) return fresh.error();
    auto next = sys::openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    const auto status = next ? sys::status_at(next->get(), "") : result<file_status>(next.error());
    made.enter(part, fresh ? std::optional(status ? *status : file_status()) : std::nullopt);
    if (!status) return status.error();
    at = *std::move(next);
    path = join(path, part);
    if (!fresh) PADDOCK_CHECK(check(at.get(), path));
  }
  return at;
}

} // namespace

result<place> root::place_in(const std::string& parent, std::string_view name, parents missing,
                             purpose wanted) const {
  const auto in = scope_of(*this, mounts_, configured_);
  const auto flags = static_cast<std::uint64_t>(O_PATH | O_DIRECTORY);
  PADDOCK_TRY(const auto checked, component::from(name));
  std::string now = parent;
  for (unsigned attempt = 0; attempt <= resolve_retries_max; ++attempt) {
    auto fd = resolve::open_strict(in, now, flags);
    std::string made = now;
    made_parents fresh(*this);
    const bool absent = !fd && fd.error().code == error_code::not_found;
    if (!fd && (resolve::met_link(fd.error()) || (absent && missing == parents::create))) {
      PADDOCK_TRY(auto expanded, resolve::expand_links(in, parent));
      if (is_protected(expanded.path)) return refuse(error_code::protected_entry);
      if (!expanded.complete() && expanded.through_link)
        return refuse(error_code::dangling_symlink, ENOENT);
      if (!expanded.complete() && missing == parents::require)
        return missing_or_gone(refuse(error_code::not_found, ENOENT));
      made = expanded.path;
      now = expanded.path.substr(0, expanded.existing);
      fd = resolve::open_strict(in, now, flags);
      if (!fd && (resolve::met_link(fd.error()) || fd.error().code == error_code::not_found)) {
        PADDOCK_CHECK(check_alive());
        now = parent;
        continue; // it changed between the two looks
      }
      fresh.enter(now, std::nullopt);
      const auto check = [&](int at, std::string_view path) {
        return check_changeable(made + '/' + checked.c_str(), wanted, lookup_from(at, path));
      };
      if (fd) { // asked first, so that nothing is made where it is refused then
        PADDOCK_CHECK(check(fd->get(), now));
        fd = make_directories(*std::move(fd), now, std::string_view(made).substr(now.size()), fresh,
                              check);
      }
    }
    if (leads_to_protected(*this, made + '/' + checked.c_str()))
      return refuse(error_code::protected_entry);
    if (!fd) return missing_or_gone(fd.error());
    PADDOCK_TRY(const auto status, sys::status_at(fd->get(), ""));
    if (status.device != status_.device && shows_the_system(fd->get()))
      return refuse(error_code::crosses_mount);
    PADDOCK_TRY(std::string path, resolve::collapse(made));
    if (!path.empty()) path += '/';
    path += name;
    PADDOCK_CHECK(check_changeable(path, wanted, lookup_from(fd->get(), paddock::parent(path))));
    return place{*std::move(fd), checked, std::move(path), false, std::nullopt, fresh.keep()};
  }
  return refuse(error_code::conflict);
}

result<place> root::locate(std::string_view path, final_link last, parents missing,
                           purpose wanted) const {
  PADDOCK_TRY(const std::string asked, relative(path));
  const auto parts = resolve::components(asked);
  if (parts.empty()) return refuse(error_code::workspace_root);
  if (parts.back() == "..") {
    PADDOCK_TRY(const std::string meant, resolve::collapse(asked));
    return refuse(meant.empty() ? error_code::workspace_root : error_code::invalid_argument);
  }
  // A protected link may lead elsewhere; what its name leads to is protected as well.
  if (rules_->could_concern(asked) || rules_->could_be_of_repository(asked))
    if (const auto spelled = resolve::collapse(asked))
      PADDOCK_CHECK(check_changeable(*spelled, wanted));
  const auto in = scope_of(*this, mounts_, configured_);
  split_path now = split(asked);
  for (unsigned attempt = 0; attempt <= resolve_retries_max; ++attempt) {
    PADDOCK_TRY(place found, place_in(now.parent, now.name, missing, wanted));
    made_parents fresh(*this, found);
    found.directory = demands_directory(path);
    auto existing = sys::status_at(found.parent.get(), found.name.c_str(), AT_SYMLINK_NOFOLLOW);
    if (!existing && existing.error().code != error_code::not_found) return existing.error();
    if (existing)
      found.existing = *existing;
    else
      PADDOCK_CHECK(check_alive());
    if (!existing || existing->kind != entry_kind::symlink || last == final_link::keep) {
      fresh.keep();
      return found;
    }
    // The target takes the place of the link. Its own parents are never made: a link is no wish for
    // them.
    PADDOCK_TRY(const auto expanded, resolve::expand_links(in, asked));
    if (is_protected(expanded.path)) return refuse(error_code::protected_entry);
    if (expanded.path.empty()) return refuse(error_code::is_a_directory, EISDIR);
    now = split(expanded.path);
    missing = parents::require;
  }
  return refuse(error_code::conflict);
}

} // namespace paddock
