// SPDX-License-Identifier: MIT
#include "search/read_names.hpp"

#include "file/directory_stream.hpp"
#include "file/leftover.hpp"
#include "search/work_pace.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <dirent.h>
#include <fcntl.h>

#include <span>
#include <utility>

namespace paddock {
namespace {

/// An ignore file that is larger is not read.
constexpr std::size_t ignore_file_bytes_max = 1024 * 1024;

entry_kind kind_of(int directory, std::string_view name, unsigned char type) {
  switch (type) {
  case DT_REG:
    return entry_kind::file;
  case DT_DIR:
    return entry_kind::directory;
  case DT_LNK:
    return entry_kind::symlink;
  case DT_UNKNOWN:
    if (const auto status = sys::entry_status_at(directory, name.data())) return status->kind;
    break;
  default:
    break;
  }
  return entry_kind::other;
}

/// The rules in an open file, if it is one that may be seen; the descriptor may be empty. Errors:
/// those of `hold`.
result<ignore_rules> rules_in(const root& root, result<file_descriptor> fd,
                              const hold_bytes& hold) {
  if (!fd) return ignore_rules();
  const auto status =
      root.mounts() == mounts::refuse ? sys::status_at(fd->get(), "") : sys::fstat(fd->get());
  if (!status || !root.check_entered(fd->get(), *status)) return ignore_rules();
  if (status->kind != entry_kind::file || status->size > ignore_file_bytes_max)
    return ignore_rules();
  std::string text(status->size, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const auto n = sys::read(fd->get(), std::span(text).subspan(size));
    if (!n) return ignore_rules();
    if (*n == 0) break;
    size += *n;
  }
  text.resize(size);
  const auto most = static_cast<std::int64_t>(ignore_rules::held_bytes_max(text));
  PADDOCK_CHECK(hold(most));
  ignore_rules rules(text);
  PADDOCK_CHECK(hold(static_cast<std::int64_t>(rules.held_bytes()) - most));
  return rules;
}

/// The rules in the file of that name in an open directory.
result<ignore_rules> rules_in(const root& root, int directory, std::string_view path,
                              const char* name, const hold_bytes& hold) {
  if (path.empty() ? root.is_protected(name) : root.is_hidden_name(name)) return ignore_rules();
  return rules_in(root, sys::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY),
                  hold);
}

} // namespace

result<names_found> read_names(const root& root, int fd, walked_directory& into,
                               const std::function<result<void>(std::uint64_t)>& count) {
  const bool at_root = into.path.empty();
  names_found found;
  std::uint64_t fresh = 0;
  result<void> within;
  const auto add = [&](std::string_view name, unsigned char type) {
    if (name.front() == '.') {
      if (name == ".git" || name == ".gitignore" || name == ".ignore") found.has_rules = true;
      if (name == ".git" || name == ".hg" || name == ".svn") return true;
    }
    if (at_root ? root.is_protected(name) : root.is_hidden_name(name)) return true;
    if (is_passing(fd, name)) return true;
    into.entries.push_back({.name_offset = static_cast<std::uint32_t>(into.names.size()),
                            .name_size = static_cast<std::uint16_t>(name.size()),
                            .kind = kind_of(fd, name, type)});
    into.names.append(name) += '\0';
    if (++fresh == look_entries) within = count(std::exchange(fresh, 0));
    return within.has_value();
  };
  PADDOCK_CHECK(for_each_entry(fd, add));
  if (within) within = count(fresh);
  if (!within) return error{within.error().code, 0, within.error().operation};
  return found;
}

result<void> add_rules(const root& root, int fd, walked_directory& to, const hold_bytes& hold) {
  auto frame = std::make_unique<ignore_frame>();
  frame->directory = to.path;
  PADDOCK_TRY(frame->dot_ignore, rules_in(root, fd, to.path, ".ignore", hold));
  PADDOCK_TRY(frame->gitignore, rules_in(root, fd, to.path, ".gitignore", hold));
  frame->repository = sys::entry_status_at(fd, ".git").has_value();
  if (frame->repository) {
    auto exclude = root.open_beneath(join(to.path, ".git/info/exclude"), access::read);
    if (exclude) {
      PADDOCK_TRY(frame->info_exclude, rules_in(root, std::move(exclude->fd), hold));
    }
  }
  frame->above = to.rules;
  to.own_rules = std::move(frame);
  to.rules = to.own_rules.get();
  return {};
}

} // namespace paddock
