// SPDX-License-Identifier: MIT
#include "skill/zip_directory.hpp"

#include <algorithm>
#include <initializer_list>

namespace paddock::zip {
namespace {

// Sizes of the fixed parts of the records, and where the lengths are in them (APPNOTE 4.3).
constexpr std::size_t end_size = 22;
constexpr std::size_t comment_max = 0xFFFF;
constexpr std::size_t locator_size = 20;
constexpr std::size_t end64_size = 56;
constexpr std::size_t end64_head = 12; // what its own size does not count
constexpr std::size_t central_size = 46;
constexpr std::size_t local_size = 30;
constexpr std::uint16_t large_sizes = 0x0001;
constexpr std::uint16_t unicode_path = 0x7075;
constexpr std::size_t unicode_path_head = 5; // version, checksum of the raw name

constexpr std::string_view end_mark = "PK\5\6";
constexpr std::string_view locator_mark = "PK\6\7";
constexpr std::string_view end64_mark = "PK\6\6";
constexpr std::string_view central_mark = "PK\1\2";
constexpr std::string_view local_mark = "PK\3\4";

/// A little-endian number. Precondition: it lies within `bytes`.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t n = 0;
  for (std::size_t i = size; i-- > 0;)
    n = (n << 8U) | static_cast<unsigned char>(bytes[at + i]);
  return n;
}

/// The part of `bytes` at `at`, or nothing when it does not fit.
std::optional<std::string_view> part(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || size > bytes.size() - at) return std::nullopt;
  return bytes.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
}

/// Whether the extra fields give a Unicode name other than `raw`.
bool contradicts(std::string_view extra, std::string_view raw) {
  while (extra.size() >= 4) {
    const auto id = number(extra, 0, 2);
    const auto body = part(extra, 4, number(extra, 2, 2));
    if (!body) return false; // libzip's consistency check is about that
    if (id == unicode_path && body->size() >= unicode_path_head &&
        body->substr(unicode_path_head) != raw)
      return true;
    extra.remove_prefix(4 + body->size());
  }
  return false;
}

/// The values that did not fit into a header, in their order. False: they are not all there, or
/// there twice.
bool widen(std::string_view extra, std::initializer_list<std::uint64_t*> values) {
  std::optional<std::string_view> wide;
  while (extra.size() >= 4) {
    const auto body = part(extra, 4, number(extra, 2, 2));
    if (!body) return false;
    if (number(extra, 0, 2) == large_sizes) {
      if (wide) return false;
      wide = body;
    }
    extra.remove_prefix(4 + body->size());
  }
  for (auto* value : values) {
    if (*value != 0xFFFFFFFF) continue;
    if (!wide || wide->size() < 8) return false;
    *value = number(*wide, 0, 8);
    wide->remove_prefix(8);
  }
  return true;
}

std::string_view local_extra(std::string_view archive, std::uint64_t at) {
  const auto head = part(archive, at, local_size);
  if (!head || !head->starts_with(local_mark)) return {};
  const auto name_size = number(*head, 26, 2);
  return part(archive, at + local_size + name_size, number(*head, 28, 2)).value_or("");
}

/// Whether a field of the old record leaves the value to the new one, or says the same.
bool agrees(std::uint64_t old_value, std::size_t bytes, std::uint64_t value) {
  return old_value == value || old_value == (std::uint64_t{1} << 8 * bytes) - 1;
}

