// SPDX-License-Identifier: MIT
#pragma once

// What a disk may hold when the power fails.
//
// The model: what fsync or fdatasync has confirmed is there. Of everything later, each change by
// itself is there or not, in any order: entries of directories, content of files (whole, its first
// half, zeros or rubbish in its place), modes, times. fdatasync confirms content and size, fsync of
// a file its mode and time too, fsync of a directory its entries and the times of links in it,
// which nothing else confirms, syncfs everything. One rename is one step, also between two
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

/// What a picture does not say of an entry, for who puts it back: by its path.
struct identity {
  std::uint64_t inode = 0; ///< what it was when the change was recorded
  std::uint64_t modified_ns = 0;
};
using identities = std::map<std::string, identity>;

class disk {
public:
  /// What is in `top` now, all of it on the disk.
  explicit disk(const std::string& top);

  void take_down(std::vector<change> changes, renames how = renames::one_step);
  [[nodiscard]] std::size_t changes() const { return changes_.size(); }
  /// How many of them the first `taken` were that were taken down: what has no name, or lies
  /// outside, does not count.
  [[nodiscard]] std::size_t changes_of(std::size_t taken) const { return counts_.at(taken); }

  /// Calls `judge` with every picture that may be found after a power cut behind the first `count`
  /// changes, or, where they are too many, with the extreme ones and some `samples_max` others.
  /// Returns how many these were.
  std::size_t after_power_cut(std::size_t count,
                              const std::function<void(const picture&)>& judge) const;
  using judge_of_identities = std::function<void(const picture&, const identities&)>;
  struct bounds {
    std::size_t states_max = 1024;
    std::size_t samples_max = 512;
  };
  std::size_t after_power_cut(std::size_t count, const judge_of_identities& judge,
                              const bounds& at_most) const;

private:
  struct object {
    unsigned mode = 0;
    std::string content; ///< of a link, its target
    std::uint64_t modified_ns = 0;
    std::map<std::string, std::uint64_t> entries;
  };
  using objects = std::map<std::uint64_t, object>;

  void look_at(const std::string& path, std::uint64_t id);
  [[nodiscard]] bool is_sure(std::size_t at, std::size_t count) const;
  [[nodiscard]] bool is_link_in(std::uint64_t id, std::uint64_t directory) const;
  [[nodiscard]] static unsigned fates_of(const change& c);
  static void apply(const change& c, unsigned fate, objects& to);
  void judge_with(std::size_t count, const std::vector<unsigned>& fates,
                  const judge_of_identities& judge) const;

  std::map<std::uint64_t, std::uint64_t> id_of_; ///< by inode number, which is used again
  std::map<std::uint64_t, std::uint64_t> inode_of_;
  std::uint64_t last_id_ = 0;
  objects first_;
  std::vector<change> changes_; ///< with ids for inode numbers
  std::vector<std::size_t> counts_;
};

} // namespace paddock::test
