// SPDX-License-Identifier: MIT
#include "search/walk.hpp"
#include "search/work_pace.hpp"
#include "sys/syscall.hpp"

#include <paddock/search/find_files.hpp>

#include <fcntl.h>
#include <linux/openat2.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <mutex>
#include <utility>

namespace paddock {
namespace {

/// A path that matched, where the time of its last change counts.
struct dated_path {
  std::string path;
  std::int64_t modified_ns = 0;
};

/// Whether the link leads to a file, or nowhere, by the kernel's word. A protected file is told as
/// what leads nowhere is, so that nobody has to ask what is protected.
bool leads_to_file(const root& root, const std::string& path) {
  if (root.resolver() != resolver::openat2) return false;
  const auto target = sys::openat2(root.descriptor(), path.c_str(), O_PATH, 0,
                                   RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS);
  if (!target) {
    const int why = target.error().os_errno;
    return why == ENOENT || why == EXDEV || why == ELOOP || why == ENOTDIR;
  }
  const auto status = sys::fstat(target->get());
  return status && status->kind == entry_kind::file;
}

entry_kind followed(const root& root, const std::string& path) {
  if (leads_to_file(root, path)) return entry_kind::file;
  const auto target = root.open_beneath(path, access::inspect);
  return target ? target->status.kind : entry_kind::file;
}

bool is_wanted(const root& root, const std::string& path, const walked_entry& entry,
               wanted_kind kind) {
  if (kind == wanted_kind::any) return true;
  entry_kind is = entry.leads_to_file ? entry_kind::file : entry.kind;
  if (is == entry_kind::symlink) is = followed(root, path);
  return is == (kind == wanted_kind::file ? entry_kind::file : entry_kind::directory);
}

/// When entries were changed, directory by directory.
class modification_times {
public:
  explicit modification_times(const root& root) : root_(root) {}

  std::int64_t of(const walked_directory& in, const walked_entry& entry) {
    if (opened_ != &in) {
      auto found = open_again(root_, in);
      fd_ = found ? *std::move(found) : file_descriptor();
      opened_ = &in;
    }
    const auto status = sys::entry_status_at(fd_.get(), in.name(entry).data());
    return status ? status->modified_ns : 0;
  }

private:
  const root& root_;
  const walked_directory* opened_ = nullptr;
  file_descriptor fd_;
};

/// A directory whose path comes before that of an entry it does not come directly before: the
/// paths of `a`, `a-b` and `a/c` are in order, and the walk meets `a-b` first.
struct early_directory {
  std::size_t before, entry; ///< their numbers
};

std::vector<early_directory> early_directories(const walked_directory& in) {
  std::vector<early_directory> found;
  const auto name = [&](std::size_t i) { return in.name(in.entries[i]); };
  for (std::size_t i = 0; i < in.entries.size(); ++i) {
    if (in.entries[i].kind != entry_kind::directory) continue;
    std::size_t at = i;
    while (at > 0 && name(at - 1).starts_with(name(i)))
      --at;
    if (at < i) found.push_back({at, i});
  }
  std::ranges::sort(found, [](const early_directory& a, const early_directory& b) {
    return a.before != b.before ? a.before < b.before : a.entry > b.entry;
  });
  return found;
}

/// Follows a walk in bytewise order of the paths, counts what is wanted, and frees what it has
/// seen: most of what a list of very many files takes is memory that is used for the first time.
class finder {
public:
  finder(const root& root, const glob& wanted, const find_options& options, const path_taker& take)
      : root_(root), wanted_(wanted), options_(options), take_(take), times_(root),
        work_(options.bounds, look_match_steps) {}

  /// Looks at what can be looked at by now, in whichever thread has entered the directory; how many
  /// bytes it holds more.
  std::int64_t follow(walked_directory& entered) {
    const std::lock_guard lock(mutex_);
    entered.is_entered = true;
    if (!began_) open_.push_back(place_in(entered));
    if (!began_) skipped_ = entered.path.empty() ? 0 : entered.path.size() + 1;
    began_ = true;
    go_on(pace::of_the_walk);
    return std::exchange(kept_bytes_, 0);
  }

  /// The rest, after the walk; how many there are. Errors: those of the bounds but for the
  /// deadline, which is told.
  result<std::uint64_t> end(walked_tree& tree) {
    go_on(pace::to_the_end);
    if (within_) within_ = options_.bounds.check();
    if (within_)
      within_ = tree.memory.grow(static_cast<std::uint64_t>(kept_bytes_), options_.bounds);
    if (!within_ && within_.error().code != error_code::timed_out) return within_.error();
    if (!within_) tree.coverage.ended_early = within_.error().code;
    if (options_.order == found_order::modified) take_newest();
    return total_;
  }

private:
  enum class pace : std::uint8_t { of_the_walk, to_the_end };
  /// How much of a directory was looked at.
  struct place {
    walked_directory* in;
    std::vector<early_directory> early;
    std::vector<bool> looked_at{}; ///< entries that were early; empty before the first
    std::size_t entry = 0, next_early = 0;
  };

  static place place_in(walked_directory& in) { return {&in, early_directories(in)}; }

