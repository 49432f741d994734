// SPDX-License-Identifier: MIT
#pragma once

// What entries held, in files that only grow: packs. Each content has a checked header and is named
// by a sum of its bytes, so none is there twice.

#include "history/content_sum.hpp"
#include "history/known_state.hpp"
#include "history/store_directory.hpp"

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace paddock::history {

/// Where a content is.
struct located_content {
  std::uint32_t pack = 0;
  std::uint32_t offset = 0; ///< of its bytes

  friend auto operator<=>(const located_content&, const located_content&) = default;
};

/// Where contents are, by their names: sixteen bytes for each, as there may be a million. Not
/// thread-safe. Of the 128 bits of a name 74 count; who reads a content compares them all.
class content_table {
public:
  [[nodiscard]] std::optional<located_content> find(const content_id& id) const {
    const auto& in = shards_[shard_of(id)];
    const auto found = place(in, id);
    return found != in.end() && found->low == id.low ? std::optional(found->at) : std::nullopt;
  }
  void set(const content_id& id, const located_content& at) {
    auto& in = shards_[shard_of(id)];
    const auto found = place(in, id);
    if (found != in.end() && found->low == id.low) {
      in[static_cast<std::size_t>(found - in.begin())].at = at;
      return;
    }
    const auto before = found - in.begin();
    if (in.size() == in.capacity()) in.reserve(in.size() + in.size() / 8 + 2);
    in.insert(in.begin() + before, {.low = id.low, .at = at});
  }
  void erase(const content_id& id) {
    auto& in = shards_[shard_of(id)];
    const auto found = place(in, id);
    if (found != in.end() && found->low == id.low) in.erase(found);
  }
  void clear() { shards_ = {}; }
  /// In the order of the packs.
  [[nodiscard]] std::vector<located_content> all() const {
    std::vector<located_content> out;
    for (const auto& each : shards_)
      for (const slot& one : each)
        out.push_back(one.at);
    std::ranges::sort(out);
    return out;
  }

private:
  struct slot {
    std::uint64_t low = 0;
    located_content at{};
  };
  static constexpr unsigned shard_bits = 10;
  using shard = std::vector<slot>; ///< by `low`

  [[nodiscard]] static std::size_t shard_of(const content_id& id) noexcept {
    return id.high >> (64U - shard_bits);
  }
  [[nodiscard]] static shard::const_iterator place(const shard& in, const content_id& id) {
    return std::ranges::lower_bound(in, id.low, {}, &slot::low);
  }

  std::array<shard, std::size_t{1} << shard_bits> shards_;
};

/// A pack that is larger gets no further content.
inline constexpr std::uint64_t pack_bytes_max = std::uint64_t{32} << 20U;

/// Bytes, and the name that they get if no others have it.
struct named_content {
  std::string bytes;
  content_id name;
};

/// Not thread-safe, but for `named`; a caller of `catch_up`, `add` or `flush` holds the store's
/// lock.
class content_packs {
public:
  content_packs(int directory, const content_key& key) : directory_(directory), key_(key) {}

  /// Whether one of them is a pack.
  [[nodiscard]] static bool has_any(std::span<const store_file> files);
  /// Learns what is there, among the files of the store, that was not known yet. Errors: those of
  /// reading, cancelled, timed_out; the next time it goes on.
  [[nodiscard]] result<void> catch_up(std::span<const store_file> files,
                                      const work_bounds& bounds = {});
  /// Forgets everything, for another `catch_up`.
  void forget();

  [[nodiscard]] named_content named(std::string bytes) const;
  /// Holds bytes; they are on the way to the file until `flush`. Errors: those of writing;
  /// too_large where `room` bytes are not enough.
  [[nodiscard]] result<content_id> add(named_content&& content, std::uint64_t room);
  [[nodiscard]] result<void> flush();
  /// Puts what was written on the disk.
  [[nodiscard]] result<void> sync();

  /// Removes what is not wanted: a pack that has little of what is gets its contents copied.
  /// Errors: those of writing; what is wanted is there still. No more than `room` bytes are taken
  /// for that. Ends at the bounds, too; `forget` then forgets what is half done.
  [[nodiscard]] result<void> rewrite(const std::function<bool(const content_id&)>& is_wanted,
                                     std::uint64_t room, const work_bounds& bounds = {});
  /// What has come to the files, and is on the way there, since the last `catch_up`.
  [[nodiscard]] std::uint64_t grown() const noexcept { return grown_; }

  [[nodiscard]] bool has(const content_id& id) const { return contents_.find(id).has_value(); }
  /// Errors: not_found; io (what is there is damaged).
  [[nodiscard]] result<std::string> read(const content_id& id) const;
  /// 0 where it is not there.
  [[nodiscard]] std::uint64_t size_of(const content_id& id) const;

  /// The places of all, and what the pack says of one. Errors: io.
  [[nodiscard]] std::vector<located_content> all() const { return contents_.all(); }
  struct description {
    content_id id{};
    std::uint64_t size = 0;
  };
  [[nodiscard]] result<description> described(const located_content& at) const;
  /// Of a content that is described so. Errors: those of `read`.
  [[nodiscard]] result<std::string> read(const located_content& at, const description& of) const;

private:
  [[nodiscard]] result<void> learn(std::uint32_t pack, int fd, std::uint64_t size);
  [[nodiscard]] result<void> begin_pack();
  [[nodiscard]] result<void> sync_pack();
  /// Into the pack that grows; with the failure of reading that ended it. Errors: those of writing.
  [[nodiscard]] result<std::optional<error>>
  copy_out(std::span<const located_content> contents,
           const std::function<bool(const content_id&)>& is_wanted, const work_bounds& bounds);
  [[nodiscard]] result<const file_descriptor*> opened(std::uint32_t pack) const;

  /// On the way to the pack that grows.
  struct waiting {
    content_id name;
    std::uint32_t offset = 0; ///< of its bytes, in the pack
    std::string head, bytes;
  };

  /// Null where it is in its pack already.
  [[nodiscard]] const waiting* is_waiting(const located_content& at) const;

  int directory_;
  content_key key_;
  content_table contents_;
  std::uint32_t pack_ = 0; ///< the one that grows; 0: none
  std::uint64_t end_ = 0;  ///< of it, without what waits
  bool is_sealed_ = true;  ///< it gets nothing more
  bool is_listed_ = false; ///< its name is on the disk
  std::uint64_t grown_ = 0;
  std::vector<waiting> waiting_;
  std::uint64_t waiting_bytes_ = 0;
  file_descriptor out_;
  mutable std::map<std::uint32_t, file_descriptor> open_;
};

} // namespace paddock::history
