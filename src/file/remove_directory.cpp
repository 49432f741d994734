// SPDX-License-Identifier: MIT
#include "file/change_observer.hpp"
#include "file/directory_stream.hpp"
#include "file/remove_tree.hpp"
#include "file/replace.hpp"
#include "sys/syscall.hpp"

#include <paddock/file/directory.hpp>

#include <fcntl.h>

#include <cerrno>
#include <utility>
#include <vector>

namespace paddock {
namespace {

constexpr std::size_t open_directories_max = 16;
constexpr unsigned rescans_max = 64;
/// Of the directories in one directory, so that a large one takes no more memory than others.
constexpr std::size_t directories_remembered_max = 4096;

std::int64_t half_way_to(std::int64_t deadline_ms) {
  if (deadline_ms == work_bounds::no_deadline) return deadline_ms;
  const std::int64_t now_ms = sys::monotonic_ms();
  return now_ms + (deadline_ms - now_ms) / 2;
}

error removal_refusal(error_code code, int os_errno = 0) {
  return {code, os_errno, "remove directory"};
}

/// What is done on a way through the tree.
enum class pass : std::uint8_t {
  look,   ///< for what has to stay, so that nothing is removed when something has to
  remove, ///< whatever there is now
};

/// Removes a tree without recursion. Directories on the way down are held open, but only the
/// deepest few; a closed one is opened again through `..` of its child and has to be the same
/// object with the same parent, so that moving a directory away meanwhile ends the removal instead
/// of leading it elsewhere.
class tree_remover {
public:
  tree_remover(const place& top, const remove_options& options, const root* keeping,
               std::uint64_t& removed)
      : top_(top), options_(options), keeping_(keeping), removed_(removed) {}

  result<void> run() {
    PADDOCK_TRY(outside_, sys::status_at(top_.parent.get(), ""));
    if (keeping_ != nullptr) {
      in_place_ = keeping_->protected_in_place();
      bounds_.deadline_ms = half_way_to(bounds_.deadline_ms);
      const auto looked = walk(pass::look);
      // What takes too long to look at has to get smaller with every call all the same.
      if (!looked && looked.error().code != error_code::timed_out) return looked;
      levels_.clear();
      bounds_ = options_.bounds;
    }
    return walk(pass::remove);
  }

private:
  struct level {
    component name;
    file_descriptor fd; ///< closed when too many are open
    file_status status;
    std::vector<std::string> directories; ///< children still to be removed
    bool scanned = false;
    bool partly = false;        ///< the last scan ended early, because it had found enough
    unsigned scans = 0;         ///< that saw the end
    bool read = false;          ///< `fd` is not at the beginning
    std::int64_t looked_to = 0; ///< where looking goes on
  };

  result<void> walk(pass way) {
    PADDOCK_CHECK(enter(top_.parent.get(), top_.name));
    // Another directory may have got the name since the rules were asked about this one.
    if (top_.existing && !top_.existing->same_object(levels_.back().status))
      return removal_refusal(error_code::conflict);
    while (!levels_.empty()) {
      PADDOCK_CHECK(bounds_.check());
      level& now = levels_.back();
      if (!now.scanned) PADDOCK_CHECK(way == pass::look ? look(now) : scan(now));
      if (now.directories.empty()) {
        PADDOCK_CHECK(leave(way));
        continue;
      }
      PADDOCK_TRY(const auto child, component::from(now.directories.back()));
      now.directories.pop_back();
      auto entered = enter(now.fd.get(), child);
      // Gone already, or no directory any more: the next scan sees what it is now.
      if (!entered && entered.error().code != error_code::not_found &&
          entered.error().code != error_code::not_a_directory)
        return entered.error();
    }
    return {};
  }

  /// The path of an entry of the deepest directory.
  [[nodiscard]] std::string path_of(std::string_view name) const {
    std::string path = top_.path;
    for (std::size_t i = 1; i < levels_.size(); ++i)
      path.append("/").append(levels_[i].name.c_str());
    return path.append("/").append(name);
  }

  /// Fails when an entry of the deepest directory has to stay.
  result<void> check_removable(std::string_view name) const {
    PADDOCK_CHECK(bounds_.check());
    if (keeping_ == nullptr) return {};
    // One that was renamed is known by what it is, which takes a look at each.
    if (!keeping_->is_hidden_name(name) && (in_place_ || !keeping_->is_protected(path_of(name))))
      return {};
    if (options_.kept != nullptr) *options_.kept = path_of(name);
    return removal_refusal(error_code::protected_entry);
  }

  result<void> enter(int parent, const component& name) {
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK;
    PADDOCK_TRY(auto fd, sys::openat(parent, name.c_str(), flags));
    PADDOCK_TRY(const auto status, sys::status_at(fd.get(), ""));
    if (status.mount != outside_.mount || status.device != outside_.device)
      return removal_refusal(error_code::crosses_mount, EXDEV);
    levels_.push_back({.name = name, .fd = std::move(fd), .status = status, .directories = {}});
    if (levels_.size() > open_directories_max)
      levels_[levels_.size() - 1 - open_directories_max].fd.reset();
    return {};
  }

