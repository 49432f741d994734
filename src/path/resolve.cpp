// SPDX-License-Identifier: MIT
#include "path/resolve.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>

#include <cerrno>
#include <ranges>
#include <utility>

namespace paddock::resolve {
namespace {

error refuse(error_code code, int os_errno = 0) {
  return {code, os_errno, "resolve"};
}

/// openat2 reports EAGAIN when a rename or mount anywhere overlaps a `..`; it says nothing about
/// this path.
result<file_descriptor> open_by_kernel(const scope& in, const char* path, std::uint64_t flags) {
  std::uint64_t how = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS;
  if (in.mounts == mounts::refuse) how |= RESOLVE_NO_XDEV;
  std::int64_t deadline = 0;
  for (unsigned attempt = 0;; ++attempt) {
    auto fd = sys::openat2(in.root, path, flags, 0, how);
    if (fd || fd.error().os_errno != EAGAIN) return fd;
    if (attempt < resolve_retries_max) continue;
    const auto now = sys::monotonic_ms();
    if (deadline == 0) deadline = now + resolve_deadline_ms;
    if (now >= deadline) return refuse(error_code::conflict, EAGAIN);
  }
}

/// Goes down a path component by component. Every directory on the way stays open, so `..` is a
/// step back on held descriptors and never a look-up.
class descent {
public:
  explicit descent(const scope& in) : in_(in) {}

  [[nodiscard]] int top() const { return stack_.empty() ? in_.root : stack_.back().get(); }
  [[nodiscard]] bool at_root() const { return stack_.empty(); }
  /// Precondition: not at the root. Looking at `.` needs the permission that the kernel asks of
  /// `..`.
  result<void> up() {
    PADDOCK_TRY([[maybe_unused]] const auto status, sys::status_at(top(), "."));
    stack_.pop_back();
    return {};
  }

  /// Looks at a child without following it.
  result<std::pair<file_descriptor, file_status>> look(const char* name) const {
    PADDOCK_TRY(auto fd, sys::openat(top(), name, O_PATH | O_NOFOLLOW));
    PADDOCK_TRY(const auto status, sys::status_at(fd.get(), "", AT_SYMLINK_NOFOLLOW));
    // Device numbers also serve kernels that do not tell mount ids.
    if (in_.mounts == mounts::refuse && (status.mount != in_.mount || status.device != in_.device))
      return refuse(error_code::crosses_mount, EXDEV);
    return std::pair(std::move(fd), status);
  }
  result<void> down(file_descriptor directory) {
    if (stack_.size() >= path_components_max) return refuse(error_code::path_too_long);
    stack_.push_back(std::move(directory));
    return {};
  }

private:
  const scope& in_;
  std::vector<file_descriptor> stack_;
};

/// The same promise as open_by_kernel, for systems without openat2.
result<file_descriptor> open_by_steps(const scope& in, std::string_view path, std::uint64_t flags) {
  const auto parts = components(path);
  const int final_flags = static_cast<int>(flags) | O_NOFOLLOW;
  descent at(in);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool last = i + 1 == parts.size();
    if (parts[i] == "..") {
      if (at.at_root()) return refuse(error_code::escapes_root, EXDEV);
      PADDOCK_CHECK(at.up());
      continue;
    }
    const std::string name(parts[i]);
    PADDOCK_TRY(auto child, at.look(name.c_str()));
    const bool is_asked_for = last && (flags & O_PATH) != 0 && (flags & O_NOFOLLOW) != 0;
    if (child.second.kind == entry_kind::symlink && !is_asked_for)
      return refuse(error_code::symlink_loop, ELOOP);
    // O_PATH with O_NOFOLLOW would open a link that has taken the place of what was looked at.
    if (last && (final_flags & O_PATH) == 0)
      return sys::openat(at.top(), name.c_str(), final_flags);
    if (last && (final_flags & O_DIRECTORY) == 0) return std::move(child.first);
    if (child.second.kind != entry_kind::directory)
      return refuse(error_code::not_a_directory, ENOTDIR);
    if (last) return std::move(child.first);
    PADDOCK_CHECK(at.down(std::move(child.first)));
  }
  return sys::openat(at.top(), ".", final_flags);
}

} // namespace

scope scope_beneath(int top) {
  scope in;
  in.root = top;
  in.resolver = sys::openat2_available() ? resolver::openat2 : resolver::walker;
  return in;
}

std::vector<std::string_view> components(std::string_view path) {
  std::vector<std::string_view> parts;
  for (auto part = next_component(path); !part.empty(); part = next_component(path))
    if (part != ".") parts.push_back(part);
  return parts;
}

bool is_plain(std::string_view path) noexcept {
  bool begins = true;
  for (const char c : path) {
    if (begins && (c == '/' || c == '.')) return false;
    begins = c == '/';
  }
  return path.empty() || !begins;
}

result<std::string> collapse(std::string_view path) {
  if (is_plain(path)) return std::string(path);
  std::string out;
  out.reserve(path.size());
  for (auto part = next_component(path); !part.empty(); part = next_component(path)) {
    if (part == ".") continue;
    if (part != "..") {
      if (!out.empty()) out += '/';
      out += part;
      continue;
    }
    if (out.empty()) return refuse(error_code::escapes_root, EXDEV);
    const auto slash = out.rfind('/');
    out.resize(slash == std::string::npos ? 0 : slash);
  }
  return out;
}

