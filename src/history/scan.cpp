// SPDX-License-Identifier: MIT
#include "history/scan.hpp"

#include "base/parallel_tasks.hpp"
#include "file/directory_stream.hpp"
#include "file/leftover.hpp"
#include "history/path_tops.hpp"
#include "path/resolve.hpp"
#include "search/read_names.hpp"
#include "sys/syscall.hpp"

#include <paddock/history/naming.hpp>

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

namespace paddock::history {
namespace {

constexpr std::size_t waiting_worth_a_thread = 4;
constexpr std::size_t taken_at_once = 1'000;

/// Which directories ignore files name. Their files are read when the first directory is met that
/// is not known yet.
class ignored_directories {
public:
  explicit ignored_directories(const root& workspace) : workspace_(workspace) {}

  [[nodiscard]] bool has(const std::string& path) {
    if (is_of_git(path)) return false; // what ignore files name is not in there
    const std::lock_guard lock(mutex_);
    const walked_directory& in = rules_of(std::string(parent_of(path)));
    return match_frames(in.rules, path, entry_kind::directory).verdict == ignore_verdict::ignored;
  }

private:
  const walked_directory& rules_of(const std::string& path) {
    if (const auto found = known_.find(path); found != known_.end()) return *found->second;
    auto here = std::make_unique<walked_directory>();
    here->path = path;
    if (!path.empty()) here->rules = rules_of(std::string(parent_of(path))).rules;
    if (const auto fd = open_plain(workspace_, path, O_RDONLY | O_DIRECTORY)) {
      const bool has_rules = is_there(fd->get(), ".gitignore") || is_there(fd->get(), ".ignore") ||
                             is_there(fd->get(), ".git");
      if (has_rules)
        (void)add_rules(workspace_, fd->get(), *here, [](std::int64_t) { return result<void>(); });
    }
    return *known_.emplace(path, std::move(here)).first->second;
  }
  static bool is_there(int directory, const char* name) {
    return sys::entry_status_at(directory, name).has_value();
  }

  const root& workspace_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<walked_directory>> known_;
};

struct task {
  std::string path;
  bool is_ignored = false;
  bool was_closed = false;
};

class scanner {
public:
  scanner(const root& workspace, const file_index& index, const scan_options& options)
      : workspace_(workspace), index_(index), options_(options), ignored_(workspace) {}

  /// Everything in a directory.
  result<void> run(task top) {
    std::vector<scan_outcome> found;
    parallel_tasks<task, scan_outcome, enter_call> scanning(options_.threads_max,
                                                            waiting_worth_a_thread, {*this});
    const auto done = scanning.run(std::move(top), found);
    for (scan_outcome& each : found) {
      if (done) PADDOCK_CHECK(give(each));
      std::ranges::move(each.met, std::back_inserter(out_.met));
      std::ranges::move(each.gone, std::back_inserter(out_.gone));
      std::ranges::move(each.closed, std::back_inserter(out_.closed));
      std::ranges::move(each.opened, std::back_inserter(out_.opened));
      std::ranges::move(each.linked, std::back_inserter(out_.linked));
    }
    return done;
  }

  /// One entry; whether it is a directory.
  result<std::optional<task>> look_at(const std::string& path) {
    if (workspace_.is_protected(path)) return std::optional<task>();
    const known_state old = index_.find(path);
    const bool is_in_ignored = index_.find(parent_of(path)).is_ignored;
    const auto status = plain_status(workspace_, path);
    if (!status) {
      const error_code why = status.error().code;
      const bool is_gone = why == error_code::not_found || why == error_code::not_a_directory ||
                           why == error_code::symlink_loop;
      if (is_gone && old.exists()) out_.gone.push_back(path);
      return std::optional<task>();
    }
    known_state seen = judge(path, *status, old.exists() ? &old : nullptr, is_in_ignored);
    const bool is_directory = seen.kind == known_kind::directory;
    task inside{
        .path = path, .is_ignored = seen.is_ignored, .was_closed = seen.held != holding::held};
    if (!old.exists() || old.is_unsure || !old.looks_like(seen)) out_.met.push_back({path, seen});
    return is_directory ? std::optional(std::move(inside)) : std::nullopt;
  }