/// Reads the record of large archives, which a locator just before the end points to. Some readers
/// follow every locator, some only when a field of the end demands it, so both have to say the
/// same. `directory_ends` becomes where that record begins.
end_state read_end64(std::string_view archive, std::string_view end, std::uint64_t locator_at,
                     directory_end& out, std::uint64_t& directory_ends) {
  const auto locator = archive.substr(static_cast<std::size_t>(locator_at), locator_size);
  const auto at = number(locator, 8, 8);
  const auto end64 = part(archive, at, end64_size);
  if (!end64 || !end64->starts_with(end64_mark)) return end_state::ambiguous;
  if (locator_at < end64_size || at > locator_at - end64_size) return end_state::ambiguous;
  if (number(locator, 4, 4) != 0 || number(locator, 16, 4) > 1 || number(*end64, 16, 4) != 0 ||
      number(*end64, 20, 4) != 0)
    return end_state::multi_disk;
  const bool reaches = number(*end64, 4, 8) == locator_at - at - end64_head;
  out = {number(*end64, 32, 8), number(*end64, 48, 8), number(*end64, 40, 8)};
  directory_ends = at;
  const bool same =
      number(*end64, 24, 8) == out.entries && agrees(number(end, 8, 2), 2, out.entries) &&
      agrees(number(end, 10, 2), 2, out.entries) && agrees(number(end, 12, 4), 4, out.size) &&
      agrees(number(end, 16, 4), 4, out.offset);
  return reaches && same ? end_state::found : end_state::ambiguous;
}

} // namespace

bool begins_like_an_archive(std::string_view archive) {
  return archive.starts_with(local_mark) || archive.starts_with(end_mark);
}

end_state find_end(std::string_view archive, directory_end& out) {
  const auto tail_size = std::min(archive.size(), end_size + comment_max);
  const auto tail = archive.substr(archive.size() - tail_size);
  std::optional<std::size_t> found;
  std::size_t last = 0;
  bool followed = false;
  for (auto at = tail.find(end_mark); at != std::string_view::npos;
       at = tail.find(end_mark, at + 1)) {
    last = at;
    const auto end = part(tail, at, end_size);
    const auto ends_at = end ? at + end_size + number(*end, 20, 2) : tail.size() + 1;
    if (ends_at > tail.size()) continue; // cut off, or no record at all
    followed = followed || ends_at < tail.size();
    if (ends_at != tail.size()) continue;
    if (found) return end_state::ambiguous;
    found = at;
  }
  if (!found) return followed ? end_state::ambiguous : end_state::missing;
  if (last != *found) return end_state::ambiguous; // some readers take the last, whatever it says
  const auto end = tail.substr(*found, end_size);
  if (number(end, 4, 2) != 0 || number(end, 6, 2) != 0) return end_state::multi_disk;
  std::uint64_t directory_ends = archive.size() - tail_size + *found;
  out = {number(end, 10, 2), number(end, 16, 4), number(end, 12, 4)};
  auto state = number(end, 8, 2) == out.entries ? end_state::found : end_state::ambiguous;
  if (directory_ends >= locator_size &&
      archive.substr(directory_ends - locator_size).starts_with(locator_mark))
    state = read_end64(archive, end, directory_ends - locator_size, out, directory_ends);
  if (state != end_state::found) return state;
  const bool fits = out.size <= directory_ends && out.offset == directory_ends - out.size;
  return fits ? state : end_state::ambiguous;
}

std::optional<std::vector<raw_entry>> read_entries(std::string_view archive,
                                                   const directory_end& end) {
  const auto directory = part(archive, end.offset, end.size);
  if (!directory || end.entries > directory->size() / central_size) return std::nullopt;
  std::vector<raw_entry> entries;
  entries.reserve(static_cast<std::size_t>(end.entries));
  std::string_view rest = *directory;
  for (std::uint64_t i = 0; i < end.entries; ++i) {
    const auto head = part(rest, 0, central_size);
    if (!head || !head->starts_with(central_mark)) return std::nullopt;
    const auto name_size = number(*head, 28, 2);
    const auto extra_size = number(*head, 30, 2);
    const auto comment_size = number(*head, 32, 2);
    const auto name = part(rest, central_size, name_size);
    const auto extra = part(rest, central_size + name_size, extra_size);
    const auto whole = part(rest, 0, central_size + name_size + extra_size + comment_size);
    if (!name || !extra || !whole) return std::nullopt;
    raw_entry entry{.name = *name,
                    .flags = static_cast<std::uint16_t>(number(*head, 8, 2)),
                    .method = static_cast<std::uint16_t>(number(*head, 10, 2)),
                    .checksum = static_cast<std::uint32_t>(number(*head, 16, 4)),
                    .packed = number(*head, 20, 4),
                    .size = number(*head, 24, 4),
                    .offset = number(*head, 42, 4)};
    if (number(*head, 34, 2) != 0) return std::nullopt; // on another disk
    if (!widen(*extra, {&entry.size, &entry.packed, &entry.offset})) return std::nullopt;
    entry.contradicted =
        contradicts(*extra, *name) || contradicts(local_extra(archive, entry.offset), *name);
    entries.push_back(entry);
    rest.remove_prefix(whole->size());
  }
  if (!rest.empty()) return std::nullopt;
  return entries;
}

