// SPDX-License-Identifier: MIT
#include "search/read_names.hpp"

#include "file/directory_stream.hpp"
#include "file/leftover.hpp"
#include "search/work_pace.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace paddock {
namespace {

/// An ignore file that is larger is not read.
constexpr std::size_t ignore_file_bytes_max = 1024 * 1024;

/// Whether the path of `x` comes before that of `y`. What is in a directory begins with its name
/// and a slash.
bool before(std::string_view x, entry_kind of_x, std::string_view y, entry_kind of_y) {
  const std::size_t shared = std::min(x.size(), y.size());
  if (const int order = x.substr(0, shared).compare(y.substr(0, shared)); order != 0)
    return order < 0;
  const auto next = [shared](std::string_view name, entry_kind kind) {
    if (name.size() > shared) return static_cast<int>(static_cast<unsigned char>(name[shared]));
    return kind == entry_kind::directory ? int{'/'} : -1;
  };
  return next(x, of_x) < next(y, of_y);
}

/// With how many bytes all names begin alike.
std::size_t shared_bytes(const walked_directory& in) {
  std::string_view shared = in.name(in.entries.front());
  for (const walked_entry& entry : in.entries)
    if (const std::string_view name = in.name(entry); !name.starts_with(shared))
      shared = {shared.begin(), std::ranges::mismatch(shared, name).in1};
  return shared.size();
}

/// The first bytes behind those of what paths are in order of, as a number. Precondition: `names`
/// has eight bytes behind the name.
std::uint64_t order_key(const walked_directory& in, const walked_entry& entry,
                        std::size_t shared) noexcept {
  constexpr std::size_t size = sizeof(std::uint64_t);
  const std::size_t left = entry.name_size - shared;
  std::uint64_t key = 0;
  std::memcpy(&key, in.names.data() + entry.name_offset + shared, size);
  if constexpr (std::endian::native == std::endian::little) key = __builtin_bswap64(key);
  if (left >= size) return key;
  const std::size_t unused = 8 * (size - left);
  key = left == 0 ? 0 : key >> unused << unused;
  if (entry.kind == entry_kind::directory) key |= std::uint64_t{'/'} << (unused - 8);
  return key;
}

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
      if (is_passing(fd, name)) return true;
    }
    if (at_root ? root.is_protected(name) : root.is_hidden_name(name)) return true;
    into.entries.push_back({.name_offset = static_cast<std::uint32_t>(into.names.size()),
                            .name_size = static_cast<std::uint16_t>(name.size()),
                            .kind = kind_of(fd, name, type)});
    into.names.append(name.data(), name.size() + 1);
    if (++fresh == look_entries) within = count(std::exchange(fresh, 0));
    return within.has_value();
  };
  PADDOCK_CHECK(for_each_entry(fd, add));
  if (within) within = count(fresh);
  if (!within) return error{within.error().code, 0, within.error().operation};
  return found;
}

bool has_file(const walked_directory& in, std::string_view name) {
  const auto found =
      std::lower_bound(in.entries.begin(), in.entries.end(), name,
                       [&](const walked_entry& entry, std::string_view wanted) {
                         return before(in.name(entry), entry.kind, wanted, entry_kind::file);
                       });
  return found != in.entries.end() && found->kind == entry_kind::file && in.name(*found) == name;
}

void sort_entries(walked_directory& in) {
  if (in.entries.size() < 2) return;
  const std::size_t size = in.names.size();
  in.names.append(sizeof(std::uint64_t), '\0');
  const std::size_t shared = shared_bytes(in);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order; // keys, and whose they are
  order.reserve(in.entries.size());
  for (const walked_entry& entry : in.entries)
    order.emplace_back(order_key(in, entry, shared), static_cast<std::uint32_t>(order.size()));
  std::ranges::sort(order, [&](const auto& x, const auto& y) {
    const walked_entry &a = in.entries[x.second], &b = in.entries[y.second];
    return x.first != y.first ? x.first < y.first : before(in.name(a), a.kind, in.name(b), b.kind);
  });
  std::vector<walked_entry> sorted;
  sorted.reserve(order.size());
  for (const auto& [key, entry] : order)
    sorted.push_back(std::move(in.entries[entry]));
  in.entries = std::move(sorted);
  in.names.resize(size);
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
