// SPDX-License-Identifier: MIT
#include "base/letter_forms.hpp"
#include "base/parallel_blocks.hpp"
#include "file/directory_stream.hpp"
#include "file/leftover.hpp"
#include "file/replace.hpp"
#include "path/made_parents.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/detail/ascii.hpp>
#include <paddock/base/detail/nearest_name.hpp>
#include <paddock/file/directory.hpp>
#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <span>
#include <utility>
#include <vector>

namespace paddock {
namespace {

/// Where a byte of UTF-8 belongs in UTF-16 code unit order. That is byte order except that
/// characters beyond U+FFFF, whose lead bytes are F0 and above, come before U+E000 to U+FFFF, whose
/// lead bytes are EE and EF.
constexpr unsigned char utf16_rank(unsigned char byte) {
  if (byte >= 0xF0) return static_cast<unsigned char>(byte - 2);
  return byte >= 0xEE ? static_cast<unsigned char>(byte + 0x10) : byte;
}

bool before_in_utf16(std::string_view a, std::string_view b) {
  const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (x == a.end() || y == b.end()) return a.size() < b.size();
  return utf16_rank(static_cast<unsigned char>(*x)) < utf16_rank(static_cast<unsigned char>(*y));
}

/// The ranks of the eight bytes of `name` from `at`, as one number that compares like them; zeros
/// after its end.
std::uint64_t sort_key(std::string_view name, std::size_t at) {
  std::uint64_t key = 0;
  for (std::size_t i = at; i < at + sizeof key; ++i)
    key = key << 8 | (i < name.size() ? utf16_rank(static_cast<unsigned char>(name[i])) : 0);
  return key;
}

/// How many bytes all names begin with. Precondition: there are some.
std::size_t common_prefix(const directory_listing& listing) {
  std::string_view prefix = listing.name(listing.entries.front());
  for (const auto& entry : listing.entries) {
    const auto name = listing.name(entry);
    if (name.starts_with(prefix)) continue;
    const auto end = std::mismatch(prefix.begin(), prefix.end(), name.begin(), name.end()).first;
    prefix = prefix.substr(0, static_cast<std::size_t>(end - prefix.begin()));
  }
  return prefix.size();
}

/// The entries' numbers in the order of their names. Most comparisons are of one number: names in a
/// directory tend to begin alike, so the numbers are made of what follows the part that all share.
std::vector<std::uint32_t> order_by_name(const directory_listing& listing) {
  struct keyed {
    std::uint64_t key;
    std::uint32_t index;
  };
  std::vector<keyed> sorted;
  sorted.reserve(listing.entries.size());
  const std::size_t shared = listing.entries.empty() ? 0 : common_prefix(listing);
  for (const auto& entry : listing.entries)
    sorted.push_back({.key = sort_key(listing.name(entry), shared),
                      .index = static_cast<std::uint32_t>(sorted.size())});
  std::sort(sorted.begin(), sorted.end(), [&](const keyed& a, const keyed& b) {
    if (a.key != b.key) return a.key < b.key;
    return before_in_utf16(listing.name(listing.entries[a.index]),
                           listing.name(listing.entries[b.index]));
  });
  std::vector<std::uint32_t> order(sorted.size());
  std::ranges::transform(sorted, order.begin(), &keyed::index);
  return order;
}

/// Keeps the entries that `wanted` names, in its order.
void arrange(directory_listing& listing, std::span<const std::uint32_t> wanted) {
  std::vector<directory_entry> arranged;
  arranged.reserve(wanted.size());
  for (const auto index : wanted)
    arranged.push_back(listing.entries[index]);
  listing.entries = std::move(arranged);
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

template <class Status> void set(directory_entry& entry, const Status& status) {
  entry.kind = status.kind;
  entry.size = status.size;
  entry.modified_ns = status.modified_ns;
}

/// Size, time and kind. A link is described by its target where that lies beneath the root, else as
/// a file of its own. `name` is followed by a NUL.
void examine(const root& root, const opened& directory, std::string_view name,
             directory_entry& entry) {
  const auto status = sys::entry_status_at(directory.fd.get(), name.data());
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

/// Below this, another thread costs more than it saves.
constexpr std::size_t entries_worth_a_thread = 16'384;

/// Between two looks at the bounds.
constexpr std::size_t look_entries = 1024;
/// What an entry takes with its name while it is sorted, about; counted from so many entries on.
constexpr std::uint64_t entry_bytes = 128;
constexpr std::size_t entries_worth_counting = 16'384;

/// Looks at the bounds and counts the memory, once in a while.
result<void> keep_within(const work_bounds& bounds, directory_listing& listing) {
  const std::size_t count = listing.entries.size();
  if (count % look_entries != 0) return {};
  if (count >= entries_worth_counting && count * entry_bytes > listing.memory.bytes())
    PADDOCK_CHECK(listing.memory.grow(entries_worth_counting * entry_bytes, bounds));
  return bounds.check();
}

/// The names, in the order of the kernel.
result<void> read_names(const root& root, const opened& directory, const work_bounds& bounds,
                        directory_listing& listing) {
  const bool at_root = directory.path.empty();
  result<void> within;
  const auto add = [&](std::string_view name, unsigned char type) {
    if (within = keep_within(bounds, listing); !within) return false;
    if (at_root ? root.is_protected(name) : root.is_hidden_name(name)) return true;
    if (is_passing(directory.fd.get(), name)) return true;
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
  return within;
}

/// Opens the directory and reads the names. Where others hold the memory that the next of them
/// need, what is there is given back, because they may wait for it, and reading begins anew as soon
/// as twice as much can be had.
result<opened> open_and_read(const root& root, std::string_view path, const work_bounds& bounds,
                             directory_listing& listing) {
  for (std::uint64_t share = 0;;) {
    PADDOCK_TRY(opened directory, root.open_beneath(path, access::directory));
    PADDOCK_CHECK(listing.memory.grow(share, bounds));
    const auto read = read_names(root, directory, bounds, listing);
    if (read) return directory;
    const std::uint64_t held = listing.memory.bytes();
    if (read.error().code != error_code::too_many || held == 0) return read.error();
    share = std::min(2 * held, bounds.memory->bytes());
    if (share == held) return read.error();
    listing = {};
  }
}

} // namespace

result<directory_listing> list_directory(const root& root, std::string_view path,
                                         list_options options) {
  directory_listing listing;
  PADDOCK_TRY(const opened directory, open_and_read(root, path, options.bounds, listing));
  listing.path = directory.path;
  listing.total = listing.entries.size();
  std::atomic<bool> given_up{false};
  const auto examine_all = [&] {
    const unsigned threads =
        listing.entries.size() < entries_worth_a_thread ? 1 : options.threads_max;
    return parallel_blocks(listing.entries.size(), threads, [&](std::size_t i) {
      auto& entry = listing.entries[i];
      if (i % look_entries == 0 && !options.bounds.check()) given_up = true;
      if (!given_up.load(std::memory_order_relaxed))
        examine(root, directory, listing.name(entry), entry);
    });
  };
  if (options.offset == 0 && listing.total <= options.entries_max) {
    // The others look at the entries while this thread sorts their names.
    auto examination = examine_all();
    const auto order = order_by_name(listing);
    examination.finish();
    arrange(listing, order);
  } else {
    // Only the entries that are wanted are looked at.
    const auto order = order_by_name(listing);
    const auto skipped = std::min<std::uint64_t>(options.offset, order.size());
    const auto kept = std::min<std::uint64_t>(options.entries_max, order.size() - skipped);
    arrange(listing, std::span(order).subspan(skipped, kept));
    examine_all().finish();
  }
  if (given_up) PADDOCK_CHECK(options.bounds.check());
  return listing;
}

std::string similar_path(const root& root, std::string_view path) {
  constexpr std::size_t letters_min = 3; // fewer are another name when one changes
  const std::string_view above = parent(path), given = file_name(path);
  const auto listing = list_directory(root, above.empty() ? "." : above);
  std::string_view nearest;
  if (!listing) return {};
  for (const directory_entry& entry : listing->entries) {
    const std::string_view name = listing->name(entry);
    if (detail::equal_ignoring_ascii_case(name, given) || differ_in_form(name, given))
      return join(above, name);
    if (given.size() < letters_min || !detail::differs_by(given, name, 1)) continue;
    if (!nearest.empty()) return {};
    nearest = name;
  }
  return nearest.empty() ? std::string() : join(above, nearest);
}

result<std::string> create_directory(const root& root, std::string_view path) {
  PADDOCK_TRY(const auto lock, lock_part_of_repository(root, path, {}));
  auto where = root.locate(path, final_link::keep, parents::create, purpose::make_directory);
  if (!where) {
    if (where.error().code == error_code::workspace_root)
      return error{error_code::already_exists, EEXIST, "mkdirat"};
    return where.error();
  }
  made_parents fresh(root, *where);
  PADDOCK_CHECK(sys::mkdirat(where->parent.get(), where->name.c_str(), 0777));
  fresh.keep();
  return std::move(where->path);
}

} // namespace paddock