namespace {

constexpr std::uint16_t flags_that_count = 0x2849; // encryption, descriptor, names in UTF-8

/// Whether the bytes after an entry's data are its descriptor, in one of the four forms there are.
bool is_descriptor(std::string_view bytes, const raw_entry& entry) {
  constexpr std::string_view mark = "PK\7\x08";
  const bool marked = bytes.size() == 16 || bytes.size() == 24;
  if (marked && !bytes.starts_with(mark)) return false;
  if (marked) bytes.remove_prefix(mark.size());
  if (bytes.size() != 12 && bytes.size() != 20) return false;
  const std::size_t width = (bytes.size() - 4) / 2;
  return number(bytes, 0, 4) == entry.checksum && number(bytes, 4, width) == entry.packed &&
         number(bytes, 4 + width, width) == entry.size;
}

/// Whether the local header at the entry's offset says the same, and the entry ends at `next`.
bool is_laid_out(std::string_view archive, const raw_entry& entry, std::uint64_t next) {
  const auto head = part(archive, entry.offset, local_size);
  if (!head || !head->starts_with(local_mark)) return false;
  const auto name_at = entry.offset + local_size;
  const auto name = part(archive, name_at, number(*head, 26, 2));
  const auto extra = name ? part(archive, name_at + name->size(), number(*head, 28, 2)) : name;
  if (!extra || *name != entry.name || number(*head, 8, 2) != entry.method) return false;
  if (((number(*head, 6, 2) ^ entry.flags) & flags_that_count) != 0) return false;
  std::uint64_t packed = number(*head, 18, 4);
  std::uint64_t size = number(*head, 22, 4);
  if (!widen(*extra, {&size, &packed})) return false;
  // What a descriptor follows may say nothing yet.
  const auto says = [&](std::uint64_t value, std::uint64_t truth) {
    return value == truth || (entry.has_descriptor() && value == 0);
  };
  if (!says(number(*head, 14, 4), entry.checksum) || !says(packed, entry.packed) ||
      !says(size, entry.size))
    return false;
  const auto data_at = name_at + name->size() + extra->size();
  if (data_at > next || entry.packed > next - data_at) return false;
  const auto after = part(archive, data_at + entry.packed, next - data_at - entry.packed);
  if (!after) return false;
  return entry.has_descriptor() ? is_descriptor(*after, entry) : after->empty();
}

} // namespace

bool is_without_gaps(std::string_view archive, const directory_end& end,
                     const std::vector<raw_entry>& entries) {
  std::vector<const raw_entry*> in_order;
  in_order.reserve(entries.size());
  for (const auto& entry : entries)
    in_order.push_back(&entry);
  std::ranges::sort(in_order, {}, &raw_entry::offset);
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    const auto next = i + 1 < in_order.size() ? in_order[i + 1]->offset : end.offset;
    if (in_order[i]->offset != at || !is_laid_out(archive, *in_order[i], next)) return false;
    at = next;
  }
  return at == end.offset;
}

} // namespace paddock::zip
