// SPDX-License-Identifier: MIT
#include "exec/protection/directory_index.hpp"

#include "base/parallel_blocks.hpp"
#include "file/directory_stream.hpp"
#include "path/git_names.hpp"
#include "path/resolve.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace paddock {

std::int64_t clock_step_ns(const file_status& status) {
  constexpr std::int64_t second = 1'000'000'000;
  const bool whole_seconds = status.changed_ns % second == 0 && status.modified_ns % second == 0;
  return whole_seconds ? 2 * second : 20'000'000;
}

namespace {

bool is_unchanged(const directory_index::directory& known, const file_status& now) {
  return now.kind == entry_kind::directory && now.same_object(known.status) &&
         now.changed_ns == known.status.changed_ns && now.modified_ns == known.status.modified_ns &&
         now.changed_ns < known.settled_ns;
}

/// Precondition: they are sorted.
bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::binary_search(names.begin(), names.end(), name);
}

/// Of a name that is kept.
std::size_t bytes_of(std::string_view name) {
  return name.size() + sizeof(std::string);
}

std::size_t bytes_of(std::string_view path, const directory_index::directory& in) {
  std::size_t bytes = path.size();
  for (const std::string& name : in.names)
    bytes += bytes_of(name);
  for (const std::string& name : in.subdirectories)
    bytes += bytes_of(name);
  return bytes;
}

} // namespace

bool lists_name(const directory_index::directory& in, std::string_view name) {
  return std::ranges::find(in.names, name) != in.names.end();
}

bool looks_like_repository(const directory_index::directory& in) {
  return is_git_repository([&](const char* name) { return lists_name(in, name); });
}

std::optional<std::string_view> repository_around(const directory_index::directories& all,
                                                  std::string_view path) {
  std::string_view beneath; // and what leads from there to the path
  for (std::string_view at = path;; at = parent(at)) {
    const auto known = all.find(at);
    const bool is_one =
        is_git_directory(at) || (known != all.end() && looks_like_repository(known->second));
    const std::string_view folder = first_component(beneath);
    const bool is_own = is_git_directory(at) || at == path ||
                        std::ranges::find(git_folders, folder) != std::end(git_folders);
    if (is_one && is_own) return at;
    if (at.empty()) return std::nullopt;
    beneath = path.substr(parent(at).empty() ? 0 : parent(at).size() + 1);
  }
}

result<void> directory_index::refresh(int top, std::int64_t time_ms) {
  PADDOCK_TRY([[maybe_unused]] const auto status, sys::status_at(top, "."));
  const auto give_up_at = sys::monotonic_ms() + time_ms;
  // Some at a time, so that each refresh gets on.
  const auto is_late = [&](std::size_t done) {
    return (done & 63U) == 63U && sys::monotonic_ms() >= give_up_at;
  };
  const bool were_unlisted = std::exchange(unlisted_, false);
  outdated_ = false;
  std::size_t done = 0;
  for (const std::string& path : take_changed(top)) {
    outdated_ = is_late(done++);
    if (outdated_) break;
    list(top, path);
  }
  if (were_unlisted && has_room())
    find_unlisted();
  else
    unlisted_ = unlisted_ || were_unlisted;
  if (!known_.contains("")) pending_.emplace_front();
  for (; !pending_.empty() && has_room() && !is_late(done); ++done) {
    const std::string path = std::move(pending_.front());
    pending_.pop_front();
    pending_bytes_ -= path.size();
    list(top, path);
  }
  unlisted_ = unlisted_ || !pending_.empty();
  pending_ = {};
  pending_bytes_ = 0;
  return {};
}

/// For any directory: so what was cut is not read again before that can get further.
bool directory_index::has_room() const noexcept {
  constexpr std::size_t needed = path_bytes_max + name_bytes_max + sizeof(std::string);
  return known_.size() < room_.directories && bytes_ + needed <= room_.bytes;
}

void directory_index::doubt() {
  for (auto& [path, known] : known_)
    if (!known.names.empty()) known.settled_ns = 0;
}

/// Forgets what is gone. Of what has changed, those with names come first: they are acted upon.
std::vector<std::string> directory_index::take_changed(int top) {
  enum class state : std::uint8_t { unchanged, changed, gone };
  struct look {
    const std::string* path;
    const directory* known;
    state now = state::unchanged;
  };
  std::vector<look> all;
  all.reserve(known_.size());
  for (const auto& [path, known] : known_)
    all.push_back({&path, &known});
  constexpr std::size_t worth_a_thread = 2'048;
  parallel_blocks looking(all.size(), all.size() < worth_a_thread ? 1 : 2, [&](std::size_t i) {
    look& each = all[i];
    const char* path = each.path->empty() ? "." : each.path->c_str();
    const auto now = sys::status_at(top, path, AT_SYMLINK_NOFOLLOW);
    const bool is_gone = now ? now->kind != entry_kind::directory : tells_absence(now.error());
    if (is_gone)
      each.now = state::gone;
    else if (!now || !is_unchanged(*each.known, *now))
      each.now = state::changed;
  });
  looking.finish();
  std::vector<std::string> gone;
  std::vector<std::string> changed;
  for (const bool with_names : {true, false})
    for (const look& each : all)
      if (each.now == state::changed && each.known->names.empty() != with_names)
        changed.push_back(*each.path);
  for (const look& each : all)
    if (each.now == state::gone) gone.push_back(*each.path);
  for (const std::string& path : gone)
    forget(path);
  return changed;
}