  /// Remembers the directories.
  result<void> look(level& now) {
    if (std::exchange(now.read, true)) {
      PADDOCK_TRY(now.fd, sys::openat(now.fd.get(), ".", O_RDONLY | O_DIRECTORY));
      PADDOCK_CHECK(sys::seek(now.fd.get(), now.looked_to));
    }
    now.scanned = true;
    now.partly = false;
    result<void> failed;
    PADDOCK_CHECK(for_each_entry(
        now.fd.get(),
        [&](std::string_view name, unsigned char type) {
          if (failed = check_removable(name); !failed) return false;
          if (type == DT_DIR || type == DT_UNKNOWN) now.directories.emplace_back(name);
          now.partly = now.directories.size() == directories_remembered_max;
          return !now.partly;
        },
        &now.looked_to));
    return failed;
  }

  /// Unlinks everything but directories, and remembers those.
  result<void> scan(level& now) {
    if (now.scans == rescans_max) return removal_refusal(error_code::not_empty, ENOTEMPTY);
    if (std::exchange(now.read, true)) {
      PADDOCK_TRY(now.fd, sys::openat(now.fd.get(), ".", O_RDONLY | O_DIRECTORY));
    }
    now.scanned = true;
    now.partly = false;
    result<void> failed;
    PADDOCK_CHECK(for_each_entry(now.fd.get(), [&](std::string_view name, unsigned char type) {
      if (failed = check_removable(name); !failed) return false;
      if (type == DT_DIR) {
        now.directories.emplace_back(name);
        now.partly = now.directories.size() == directories_remembered_max;
        return !now.partly;
      }
      const auto gone =
          unlink_reported(now.fd.get(), name.data(), is_observed() ? path_of(name) : std::string());
      if (gone) {
        ++removed_;
      } else if (gone.error().code == error_code::is_a_directory) {
        now.directories.emplace_back(name);
      } else if (gone.error().code != error_code::not_found) {
        failed = gone.error();
        return false;
      }
      return true;
    }));
    now.scans += now.partly ? 0 : 1;
    return failed;
  }

  /// Removes the deepest directory, now believed to be empty, and goes back to its parent.
  result<void> leave(pass way) {
    level& child = levels_.back();
    if (child.partly) {
      child.scanned = false;
      return {};
    }
    int parent = top_.parent.get();
    if (levels_.size() > 1) {
      PADDOCK_CHECK(reopen_parent());
      parent = levels_[levels_.size() - 2].fd.get();
    }
    if (way == pass::look) {
      levels_.pop_back();
      return {};
    }
    if (levels_.size() == 1) {
      const auto now = sys::status_at(parent, child.name.c_str(), AT_SYMLINK_NOFOLLOW);
      if (now && !now->same_object(child.status)) return removal_refusal(error_code::conflict);
    }
    auto gone = sys::unlinkat(parent, child.name.c_str(), AT_REMOVEDIR);
    if (!gone && gone.error().code == error_code::not_empty) {
      child.scanned = false; // somebody adds entries meanwhile
      return {};
    }
    if (!gone && gone.error().code != error_code::not_found) return gone.error();
    if (gone) ++removed_;
    levels_.pop_back();
    return {};
  }

  result<void> reopen_parent() {
    level& parent = levels_[levels_.size() - 2];
    if (parent.fd) return {};
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
    PADDOCK_TRY(auto fd, sys::openat(levels_.back().fd.get(), "..", flags));
    PADDOCK_TRY(const auto status, sys::status_at(fd.get(), ""));
    if (!status.same_object(parent.status)) return removal_refusal(error_code::conflict);
    // An inode number can be used again; a directory with the same number in the same place cannot
    // be forged as easily, so the grandparent has to fit too.
    PADDOCK_TRY(const auto above, sys::status_at(fd.get(), ".."));
    if (levels_.size() > 2 && !above.same_object(levels_[levels_.size() - 3].status))
      return removal_refusal(error_code::conflict);
    parent.fd = std::move(fd);
    return {};
  }

  const place& top_;
  const remove_options& options_;
  work_bounds bounds_ = options_.bounds; ///< of this pass
  const root* keeping_;                  ///< whose hidden entries are not removed
  bool in_place_ = true;                 ///< none of them was renamed
  file_status outside_;                  ///< of the directory that holds the top
  std::vector<level> levels_;
  std::uint64_t& removed_;
};

} // namespace

result<std::uint64_t> remove_tree(const place& top, const remove_options& options,
                                  const root* keeping) {
  std::uint64_t here = 0;
  std::uint64_t& removed = options.entries_removed != nullptr ? *options.entries_removed : here;
  removed = 0;
  PADDOCK_CHECK(tree_remover(top, options, keeping, removed).run());
  return removed;
}

result<removed> remove_directory(const root& root, std::string_view path, remove_options options) {
  const bool whole = options.recursive == recursion::yes;
  PADDOCK_TRY(place where, root.locate(path, final_link::keep, parents::require,
                                       whole ? purpose::remove_tree : purpose::change));
  if (!where.existing) return removal_refusal(error_code::not_found, ENOENT);
  if (where.existing->kind != entry_kind::directory)
    return removal_refusal(error_code::not_a_directory, ENOTDIR);
  PADDOCK_CHECK(check_writable(where));
  if (!whole) {
    PADDOCK_CHECK(sys::unlinkat(where.parent.get(), where.name.c_str(), AT_REMOVEDIR));
    return removed{std::move(where.path), 1};
  }
  PADDOCK_TRY(const auto entries, remove_tree(where, options, &root));
  return removed{std::move(where.path), entries};
}

} // namespace paddock
