// SPDX-License-Identifier: MIT
#include "search/walk.hpp"

#include "base/parallel_tasks.hpp"
#include "search/read_names.hpp"
#include "search/work_pace.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace paddock {
namespace {

/// What is held is counted in such steps.
constexpr std::int64_t counted_at_once = std::int64_t{1} << 20;
/// Paths that are held before they are counted.
constexpr std::size_t look_paths = 64;
/// Directories held open for those in them; what is in others is found by its path.
constexpr int held_max = 128;
/// So many directories must wait before another thread is worth its start.
constexpr std::size_t waiting_worth_a_thread = 8;

/// A directory held open as long as one in it waits.
class held_directory {
public:
  held_directory(file_descriptor fd, std::atomic<int>& count) : fd_(std::move(fd)), count_(count) {
    ++count_;
  }
  held_directory(const held_directory&) = delete;
  held_directory& operator=(const held_directory&) = delete;
  ~held_directory() { --count_; }
  [[nodiscard]] int get() const noexcept { return fd_.get(); }

private:
  file_descriptor fd_;
  std::atomic<int>& count_;
};

/// A directory that is to be read.
struct task {
  walked_directory* directory = nullptr;
  bool ignored = false;                           ///< and all in it
  file_descriptor opened{};                       ///< if it is open already
  const char* name = nullptr;                     ///< in the directory above
  const walked_directory* above = nullptr;        ///< which is opened again
  std::shared_ptr<const held_directory> parent{}; ///< unless it is held open
};

result<file_descriptor> open_in(int directory, const char* name) {
  return sys::openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
}

/// What one thread has met; added up at the end.
struct tally {
  std::uint64_t entries = 0, directories = 0, ignored = 0;
  std::unordered_map<const ignore_rule*, std::pair<ignore_decision, std::uint64_t>> rules{};
  std::vector<unread_entry> unread{};
};

/// Whether what was met so far is told nevertheless.
bool ends_early(error_code code) {
  return code == error_code::timed_out || code == error_code::too_many;
}

/// What a walk takes of the budget. Rules that are read take at first what they may hold at most.
class held_memory {
public:
  held_memory(memory_share& share, const work_bounds& bounds) : share_(share), bounds_(bounds) {}

  /// So many bytes more, or less where that is negative. Errors: those of memory_share::grow.
  result<void> add(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    held_ += bytes;
    if (held_ < taken_ + counted_at_once) return {};
    PADDOCK_CHECK(share_.grow(static_cast<std::uint64_t>(held_ - taken_), bounds_));
    taken_ = held_;
    return {};
  }

private:
  std::mutex mutex_;
  memory_share& share_;
  const work_bounds& bounds_;
  std::int64_t held_ = 0, taken_ = 0;
};

class walker {
public:
  walker(const root& root, const walk_options& options, held_memory& memory, walked_tree& tree)
      : root_(root), options_(options), memory_(memory), tree_(tree) {}

  /// Reads the directory `top`, which is open, and all in it.
  result<void> run(file_descriptor fd, walked_directory& top) {
    parallel_tasks<task, tally, enter_call> walking(options_.threads_max, waiting_worth_a_thread,
                                                    {*this});
    const auto done = walking.run({.directory = &top, .opened = std::move(fd)}, tallies_);
    if (!done && !ends_early(done.error().code)) return done;
    report(done);
    return {};
  }

private:
  struct enter_call {
    walker& of;
    result<void> operator()(task& next, tally& met, std::vector<task>& more) const {
      PADDOCK_CHECK(of.enter(next, met, more));
      if (!of.options_.entered) return {};
      return of.memory_.add(of.options_.entered(*next.directory));
    }
  };

  /// Reads one directory and lists those in it in `more`. Errors are those that end the walk.
  result<void> enter(task& of, tally& met, std::vector<task>& more) {
    PADDOCK_CHECK(options_.bounds.check());
    walked_directory& here = *of.directory;
    auto fd = open(of);
    if (!fd) {
      if (fd.error().code == error_code::protected_entry) return {};
      here.read = names_read::failed;
      met.unread.push_back({here.path, fd.error().code});
      return {};
    }
    ++met.directories;
    here.read = names_read::some;
    if (const auto done = read(fd->get(), of, met); !done) {
      // Nobody may take for found what no rule was asked about.
      if (options_.ignored != ignored_entries::include) {
        here.entries.clear();
        here.read = names_read::none;
      }
      return done.error();
    }
    sort_entries(here);
    met.entries += here.entries.size();
    if (options_.sizes == file_sizes::read) PADDOCK_CHECK(read_sizes(fd->get(), here));
    if (options_.mark_links) PADDOCK_CHECK(mark_links(fd->get(), here));
    if (here.read == names_read::some) here.read = names_read::all;
    return plan(*std::move(fd), here, met, more);
  }