result<file_descriptor> open_strict(const scope& in, const std::string& path, std::uint64_t flags) {
  if (in.resolver == resolver::walker) return open_by_steps(in, path, flags);
  auto fd = open_by_kernel(in, path.empty() ? "." : path.c_str(), flags);
  if (fd || fd.error().os_errno != EXDEV) return fd;
  // With links refused, only `..` and mounts are left to be the reason.
  return refuse(collapse(path) ? error_code::crosses_mount : error_code::escapes_root, EXDEV);
}

namespace {

/// The work of expand_links: components still to be looked at, the last one on top.
class expander {
public:
  explicit expander(const scope& in) : in_(in), at_(in) {}

  result<expansion> run(std::string_view path) {
    auto expanded = walk(path);
    if (!expanded && hidden()) return refuse(error_code::protected_entry);
    return expanded;
  }

private:
  struct item {
    std::string name;
    bool from_link;
  };

  /// Whether this place is reserved, so that nothing may be told of it.
  [[nodiscard]] bool hidden() const {
    return in_.reserving != nullptr && in_.reserving->is_protected(joined());
  }

  result<expansion> walk(std::string_view path) {
    push(path, false);
    while (!pending_.empty()) {
      const item next = std::move(pending_.back());
      pending_.pop_back();
      if (next.name == ".") continue; // only there to make the one before it a directory
      if (next.name == "..") {
        if (at_.at_root()) return refuse(error_code::escapes_root, EXDEV);
        if (hidden()) return refuse(error_code::protected_entry);
        PADDOCK_CHECK(at_.up());
        names_.pop_back();
        continue;
      }
      auto child = at_.look(next.name.c_str());
      if (!child && child.error().os_errno == ENOENT) return missing(next);
      if (!child) return child.error();
      if (child->second.kind == entry_kind::symlink) {
        PADDOCK_CHECK(check_owner(child->second));
        PADDOCK_CHECK(follow(child->first.get()));
        continue;
      }
      names_.push_back(next.name);
      if (pending_.empty()) break;
      if (child->second.kind != entry_kind::directory)
        return refuse(error_code::not_a_directory, ENOTDIR);
      PADDOCK_CHECK(at_.down(std::move(child->first)));
    }
    std::string path_now = joined();
    const auto size = path_now.size();
    return expansion{std::move(path_now), size, false};
  }

  void push(std::string_view path, bool from_link) {
    if (from_link && (path.ends_with('/') || path.ends_with("/."))) pending_.push_back({".", true});
    const auto parts = components(path);
    for (const auto part : std::ranges::reverse_view(parts))
      pending_.push_back({std::string(part), from_link});
  }

  /// What Linux refuses by fs.protected_symlinks (may_follow_link), though here each link is read by
  /// itself: in a directory such as /tmp, where anybody may put one, only one's own is followed, or
  /// that of whose directory it is.
  result<void> check_owner(const file_status& link) const {
    if (link.uid == sys::effective_uid()) return {};
    PADDOCK_TRY(const file_status directory, sys::fstat(at_.top()));
    constexpr auto anybodys = S_ISVTX | S_IWOTH;
    if ((directory.mode & anybodys) != anybodys || directory.uid == link.uid) return {};
    return refuse(error_code::permission_denied, EACCES);
  }

  result<void> follow(int link) {
    if (++links_ > symlinks_max) return refuse(error_code::symlink_loop, ELOOP);
    const auto read = sys::readlinkat(link, "");
    if (!read) return read.error();
    const std::string& target = *read;
    if (target.empty()) return refuse(error_code::not_found, ENOENT);
    if (target.starts_with('/')) {
      PADDOCK_TRY(const bool procfs, is_procfs(link));
      if (procfs) return refuse(error_code::magic_link, ELOOP);
      const bool inside = strip_root_prefix(target, in_.configured).has_value() ||
                          strip_root_prefix(target, in_.canonical).has_value();
      return refuse(inside ? error_code::absolute_symlink_inside : error_code::absolute_symlink,
                    EXDEV);
    }
    if (pending_.size() + target.size() / 2 > 2 * path_bytes_max)
      return refuse(error_code::path_too_long, ENAMETOOLONG);
    push(target, true);
    return {};
  }

  static result<bool> is_procfs(int fd) {
    PADDOCK_TRY(const auto type, sys::fstatfs_type(fd));
    return type == PROC_SUPER_MAGIC;
  }

  /// What does not exist is appended as it is named: nothing below it can be a link.
  result<expansion> missing(const item& first) {
    if (first.from_link && !pending_.empty()) return refuse(error_code::dangling_symlink, ENOENT);
    expansion out{joined(), 0, first.from_link};
    out.existing = out.path.size();
    append(out.path, first.name);
    for (const auto& rest : std::ranges::reverse_view(pending_)) {
      if (rest.name == "..") return refuse(error_code::not_found, ENOENT);
      append(out.path, rest.name);
    }
    return out;
  }

  static void append(std::string& path, std::string_view name) {
    if (!path.empty()) path += '/';
    path += name;
  }
  [[nodiscard]] std::string joined() const {
    std::string path;
    for (const auto& name : names_)
      append(path, name);
    return path;
  }

  const scope& in_;
  descent at_;
  std::vector<std::string> names_;
  std::vector<item> pending_;
  unsigned links_ = 0;
};

} // namespace

result<expansion> expand_links(const scope& in, std::string_view path) {
  return expander(in).run(path);
}

} // namespace paddock::resolve
