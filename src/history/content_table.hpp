// SPDX-License-Identifier: MIT
#pragma once

// Where contents are, by their names: sixteen bytes for each, as there may be a million.

#include "history/known_state.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace paddock::history {

/// Where a content is.
struct located_content {
  std::uint32_t pack = 0;
  std::uint32_t offset = 0; ///< of its bytes

  friend auto operator<=>(const located_content&, const located_content&) = default;
};

/// Not thread-safe. Of the 128 bits of a name 74 count; who reads a content compares them all.
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

} // namespace paddock::history