  /// Reads the names of a directory and applies the rules.
  result<void> read(int fd, const task& of, tally& met) {
    walked_directory& here = *of.directory;
    std::uint64_t counted = 0;
    const auto found = read_names(root_, fd, here, [&](std::uint64_t fresh) {
      const std::uint64_t held =
          here.names.capacity() + here.entries.capacity() * sizeof(walked_entry);
      return count(fresh, held - std::exchange(counted, held));
    });
    if (!found && !found.error().os_errno) return found.error();
    if (!found) {
      here.read = names_read::failed;
      met.unread.push_back({here.path, found.error().code});
    }
    if (found && found->has_rules && options_.ignored != ignored_entries::include)
      PADDOCK_CHECK(
          add_rules(root_, fd, here, [this](std::int64_t bytes) { return memory_.add(bytes); }));
    return apply_rules(here, of.ignored, met);
  }

  result<file_descriptor> open(task& of) {
    file_descriptor fd = std::move(of.opened);
    if (!fd && of.parent) {
      PADDOCK_TRY(fd, open_in(of.parent->get(), of.name));
    } else if (!fd) {
      PADDOCK_TRY(const file_descriptor above, open_again(root_, *of.above));
      PADDOCK_TRY(fd, open_in(above.get(), of.name));
    }
    PADDOCK_TRY(const auto status, sys::status_at(fd.get(), ""));
    PADDOCK_CHECK(root_.check_entered(fd.get(), status));
    of.directory->device = status.device;
    of.directory->inode = status.inode;
    return fd;
  }

  /// Counts entries and what they hold against the bounds.
  result<void> count(std::uint64_t fresh, std::uint64_t bytes) {
    PADDOCK_CHECK(options_.bounds.check());
    const std::uint64_t all = entries_.fetch_add(fresh) + fresh;
    if (all > options_.entries_max) return error{error_code::too_many, 0, "walk"};
    return hold(bytes);
  }

  result<void> hold(std::size_t bytes) { return memory_.add(static_cast<std::int64_t>(bytes)); }

  /// Marks or removes what is ignored. Errors: those of the bounds.
  result<void> apply_rules(walked_directory& here, bool all, tally& met) const {
    if (options_.ignored == ignored_entries::include) return {};
    if (all)
      for (walked_entry& entry : here.entries)
        entry.ignored = true;
    if (all || here.rules == nullptr) return {};
    work_pace work(options_.bounds, look_match_steps);
    std::string path = here.path.empty() ? "" : here.path + '/';
    const std::size_t begin = path.size();
    for (walked_entry& entry : here.entries) {
      path.resize(begin);
      path += here.name(entry);
      const ignore_decision decided = match_frames(here.rules, path, entry.kind, work);
      if (!work.within()) return work.within();
      if (decided.verdict != ignore_verdict::ignored) continue;
      entry.ignored = true;
      ++met.ignored;
      auto& counted = met.rules[decided.rule];
      counted.first = decided;
      ++counted.second;
    }
    if (options_.ignored == ignored_entries::leave_out)
      std::erase_if(here.entries, [](const walked_entry& entry) { return entry.ignored; });
    return {};
  }

  /// Errors: those of the bounds.
  result<void> read_sizes(int fd, walked_directory& here) const {
    here.sizes.reserve(here.entries.size());
    for (const walked_entry& entry : here.entries) {
      if (here.sizes.size() % look_entries == 0) PADDOCK_CHECK(options_.bounds.check());
      std::uint64_t size = 0;
      if (entry.kind == entry_kind::file)
        if (const auto status = sys::entry_status_at(fd, here.name(entry).data()))
          size = status->size;
      here.sizes.push_back(size);
    }
    return {};
  }

  /// Errors: those of the bounds.
  result<void> mark_links(int fd, walked_directory& here) const {
    std::size_t looked_at = 0;
    for (walked_entry& entry : here.entries) {
      if (entry.kind != entry_kind::symlink) continue;
      if (++looked_at % look_entries == 0) PADDOCK_CHECK(options_.bounds.check());
      const auto target = sys::readlinkat(fd, here.name(entry).data());
      entry.leads_to_file = target && has_file(here, *target);
    }
    return {};
  }

  /// Makes tasks of the directories in `here`. Errors: those of the bounds.
  result<void> plan(file_descriptor fd, walked_directory& here, tally& met,
                    std::vector<task>& more) {
    std::shared_ptr<const held_directory> parent;
    std::size_t bytes = 0;
    for (walked_entry& entry : here.entries) {
      if (entry.kind != entry_kind::directory) continue;
      std::string path = here.path_of(entry);
      bytes += path.size() + sizeof(walked_directory) + sizeof(task);
      if (bytes >= path_bytes_max * look_paths) PADDOCK_CHECK(hold(std::exchange(bytes, 0)));
      if (path.size() > path_bytes_max) {
        met.unread.push_back({std::move(path), error_code::path_too_long});
        continue;
      }
      if (!parent && held_ < held_max)
        parent = std::make_shared<const held_directory>(std::move(fd), held_);
      entry.inside = std::make_unique<walked_directory>();
      entry.inside->path = std::move(path);
      entry.inside->rules = here.rules;
      more.push_back({.directory = entry.inside.get(),
                      .ignored = entry.ignored,
                      .name = here.name(entry).data(),
                      .above = &here,
                      .parent = parent});
    }
    if (options_.entered) std::ranges::reverse(more); // the last one comes first
    return hold(bytes);
  }

