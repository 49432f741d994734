// SPDX-License-Identifier: MIT
#include "zip_directory.hpp"

#include <algorithm>
#include <utility>

namespace paddock::zip {
namespace {

// Sizes of the fixed parts of the records, and where the lengths stand in them (APPNOTE 4.3).
constexpr std::size_t end_size = 22;
constexpr std::size_t comment_max = 0xFFFF;
constexpr std::size_t locator_size = 20;
constexpr std::size_t end64_size = 56;
constexpr std::size_t central_size = 46;
constexpr std::size_t local_size = 30;
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

std::string_view local_extra(std::string_view archive, std::uint64_t at) {
  const auto head = part(archive, at, local_size);
  if (!head || !head->starts_with(local_mark)) return {};
  const auto name_size = number(*head, 26, 2);
  return part(archive, at + local_size + name_size, number(*head, 28, 2)).value_or("");
}

/// Replaces what did not fit into the old record.
end_state read_end64(std::string_view archive, std::size_t end_at, directory_end& out) {
  if (end_at < locator_size) return end_state::ambiguous;
  const auto locator = archive.substr(end_at - locator_size, locator_size);
  if (!locator.starts_with(locator_mark)) return end_state::found; // the values are meant
  const auto end64 = part(archive, number(locator, 8, 8), end64_size);
  if (!end64 || !end64->starts_with(end64_mark)) return end_state::ambiguous;
  if (number(*end64, 16, 4) != 0 || number(*end64, 20, 4) != 0) return end_state::multi_disk;
  out.entries = number(*end64, 32, 8);
  out.size = number(*end64, 40, 8);
  out.offset = number(*end64, 48, 8);
  return end_state::found;
}

} // namespace

bool begins_like_an_archive(std::string_view archive) {
  return archive.starts_with(local_mark) || archive.starts_with(end_mark);
}

end_state find_end(std::string_view archive, directory_end& out) {
  const auto tail_size = std::min(archive.size(), end_size + comment_max);
  const auto tail = archive.substr(archive.size() - tail_size);
  std::optional<std::size_t> found;
  bool followed = false;
  for (auto at = tail.find(end_mark); at != std::string_view::npos;
       at = tail.find(end_mark, at + 1)) {
    const auto end = part(tail, at, end_size);
    const auto ends_at = end ? at + end_size + number(*end, 20, 2) : tail.size() + 1;
    if (ends_at > tail.size()) continue; // cut off, or no record at all
    followed = followed || ends_at < tail.size();
    if (ends_at != tail.size()) continue;
    if (found) return end_state::ambiguous;
    found = at;
  }
  if (!found) return followed ? end_state::ambiguous : end_state::missing;
  const auto end = tail.substr(*found, end_size);
  if (number(end, 4, 2) != 0 || number(end, 6, 2) != 0) return end_state::multi_disk;
  out = {number(end, 10, 2), number(end, 16, 4), number(end, 12, 4)};
  const auto end_at = archive.size() - tail_size + *found;
  if (out.entries == 0xFFFF || out.offset == 0xFFFFFFFF || out.size == 0xFFFFFFFF)
    return read_end64(archive, end_at, out);
  return end_state::found;
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
    entries.push_back(
        {.name = *name,
         .contradicted = contradicts(*extra, *name) ||
                         contradicts(local_extra(archive, number(*head, 42, 4)), *name),
         .encrypted = (number(*head, 8, 2) & 1U) != 0,
         .method = static_cast<std::uint16_t>(number(*head, 10, 2))});
    rest.remove_prefix(whole->size());
  }
  return entries;
}

} // namespace paddock::zip