/// Those nearer to the top first.
void directory_index::find_unlisted() {
  pending_ = {};
  pending_bytes_ = 0;
  unlisted_ = false;
  for (const auto& [path, known] : known_) {
    if (unlisted_) break;
    if (known.cut) add_pending(path);
    for (const std::string& name : known.subdirectories)
      if (std::string child = join(path, name); !known_.contains(child))
        add_pending(std::move(child));
  }
  std::ranges::sort(pending_, [](const std::string& a, const std::string& b) {
    const auto depth_of = [](const std::string& path) { return std::ranges::count(path, '/'); };
    return std::pair(depth_of(a), std::string_view(a)) <
           std::pair(depth_of(b), std::string_view(b));
  });
}

void directory_index::add_pending(std::string path) {
  const bool fits = known_.size() + pending_.size() < room_.directories &&
                    bytes_ + pending_bytes_ + path.size() <= room_.bytes;
  if (!fits) {
    unlisted_ = true;
    return;
  }
  pending_bytes_ += path.size();
  pending_.push_back(std::move(path));
}

/// The directory above has been looked at before and, it may be, locked since.
bool directory_index::is_in_reach(const std::string& path) const {
  if (path.empty()) return true;
  const auto above = known_.find(parent(path));
  return above != known_.end() && !above->second.unreadable;
}

void directory_index::list(int top, const std::string& path) {
  if (!is_in_reach(path)) return forget(path);
  const auto before_ns = sys::file_clock_ns();
  auto fd =
      resolve::open_strict(resolve::scope_beneath(top), path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
  if (!fd && fd.error().code != error_code::permission_denied &&
      fd.error().code != error_code::name_too_long) {
    // No descriptor was left, or the tree kept changing: it is there, and looked for again.
    unlisted_ = unlisted_ || !(tells_absence(fd.error()) || resolve::met_link(fd.error()));
    return forget(path);
  }
  std::optional<file_status> status;
  if (fd) {
    const auto looked = sys::status_at(fd->get(), "");
    if (!looked) return forget(path);
    status = *looked;
  }
  directory before;
  if (const auto known = known_.find(path); known != known_.end()) {
    bytes_ -= bytes_of(path, known->second);
    before = std::exchange(known->second, {});
  }
  directory fresh;
  if (fd) {
    fresh = read(fd->get(), path, before);
    fresh.status = *status;
    fresh.settled_ns = before_ns - clock_step_ns(*status);
  } else {
    fresh.unreadable = true;
  }
  bytes_ += bytes_of(path, fresh);
  unlisted_ = unlisted_ || fresh.cut;
  const bool became_one = looks_like_repository(fresh) && !looks_like_repository(before);
  directory& known = known_[path];
  known = std::move(fresh);
  if (became_one) // their links matter from now on
    for (const std::string_view folder : git_folders)
      forget(join(path, folder));
  for (const std::string& name : before.subdirectories)
    if (!contains(known.subdirectories, name)) forget(join(path, name));
  for (const std::string& name : known.subdirectories)
    if (std::string child = join(path, name); !known_.contains(child))
      add_pending(std::move(child));
}

/// Where there is no room for all of its names, those that were known before come first.
directory_index::directory directory_index::read(int fd, const std::string& path,
                                                 directory& before) const {
  directory fresh;
  std::ranges::sort(before.names);
  std::size_t bytes = bytes_ + bytes_of(path, before);
  const auto keep = [&](std::vector<std::string>& names, const std::vector<std::string>& known,
                        std::string_view name) {
    const std::size_t needed = contains(known, name) ? 0 : bytes_of(name);
    fresh.cut = fresh.cut || bytes + needed > room_.bytes;
    if (bytes + needed > room_.bytes) return;
    bytes += needed;
    names.emplace_back(name);
  };
  std::vector<std::string> links;
  const auto listed = for_each_entry(fd, [&](std::string_view name, unsigned char type) {
    const interest meant = matters_(name);
    if (meant != interest::none)
      keep(fresh.names, before.names, name);
    else if (type == DT_LNK || type == DT_UNKNOWN)
      links.emplace_back(name);
    const bool is_shut = meant == interest::closed && path.empty();
    if (!is_shut && (type == DT_DIR || type == DT_UNKNOWN))
      keep(fresh.subdirectories, before.subdirectories, name);
    return true;
  });
  if (!links.empty() && (looks_like_repository(fresh) || repository_around(known_, path)))
    for (const std::string& name : links)
      keep(fresh.names, before.names, name);
  // Without the right to search it, nothing in it can be covered either.
  fresh.unreadable = !listed || !sys::status_at(fd, ".");
  if (fresh.unreadable) fresh.subdirectories.clear();
  std::ranges::sort(fresh.subdirectories);
  return fresh;
}

void directory_index::forget(const std::string& path) {
  if (const auto known = known_.find(path); known != known_.end()) erase(known);
  const std::string inside = path + '/';
  for (auto each = known_.lower_bound(inside);
       each != known_.end() && each->first.starts_with(inside);)
    each = erase(each);
}

directory_index::directories::iterator directory_index::erase(directories::iterator which) {
  bytes_ -= bytes_of(which->first, which->second);
  return known_.erase(which);
}

} // namespace paddock
