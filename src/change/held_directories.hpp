// SPDX-License-Identifier: MIT
#pragma once

// The directories that a change works in: each one is looked at once, and held by a descriptor from
// then on. What another process puts in its place meanwhile is another directory, and is never
// worked in. Of very many the descriptors of some are given up for a while; such a directory comes
// back from the one above it, and has to be the same one.

#include <paddock/base/file_descriptor.hpp>
#include <paddock/base/file_status.hpp>
#include <paddock/base/result.hpp>
#include <paddock/path/root.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

class held_directories {
public:
  /// Of one of them, for as long as this lives.
  using id = std::size_t;
  static constexpr id top = 0; ///< the root itself
  /// Whether it may be that directory: what a look before has seen at the path.
  using is_expected = std::function<bool(const std::string& path, int fd, const file_status& now)>;

  /// Both live longer. At most `held_max` descriptors at a time.
  held_directories(const root& root, is_expected expected, std::size_t held_max = 256);

  /// Looks at the directory of a path, and at those above it; each is held from then on. Errors:
  /// conflict (it is not the one that was seen), those of opening.
  [[nodiscard]] result<id> look(const std::string& path);
  /// The same of one that was made just now, where nothing was: it must be empty. Errors: conflict.
  [[nodiscard]] result<id> look_at_new(const std::string& path);

  /// Valid until the next call, and for as long as it is held. Errors: conflict (given up
  /// meanwhile, and not found again).
  [[nodiscard]] result<int> descriptor(id of);
  [[nodiscard]] bool is_held(id of) const { return of == top || all_[of].fd; }
  /// As it was when it was looked at.
  [[nodiscard]] const file_status& status(id of) const { return all_[of].status; }
  /// Where it is by the plan; moves that were told are followed.
  [[nodiscard]] const std::string& path(id of) const { return all_[of].path; }

  /// Where it lies at this moment, relative to the root; without /proc, where it was if it still is
  /// there. Errors: conflict (it is gone, or lies outside of the root).
  [[nodiscard]] result<std::string> place_of(id of);

  /// This change has moved what was at a path, with all in it.
  void follow(std::string_view from, const std::string& to);
  /// It has lost the directory, and has made another one in its place.
  [[nodiscard]] result<id> renew(const std::string& path);

private:
  struct entry {
    std::string path;
    id above = top;
    std::string name{};
    file_status status{};
    file_descriptor fd{};
    std::uint64_t used = 0;
  };
  [[nodiscard]] result<file_descriptor> open_in(id above, const std::string& name);
  [[nodiscard]] result<id> look_in(id above, const std::string& path);
  [[nodiscard]] result<id> add(const std::string& path, id above, file_descriptor fd,
                               const file_status& status);
  void give_up_some();

  const paddock::root& root_;
  is_expected expected_;
  std::size_t held_max_;
  std::size_t held_ = 0;
  std::uint64_t clock_ = 0;
  std::vector<entry> all_;
  std::map<std::string, id, std::less<>> by_path_;
};

/// What an error names where another directory has the place of one that was looked at.
inline constexpr const char* held_operation = "held directory";

/// Whether no file, link or anything else but directories is in it, at any depth. Errors: too_many
/// (deeper than 128 levels, or more than `entries_max` of them).
[[nodiscard]] result<bool> has_only_directories(int directory, std::size_t entries_max);

} // namespace paddock
