// SPDX-License-Identifier: MIT
#pragma once

// What a disk may hold when the power fails.
//
// The model: what fsync or fdatasync has confirmed is there. Of everything later, each change by
// itself is there or not, in any order: entries of directories, content of files (whole, its first
// half, zeros or rubbish in its place), modes. fdatasync confirms content and size, fsync of a file
// its mode too, fsync of a directory its entries. One rename is one step, also between two
// directories: with `renames::two_steps` even that is not taken for granted.

#include "support/fault/change_recorder.hpp"
#include "support/fault/fault_fixture.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace paddock::test {

enum class renames : unsigned char { one_step, two_steps };

class disk {
public:
  /// What is in `top` now, all of it on the disk.
  explicit disk(const std::string& top);

  void take_down(std::vector<change> changes, renames how = renames::one_step);
  [[nodiscard]] std::size_t changes() const { return changes_.size(); }

  /// Calls `judge` with every picture that may be found after a power cut behind the first `count`
  /// changes, or, where they are too many, with the extreme ones and some `samples_max` others.
  /// Returns how many these were.
  std::size_t after_power_cut(std::size_t count,
                              const std::function<void(const picture&)>& judge) const;

  static constexpr std::size_t states_max = 1024;
  static constexpr std::size_t samples_max = 512;

private:
  struct object {
    unsigned mode = 0;
    std::string content; ///< of a link, its target
    std::map<std::string, std::uint64_t> entries;
  };
  using objects = std::map<std::uint64_t, object>;

  void look_at(const std::string& path, std::uint64_t id);
  [[nodiscard]] bool is_sure(std::size_t at, std::size_t count) const;
  [[nodiscard]] static unsigned fates_of(const change& c);
  static void apply(const change& c, unsigned fate, objects& to);
  [[nodiscard]] picture picture_with(std::size_t count, const std::vector<unsigned>& fates) const;

  std::map<std::uint64_t, std::uint64_t> id_of_; ///< by inode number, which is used again
  std::uint64_t last_id_ = 0;
  objects first_;
  std::vector<change> changes_; ///< with ids for inode numbers
};

} // namespace paddock::test