  scan_outcome outcome() {
    out_.entries = entries_;
    std::sort(out_.met.begin(), out_.met.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    std::ranges::sort(out_.gone);
    std::ranges::sort(out_.closed);
    std::ranges::sort(out_.opened);
    return std::move(out_);
  }

private:
  struct enter_call {
    scanner& of;
    result<void> operator()(const task& next, scan_outcome& met, std::vector<task>& more) const {
      return of.enter(next, met, more);
    }
  };

  /// What is known of an entry by its status.
  known_state judge(const std::string& path, const file_status& status, const known_state* old,
                    bool is_in_ignored) {
    known_state seen = state_of(status);
    seen.is_ignored = is_in_ignored;
    if (seen.kind == known_kind::directory && old != nullptr && old->kind == seen.kind) {
      seen.held = old->held; // until it is entered
      seen.is_unsure = old->is_unsure;
    }
    if (old != nullptr && (old->kind == seen.kind || is_in_ignored))
      seen.is_ignored = old->is_ignored;
    else if (seen.kind == known_kind::directory && !is_in_ignored)
      seen.is_ignored = ignored_.has(path);
    return seen;
  }

  result<void> enter(const task& of, scan_outcome& met, std::vector<task>& more) {
    PADDOCK_CHECK(options_.bounds.check());
    const auto fd = open_plain(workspace_, of.path, O_RDONLY | O_DIRECTORY);
    if (!fd) {
      if (of.path.empty()) return fd.error();
      if (fd.error().code == error_code::permission_denied) met.closed.push_back(of.path);
      return {}; // gone by now, or not to be read: as it was
    }
    const auto own = sys::status_at(fd->get(), "");
    if (!of.path.empty() && (!own || !workspace_.check_entered(fd->get(), *own))) return {};
    if (options_.observer != nullptr && own)
      options_.observer->entered(of.path, fd->get(), own->inode);
    bool is_closed = false;
    const indexed_directory known = index_.directory(of.path);
    std::vector<bool> is_there(known.entries.size());
    std::string path = of.path.empty() ? "" : of.path + '/';
    const std::size_t begin = path.size();
    std::size_t count = 0, found_at = 0;
    const auto visit = [&](std::string_view name, unsigned char) {
      if (begin == 0 ? workspace_.is_protected(name) : workspace_.is_hidden_name(name)) return true;
      if (name.starts_with(temporary_prefix) && is_passing(fd->get(), name)) return true;
      const auto status = sys::status_at(fd->get(), name.data(), AT_SYMLINK_NOFOLLOW);
      const bool is_gone = !status && status.error().code == error_code::not_found;
      const indexed_entry* entry = known.find_beside(name, found_at);
      if (entry != nullptr && !is_gone)
        is_there[static_cast<std::size_t>(entry - known.entries.data())] = true;
      // A directory may let its names be read, and nothing that they name.
      is_closed = is_closed || (!status && status.error().code == error_code::permission_denied);
      if (!status) return true; // gone by now, or as it was
      ++count;
      const bool is_linked = status->links > 1 && status->kind == entry_kind::file;
      if (is_linked && options_.observer != nullptr)
        met.linked.push_back(begin == 0 ? std::string(name) : of.path + '/' + std::string(name));
      const known_state* old = entry != nullptr ? &entry->state : nullptr;
      const bool is_as_it_was = old != nullptr && !old->is_unsure &&
                                old->kind != known_kind::directory &&
                                old->looks_like(state_of(*status));
      if (is_as_it_was) return true; // as nearly all are
      path.resize(begin);
      path += name;
      const known_state seen = judge(path, *status, old, of.is_ignored);
      const bool is_given = options_.take && seen.kind != known_kind::directory;
      if (old == nullptr || old->is_unsure || !old->looks_like(seen))
        (is_given ? met.untaken : met.met).push_back({path, seen});
      if (seen.kind != known_kind::directory) return true;
      if (path.size() <= path_bytes_max)
        more.push_back({.path = path,
                        .is_ignored = seen.is_ignored,
                        .was_closed = seen.held != holding::held});
      else
        met.closed.push_back(path);
      return true;
    };
    const auto read = for_each_entry(fd->get(), visit);
    if (is_closed) met.closed.push_back(of.path);
    if (!is_closed && of.was_closed) met.opened.push_back(of.path);
    if (entries_.fetch_add(count) + count > options_.entries_max)
      return error{error_code::too_many, 0, "history scan"};
    if (met.untaken.size() >= taken_at_once) PADDOCK_CHECK(give(met));
    if (!read) return {};
    for (std::size_t i = 0; i < is_there.size(); ++i) {
      if (is_there[i]) continue;
      path.resize(begin);
      path += known.name(known.entries[i]);
      // What an earlier server saw and is hidden now stays as it was.
      if (!workspace_.is_hidden_name(std::string_view(path).substr(begin)))
        met.gone.push_back(path);
    }
    return {};
  }

  result<void> give(scan_outcome& met) {
    const std::lock_guard lock(taking_);
    return met.untaken.empty() ? result<void>() : options_.take(std::exchange(met.untaken, {}));
  }

  const root& workspace_;
  const file_index& index_;
  const scan_options& options_;
  std::mutex taking_;
  ignored_directories ignored_;
  std::atomic<std::uint64_t> entries_{0};
  scan_outcome out_;
};

} // namespace

result<file_descriptor> open_plain(const root& workspace, const std::string& path,
                                   std::uint64_t flags) {
  return open_plain_in(workspace, workspace.descriptor(), path, flags);
}

result<file_descriptor> open_plain_in(const root& workspace, int directory, const std::string& path,
                                      std::uint64_t flags) {
  const resolve::scope in{.root = directory,
                          .resolver = workspace.resolver(),
                          .mounts = workspace.mounts(),
                          .mount = workspace.status().mount,
                          .device = workspace.status().device,
                          .configured = {},
                          .canonical = {}};
  constexpr std::uint64_t never_waiting = O_NONBLOCK | O_NOCTTY;
  return resolve::open_strict(in, path,
                              flags | O_NOFOLLOW | ((flags & O_PATH) != 0 ? 0 : never_waiting));
}

result<file_status> plain_status(const root& workspace, std::string_view path) {
  PADDOCK_TRY(const auto in,
              open_plain(workspace, std::string(parent_of(path)), O_PATH | O_DIRECTORY));
  return sys::status_at(in.get(), std::string(last_of(path)).c_str(), AT_SYMLINK_NOFOLLOW);
}

result<scan_outcome> scan(const root& workspace, const file_index& index,
                          const scan_options& options) {
  PADDOCK_CHECK(workspace.check_alive());
  scanner all(workspace, index, options);
  PADDOCK_CHECK(all.run(task{}));
  scan_outcome out = all.outcome();
  out.is_whole = true;
  return out;
}

result<scan_outcome> scan_paths(const root& workspace, const file_index& index,
                                std::span<const std::string> paths, const scan_options& options) {
  scanner some(workspace, index, options);
  std::set<std::string> above, named(paths.begin(), paths.end());
  path_tops tops;
  for (const std::string& path : named) {
    tops.add(path);
    for (std::string_view at = parent_of(path); !at.empty(); at = parent_of(at))
      above.emplace(at);
  }
  for (const std::string& path : above)
    if (!named.contains(path)) {
      PADDOCK_CHECK(some.look_at(path));
    }
  for (const std::string& path : named) {
    // What lies in another of the paths is met with it.
    if (!path.empty() && tops.cover(parent_of(path))) continue;
    if (path.empty()) {
      PADDOCK_CHECK(some.run({}));
      continue;
    }
    PADDOCK_TRY(auto inside, some.look_at(path));
    if (inside) PADDOCK_CHECK(some.run(*std::move(inside)));
  }
  scan_outcome out = some.outcome();
  if (out.gone.empty()) return out;
  path_tops whole; // with these goes all that was in them
  for (const met_entry& each : out.met)
    if (each.seen.kind != known_kind::directory) whole.add(each.path);
  std::erase_if(out.gone, [&](const std::string& path) {
    const bool is_within = whole.cover(path);
    whole.add(path);
    return is_within;
  });
  return out;
}

} // namespace paddock::history
