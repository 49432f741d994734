// SPDX-License-Identifier: MIT
#include "directory_stream.hpp"
#include "sys/syscall.hpp"

#include <paddock/directory.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace paddock {
namespace {

/// UTF-16 code unit order of two UTF-8 names. It is byte order except that characters beyond
/// U+FFFF, whose lead bytes are F0 and above, come before U+E000 to U+FFFF, whose lead bytes are EE
/// and EF.
bool before_in_utf16(std::string_view a, std::string_view b) {
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (x == a.end() || y == b.end()) return a.size() < b.size();
  const auto p = static_cast<unsigned char>(*x);
  const auto q = static_cast<unsigned char>(*y);
  if (p >= 0xEE && q >= 0xEE && (p >= 0xF0) != (q >= 0xF0)) return p >= 0xF0;
  return p < q;
}

entry_kind kind_of(unsigned char d_type) {
  switch (d_type) {
  case DT_REG:
    return entry_kind::file;
  case DT_DIR:
    return entry_kind::directory;
  case DT_LNK:
    return entry_kind::symlink;
  default:
    return entry_kind::other;
  }
}

void set(directory_entry& entry, const file_status& status) {
  entry.kind = status.kind;
  entry.size = status.size;
  entry.modified_ns = status.modified_ns;
}

/// Size, time and kind. A link is described by its target where that lies beneath the root, else as
/// a file of its own.
void examine(const root& root, const opened& directory, std::string_view name,
             directory_entry& entry) {
  const auto status =
      sys::status_at(directory.fd.get(), std::string(name).c_str(), AT_SYMLINK_NOFOLLOW);
  if (!status) {
    entry.known = false;
    return;
  }
  set(entry, *status);
  if (status->kind != entry_kind::symlink) return;
  entry.symlink = true;
  entry.kind = entry_kind::file;
  std::string path = directory.path;
  if (!path.empty()) path += '/';
  const auto target = root.open_beneath(path.append(name), access::inspect);
  if (target) set(entry, target->status);
}

} // namespace

result<directory_listing> list_directory(const root& root, std::string_view path,
                                         list_options options) {
  PADDOCK_TRY(const opened directory, root.open_beneath(path, access::directory));
  directory_listing listing;
  listing.path = directory.path;
  const bool at_root = directory.path.empty();
  const auto add = [&](std::string_view name, unsigned char type) {
    if (at_root && root.is_protected(name)) return true;
    listing.entries.push_back({.name_offset = static_cast<std::uint32_t>(listing.names.size()),
                               .name_size = static_cast<std::uint16_t>(name.size()),
                               .kind = kind_of(type)});
    listing.names.append(name) += '\0';
    return true;
  };
  if (const auto read = for_each_entry(directory.fd.get(), add); !read) {
    if (at_root) PADDOCK_CHECK(root.check_alive());
    return read.error();
  }
  auto& entries = listing.entries;
  listing.total = entries.size();
  std::sort(entries.begin(), entries.end(), [&](const auto& a, const auto& b) {
    return before_in_utf16(listing.name(a), listing.name(b));
  });
  // Only the entries that are wanted are looked at.
  const auto skipped = std::min<std::uint64_t>(options.offset, entries.size());
  entries.erase(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(skipped));
  if (entries.size() > options.entries_max) entries.resize(options.entries_max);
  for (auto& entry : entries)
    examine(root, directory, listing.name(entry), entry);
  return listing;
}

result<std::string> create_directory(const root& root, std::string_view path) {
  auto where = root.locate(path, final_link::keep, parents::create);
  if (!where) {
    if (where.error().code == error_code::workspace_root)
      return error{error_code::already_exists, EEXIST, "mkdirat"};
    return where.error();
  }
  PADDOCK_CHECK(sys::mkdirat(where->parent.get(), where->name.c_str(), 0777));
  return std::move(where->path);
}

} // namespace paddock
