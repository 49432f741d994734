// SPDX-License-Identifier: MIT
#include "history/git_keeping.hpp"

#include "change/bytes.hpp"
#include "path/git_names.hpp"

#include <paddock/base/limits.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace paddock::history {
namespace {

constexpr std::string_view index_magic = "DIRC";
constexpr std::size_t head_size = 12, stat_size = 40, mode_at = 24, mode_size = 4;
constexpr std::uint32_t first_version = 2, flags_version = 3, last_version = 4;
constexpr unsigned extended_flag = 0x4000, name_size_mask = 0xFFF;
constexpr std::size_t sha1_size = 20, sha256_size = 32;

/// `is_meant` is asked about what a path is within a repository.
template <class Predicate>
in_repository repository_where(std::string_view path, const was_there& has, Predicate is_meant) {
  const auto is_one = [&](std::string_view at) {
    const std::string beneath = at.empty() ? "" : std::string(at) + '/';
    return is_git_directory(at) ||
           is_git_repository([&](const char* name) { return has(beneath + name); });
  };
  if (is_meant(path) && is_one("")) return "";
  for (std::size_t at = path.find('/'); at != path.npos; at = path.find('/', at + 1))
    if (is_meant(path.substr(at + 1)) && is_one(path.substr(0, at))) return path.substr(0, at);
  return std::nullopt;
}

std::uint32_t big_endian(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (const char each : bytes.substr(at, size))
    value = value << 8U | static_cast<unsigned char>(each);
  return value;
}

class index_reader {
public:
  /// Of an index as a whole, which ends with the name of its bytes.
  index_reader(std::string_view bytes, std::size_t object_size)
      : left_(bytes), object_size_(object_size) {}

  std::optional<std::string> read() {
    if (left_.size() < head_size + object_size_ || !left_.starts_with(index_magic))
      return std::nullopt;
    version_ = big_endian(left_, 4, 4);
    const std::uint32_t count = big_endian(left_, 8, 4);
    if (version_ < first_version || version_ > last_version) return std::nullopt;
    left_ = left_.substr(head_size, left_.size() - head_size - object_size_);
    for (std::uint32_t i = 0; i < count; ++i)
      if (!take_entry()) return std::nullopt;
    while (!left_.empty())
      if (!take_extension()) return std::nullopt;
    return std::move(staged_);
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
    staged_.append(left_, mode_at, mode_size).append(said);
    put_number(staged_, kept);
    staged_.append(name_, kept) += '\0';
    const std::size_t size = version_ == last_version ? end + 1 : (end + 8) / 8 * 8;
    if (size > left_.size()) return false;
    left_.remove_prefix(size);
    return true;
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
  /// Emits only the suffix: whole names would be about a thousand times the index.
  std::size_t take_name(std::size_t shared, std::string_view rest) {
    const std::string_view before = std::string_view(name_).substr(shared);
    const auto same = std::ranges::mismatch(before, rest).in1 - before.begin();
    name_.resize(shared);
    name_ += rest;
    return shared + static_cast<std::size_t>(same);
  }

  bool take_extension() {
    constexpr std::size_t head = 8;
    if (left_.size() < head) return false;
    const std::size_t size = head + big_endian(left_, 4, 4);
    if (size > left_.size()) return false;
    const bool is_optional = left_[0] >= 'A' && left_[0] <= 'Z';
    if (!is_optional) staged_.append(left_, 0, size);
    left_.remove_prefix(size);
    return true;
  }

  std::string_view left_;
  std::size_t object_size_;
  std::uint32_t version_ = 0;
  std::string name_, staged_; ///< the name of the last entry
};

} // namespace

in_repository git_of_object(std::string_view path, const was_there& has) {
  return repository_where(path, has, [](auto rest) { return rest.starts_with("objects/"); });
}

in_repository git_of_note(std::string_view path, const was_there& has) {
  constexpr std::string_view names[] = {"ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "gc.log"};
  return repository_where(path, has, [&](std::string_view rest) {
    if (rest.starts_with("logs/")) return rest != "logs/refs/stash";
    return std::ranges::find(names, rest) != std::ranges::end(names);
  });
}

in_repository git_of_index(std::string_view path, const was_there& has) {
  return repository_where(path, has, [](auto rest) { return rest == "index"; });
}

std::optional<std::string> staged_in(std::string_view bytes) {
  for (const std::size_t object_size : {sha1_size, sha256_size})
    if (auto staged = index_reader(bytes, object_size).read()) return staged;
  return std::nullopt;
}

} // namespace paddock::history