  void go_on(pace wanted) {
    while (!open_.empty() && within_) {
      place& here = open_.back();
      if (here.entry == here.in->entries.size()) {
        leave();
        continue;
      }
      walked_directory* const inside = here.in->entries[here.entry].inside.get();
      if (inside != nullptr && !inside->is_entered && wanted == pace::of_the_walk) return;
      look_at_next(here);
      if (inside != nullptr) open_.push_back(place_in(*inside));
    }
  }

  void look_at_next(place& here) {
    const std::vector<walked_entry>& entries = here.in->entries;
    for (; here.next_early < here.early.size(); ++here.next_early) {
      const early_directory& next = here.early[here.next_early];
      if (next.before != here.entry) break;
      here.looked_at.resize(entries.size());
      here.looked_at[next.entry] = true;
      look_at(*here.in, entries[next.entry]);
    }
    const std::size_t number = here.entry++;
    if (here.looked_at.empty() || !here.looked_at[number]) look_at(*here.in, entries[number]);
  }

  /// Frees a directory, but for its rules, which what was left out is counted by.
  void leave() {
    walked_directory& left = *open_.back().in;
    if (left.own_rules) rules_.push_back(std::move(left.own_rules));
    open_.pop_back();
    path_in_ = nullptr;
    if (!open_.empty()) open_.back().in->entries[open_.back().entry - 1].inside.reset();
  }

  void look_at(const walked_directory& in, const walked_entry& entry) {
    if (within_ && ++met_ % look_entries == 0) within_ = options_.bounds.check();
    if (!within_) return;
    if (path_in_ != &in) {
      path_.assign(in.path).append(in.path.empty() ? "" : "/");
      name_at_ = path_.size();
      path_in_ = &in;
    }
    path_.resize(name_at_);
    path_ += in.name(entry);
    const bool named = wanted_.matches(std::string_view(path_).substr(skipped_), work_);
    if (!work_.within()) within_ = work_.within();
    if (!within_ || !named || !is_wanted(root_, path_, entry, options_.kind)) return;
    const std::uint64_t number = total_++;
    if (options_.order == found_order::modified) {
      kept_bytes_ += static_cast<std::int64_t>(sizeof(dated_path) + path_.size());
      dated_.push_back({path_, times_.of(in, entry)});
    } else if (number >= options_.offset && number - options_.offset < options_.limit) {
      kept_bytes_ += static_cast<std::int64_t>(sizeof(std::string) + path_.size());
      take_(path_);
    }
  }

  /// The others are only parted from those of the page, so very many take one look at each, about.
  void take_newest() {
    const std::uint64_t begin = std::min<std::uint64_t>(options_.offset, total_);
    const std::uint64_t end = begin + std::min<std::uint64_t>(options_.limit, total_ - begin);
    const auto at = [&](std::uint64_t i) {
      return dated_.begin() + static_cast<std::ptrdiff_t>(i);
    };
    const auto before = [](const dated_path& a, const dated_path& b) {
      return a.modified_ns != b.modified_ns ? a.modified_ns > b.modified_ns : a.path < b.path;
    };
    if (begin > 0) std::nth_element(at(0), at(begin), dated_.end(), before);
    if (end < total_) std::nth_element(at(begin), at(end), dated_.end(), before);
    std::sort(at(begin), at(end), before);
    for (std::uint64_t i = begin; i < end; ++i)
      take_(dated_[i].path);
  }

  const root& root_;
  const glob& wanted_;
  const find_options& options_;
  const path_taker& take_;

  std::mutex mutex_; ///< of all below, during the walk
  modification_times times_;
  work_pace work_;
  bool began_ = false;
  std::vector<place> open_; ///< a directory, the one in it that is looked at, and so on
  std::vector<std::unique_ptr<ignore_frame>> rules_;
  std::size_t skipped_ = 0; ///< of the path of the directory where it began
  std::string path_;        ///< of what is looked at, which is in `path_in_`
  const walked_directory* path_in_ = nullptr;
  std::size_t name_at_ = 0;
  result<void> within_;
  std::uint64_t met_ = 0, total_ = 0;
  std::int64_t kept_bytes_ = 0;
  std::vector<dated_path> dated_;
};

} // namespace

result<found_files> find_files(const root& root, std::string_view path, const glob& wanted,
                               const find_options& options, const path_taker& take) {
  finder found(root, wanted, options, take);
  const auto follow = [&](walked_directory& entered) { return found.follow(entered); };
  PADDOCK_TRY(walked_tree tree,
              walk(root, path,
                   {.ignored = options.ignored == ignore_files::respect ? ignored_entries::leave_out
                                                                        : ignored_entries::include,
                    .mark_links = options.kind != wanted_kind::any,
                    .threads_max = options.threads_max,
                    .entries_max = options.entries_max,
                    .bounds = options.bounds,
                    .entered = follow}));
  PADDOCK_TRY(const auto total, found.end(tree));
  return found_files{.paths = {}, .total = total, .coverage = std::move(tree.coverage)};
}

result<found_files> find_files(const root& root, std::string_view path, const glob& wanted,
                               const find_options& options) {
  std::vector<std::string> paths;
  auto found = find_files(root, path, wanted, options,
                          [&](std::string_view each) { paths.emplace_back(each); });
  if (found) found->paths = std::move(paths);
  return found;
}

} // namespace paddock
