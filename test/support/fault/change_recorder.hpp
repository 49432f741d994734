// SPDX-License-Identifier: MIT
#pragma once

// Every change of a file system that the library makes, in its order, taken down by the wrappers of
// faulty_sys.cpp. For the simulated power cut, see power_cut.hpp.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace paddock::test {

struct change {
  enum class kind : unsigned char {
    nameless, ///< `object`, without a name
    create,   ///< `object` as `name` in `directory`
    remove,   ///< `name` from `directory`
    rename,   ///< `name` in `directory` to `other_name` in `other_directory`
    exchange, ///< these two
    link,     ///< `object`, also as `name` in `directory`
    write,    ///< `bytes` at `offset` of `object`
    truncate, ///< `object` to `offset`
    mode,     ///< of `object`
    times,    ///< of `object`: changed at `offset`, in nanoseconds
    sync_data,
    sync,
    sync_all, ///< everything
  };
  kind what = kind::sync;
  std::uint64_t object = 0; ///< an inode number
  std::uint64_t directory = 0;
  std::string name;
  std::uint64_t other_directory = 0;
  std::string other_name;
  std::uint64_t offset = 0;
  std::string bytes; ///< of a link that is made: its target
  unsigned mode = 0; ///< with its type; of `create` and `mode`
};

/// Takes down the changes on one device while it lives; one at a time.
class recording {
public:
  explicit recording(dev_t device);
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;
  ~recording();

  std::vector<change> changes;

  [[nodiscard]] static recording* current();
  /// 0: none, or on another device.
  [[nodiscard]] std::uint64_t number_of(int fd) const;
  [[nodiscard]] std::uint64_t number_of(int dirfd, const char* name, unsigned* mode) const;
  /// Through links, such as the names of descriptors in /proc.
  [[nodiscard]] std::uint64_t number_behind(const char* path) const;

private:
  dev_t device_;
};

} // namespace paddock::test
