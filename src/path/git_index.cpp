// SPDX-License-Identifier: MIT
#include "path/git_index.hpp"

#include "path/name_folding.hpp"

#include <paddock/base/limits.hpp>
#include <paddock/path/detail/git_paths.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace paddock {
namespace {

constexpr std::string_view index_magic = "DIRC";
constexpr std::size_t head_size = 12, stat_size = 40, mode_at = 24, mode_size = 4;
constexpr std::size_t extension_head = 8;
constexpr std::uint32_t first_version = 2, flags_version = 3, last_version = 4;
constexpr unsigned extended_flag = 0x4000, name_size_mask = 0xFFF;

std::uint32_t big_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (const char each : bytes.substr(at, size))
    value = value << 8U | static_cast<unsigned char>(each);
  return value;
}

class index_reader {
public:
  index_reader(std::string_view bytes, std::size_t object_size, const on_git_index_entry& entry,
               const on_git_index_extension& extension)
      : left_(bytes), object_size_(object_size), entry_(entry), extension_(extension) {}

  bool read() {
    if (left_.size() < head_size + object_size_ || !left_.starts_with(index_magic)) return false;
    version_ = big_endian(left_, 4, 4);
    const std::uint32_t count = big_endian(left_, 8, 4);
    if (version_ < first_version || version_ > last_version) return false;
    left_ = left_.substr(head_size, left_.size() - head_size - object_size_);
    for (std::uint32_t i = 0; i < count; ++i)
      if (!take_entry()) return false;
    while (!left_.empty())
      if (!take_extension()) return false;
    return true;
  }

private:
  bool take_entry() {
    std::size_t at = stat_size + object_size_ + 2;
    if (left_.size() < at + 2) return false;
    const std::uint32_t flags = big_endian(left_, at - 2, 2);
    if ((flags & extended_flag) != 0) at += 2;
    if ((flags & extended_flag) != 0 && version_ < flags_version) return false;
    const std::string_view said = left_.substr(stat_size, at - stat_size);
    std::size_t shared = 0;
    if (version_ == last_version && !take_shared(at, shared)) return false;
    const std::size_t end = left_.find('\0', at);
    if (end == left_.npos) return false;
    const std::size_t kept = take_name(shared, left_.substr(at, end - at));
    if (name_.size() > path_bytes_max) return false;
    if ((flags & name_size_mask) != std::min<std::size_t>(name_.size(), name_size_mask))
      return false;
    if (!entry_({name_, left_.substr(mode_at, mode_size), said, offset_, shared, kept}))
      return false;
    const std::size_t size = version_ == last_version ? end + 1 : (end + 8) / 8 * 8;
    return size <= left_.size() && skip(size);
  }

  /// How much of the name before it an entry has, too; `at` is where the number is, and behind it.
  bool take_shared(std::size_t& at, std::size_t& shared) const {
    std::uint64_t dropped = 0;
    for (bool is_more = true, is_first = true; is_more; is_first = false, ++at) {
      if (at >= left_.size() || dropped > name_.size()) return false;
      const auto byte = static_cast<unsigned char>(left_[at]);
      dropped = (is_first ? 0 : (dropped + 1) << 7U) | (byte & 0x7FU);
      is_more = (byte & 0x80U) != 0;
    }
    if (dropped > name_.size()) return false;
    shared = name_.size() - dropped;
    return true;
  }

  /// How much of it the name before has, too, which need not be as much as is left out of it here.
  std::size_t take_name(std::size_t shared, std::string_view rest) {
    const std::string_view before = std::string_view(name_).substr(shared);
    const auto same = std::ranges::mismatch(before, rest).in1 - before.begin();
    name_.resize(shared);
    name_ += rest;
    return shared + static_cast<std::size_t>(same);
  }

  bool take_extension() {
    if (left_.size() < extension_head) return false;
    const std::size_t size = extension_head + std::size_t{big_endian(left_, 4, 4)};
    return size <= left_.size() && extension_(left_.substr(0, size), offset_) && skip(size);
  }

  bool skip(std::size_t size) {
    left_.remove_prefix(size);
    offset_ += size;
    return true;
  }

  std::string_view left_;
  std::size_t object_size_;
  const on_git_index_entry& entry_;
  const on_git_index_extension& extension_;
  std::size_t offset_ = head_size;
  std::uint32_t version_ = 0;
  std::string name_; ///< of the last entry
};

struct entry_place {
  std::size_t at, shared;
};

/// Git may read entries from the offsets that an extension names: an entry must begin at each.
/// `blocks` is pairs of an offset and a number of entries.
bool agrees(std::string_view blocks, const std::vector<entry_place>& entries) {
  std::size_t next = 0;
  for (; blocks.size() >= 8; blocks.remove_prefix(8)) {
    const bool is_there = next < entries.size() && entries[next].shared == 0 &&
                          entries[next].at == big_endian(blocks, 0, 4);
    if (!is_there) return false;
    next += big_endian(blocks, 4, 4);
  }
  return blocks.empty() && next == entries.size();
}

} // namespace

bool is_path_inside(std::string_view path) {
  if (path.ends_with('/')) path.remove_suffix(1);
  for (bool is_last = false; !is_last;) {
    const std::size_t end = path.find('/');
    const std::string_view name = path.substr(0, end);
    if (name.empty() || name == "." || name == ".." || same_folded(name, git_directory))
      return false;
    is_last = end == path.npos;
    if (!is_last) path.remove_prefix(end + 1);
  }
  return true;
}

bool read_git_index(std::string_view bytes, std::size_t object_bytes,
                    const on_git_index_entry& entry, const on_git_index_extension& extension) {
  return index_reader(bytes, object_bytes, entry, extension).read();
}

index_paths paths_of_index(std::string_view bytes, std::size_t object_bytes) {
  constexpr std::string_view end_of_entries = "EOIE", offsets = "IEOT", link = "link";
  constexpr std::size_t version_size = 4;
  std::vector<entry_place> entries;
  bool is_shared = false, has_unnamed = false;
  std::size_t first_extension = 0, last_extension = 0;
  const auto take_entry = [&](const git_index_entry& each) {
    entries.push_back({each.at, each.shared});
    has_unnamed = has_unnamed || each.name.empty();
    return each.name.empty() || is_path_inside(each.name);
  };
  const auto take_extension = [&](std::string_view whole, std::size_t at) {
    if (first_extension == 0) first_extension = at;
    last_extension = at;
    const std::string_view content = whole.substr(extension_head);
    is_shared = is_shared || whole.starts_with(link);
    if (whole.starts_with(end_of_entries))
      return content.size() >= 4 && big_endian(content, 0, 4) == first_extension;
    return !whole.starts_with(offsets) ||
           (content.size() >= version_size && agrees(content.substr(version_size), entries));
  };
  if (!read_git_index(bytes, object_bytes, take_entry, take_extension) ||
      (has_unnamed && !is_shared))
    return index_paths::elsewhere;
  // Git looks for it at this place, whatever is in front.
  const std::size_t end_size = extension_head + 4 + object_bytes;
  if (bytes.size() >= head_size + end_size + object_bytes) {
    const std::size_t at = bytes.size() - object_bytes - end_size;
    if (bytes.substr(at).starts_with(end_of_entries) && at != last_extension)
      return index_paths::elsewhere;
  }
  return is_shared ? index_paths::shared : index_paths::inside;
}

} // namespace paddock