  /// Adds up what the threads have met.
  void report(const result<void>& done) {
    search_coverage& coverage = tree_.coverage;
    if (!done) coverage.ended_early = done.error().code;
    std::unordered_map<const ignore_rule*, std::pair<ignore_decision, std::uint64_t>> rules;
    for (tally& each : tallies_) {
      coverage.entries += each.entries;
      coverage.directories += each.directories;
      coverage.ignored += each.ignored;
      for (const auto& [rule, counted] : each.rules) {
        rules[rule].first = counted.first;
        rules[rule].second += counted.second;
      }
      std::ranges::move(each.unread, std::back_inserter(coverage.unread));
    }
    for (const auto& [rule, counted] : rules)
      coverage.ignored_by.push_back({.rule = rule->text,
                                     .file = counted.first.file(),
                                     .line_number = rule->line_number,
                                     .entries = counted.second});
    std::ranges::sort(coverage.ignored_by, [](const ignoring_rule& a, const ignoring_rule& b) {
      return std::tie(b.entries, a.file, a.line_number) <
             std::tie(a.entries, b.file, b.line_number);
    });
    coverage.unreadable = coverage.unread.size();
    std::ranges::sort(coverage.unread, {}, &unread_entry::path);
    if (coverage.unread.size() > search_coverage::named_max)
      coverage.unread.resize(search_coverage::named_max);
    if (coverage.ignored_by.size() > search_coverage::named_max)
      coverage.ignored_by.resize(search_coverage::named_max);
  }

  const root& root_;
  const walk_options& options_;
  held_memory& memory_;
  walked_tree& tree_;
  std::atomic<int> held_{0}; // outlives the tasks
  std::atomic<std::uint64_t> entries_{0};
  std::vector<tally> tallies_;
};

/// The rules of the directories above `path`; whether they leave it out. Errors: those of the
/// bounds.
result<bool> rules_above(const root& root, std::string_view path, const work_bounds& bounds,
                         held_memory& memory, walked_tree& tree) {
  work_pace work(bounds, look_match_steps);
  const ignore_frame* innermost = nullptr;
  std::size_t begin = 0;
  while (begin != std::string_view::npos) {
    auto directory = std::make_unique<walked_directory>();
    directory->path = path.substr(0, begin == 0 ? 0 : begin - 1);
    directory->rules = innermost;
    if (const auto opened =
            root.open_beneath(directory->path.empty() ? "." : directory->path, access::directory))
      PADDOCK_CHECK(add_rules(root, opened->fd.get(), *directory,
                              [&](std::int64_t bytes) { return memory.add(bytes); }));
    innermost = directory->rules;
    tree.above.push_back(std::move(directory));
    const std::size_t slash = path.find('/', begin);
    const bool last = slash == std::string_view::npos;
    const auto decided =
        match_frames(innermost, path.substr(0, slash), entry_kind::directory, work);
    PADDOCK_CHECK(bounds.check());
    if (decided.verdict == ignore_verdict::ignored) return true;
    begin = last ? slash : slash + 1;
  }
  return false;
}

} // namespace

result<file_descriptor> open_again(const root& root, const walked_directory& entered) {
  PADDOCK_TRY(opened now,
              root.open_beneath(entered.path.empty() ? "." : entered.path, access::directory));
  const bool same = now.status.device == entered.device && now.status.inode == entered.inode;
  if (entered.inode != 0 && !same) return error{error_code::conflict, 0, "walk"};
  return std::move(now.fd);
}

result<walked_tree> walk(const root& root, std::string_view path, const walk_options& options) {
  PADDOCK_TRY(opened start, root.open_beneath(path, access::directory));
  walked_tree tree;
  tree.top = std::make_unique<walked_directory>();
  tree.top->path = start.path;
  held_memory memory(tree.memory, options.bounds);
  if (!start.path.empty() && options.ignored != ignored_entries::include) {
    const auto ignored = rules_above(root, start.path, options.bounds, memory, tree);
    if (!ignored && !ends_early(ignored.error().code)) return ignored.error();
    if (!ignored) { // nothing was looked at
      tree.coverage.ended_early = ignored.error().code;
      return tree;
    }
    if (*ignored)
      tree.above.clear(); // it was asked for by its name
    else
      tree.top->rules = tree.above.back()->rules;
  }
  PADDOCK_CHECK(walker(root, options, memory, tree).run(std::move(start.fd), *tree.top));
  return tree;
}

} // namespace paddock
