// SPDX-License-Identifier: MIT
#include "change/held_directories.hpp"

#include "file/directory_stream.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

#include <algorithm>
#include <utility>

namespace paddock {
namespace {

constexpr std::string_view deleted_suffix = " (deleted)";

error other_directory() {
  return {error_code::conflict, 0, held_operation};
}

bool is_same_directory(const file_status& seen, const file_status& now) {
  return now.kind == entry_kind::directory && now.same_object(seen) &&
         (!now.has_birth_time || !seen.has_birth_time || now.created_ns == seen.created_ns);
}

result<bool> is_empty(int directory) {
  PADDOCK_TRY(const auto list, sys::openat(directory, ".", O_RDONLY | O_DIRECTORY));
  bool is = true;
  PADDOCK_CHECK(for_each_entry(list.get(), [&](std::string_view, unsigned char) {
    is = false;
    return false;
  }));
  return is;
}

/// What a look may come to: each level holds a descriptor.
struct look_bounds {
  unsigned depth = 128;
  std::size_t entries;
};

result<bool> has_only_directories(int directory, unsigned depth, look_bounds& left) {
  std::vector<std::string> inside;
  if (depth > left.depth) return error{error_code::too_many, 0, held_operation};
  PADDOCK_TRY(auto list, sys::openat(directory, ".", O_RDONLY | O_DIRECTORY));
  PADDOCK_CHECK(for_each_entry(list.get(), [&](std::string_view name, unsigned char) {
    inside.emplace_back(name);
    return inside.size() <= left.entries;
  }));
  list = {};
  if (inside.size() > left.entries) return error{error_code::too_many, 0, held_operation};
  left.entries -= inside.size();
  for (const std::string& name : inside) {
    PADDOCK_TRY(const auto status, sys::status_at(directory, name.c_str(), AT_SYMLINK_NOFOLLOW));
    if (status.kind != entry_kind::directory) return false;
    PADDOCK_TRY(const auto next,
                sys::openat(directory, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW));
    PADDOCK_TRY(const bool is_so, has_only_directories(next.get(), depth + 1, left));
    if (!is_so) return false;
  }
  return true;
}

} // namespace

result<bool> has_only_directories(int directory, std::size_t entries_max) {
  look_bounds left{.entries = entries_max};
  return has_only_directories(directory, 0, left);
}

held_directories::held_directories(const root& root, is_expected expected, std::size_t held_max)
    : root_(root), expected_(std::move(expected)), held_max_(std::max<std::size_t>(held_max, 2)) {
  all_.push_back({.path = {}, .status = root.status()});
  by_path_.emplace("", top);
}

result<file_descriptor> held_directories::open_in(id above, const std::string& name) {
  PADDOCK_TRY(const int in, descriptor(above));
  PADDOCK_TRY(const auto checked, component::from(name));
  return sys::openat(in, checked.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
}

/// From the nearest that is known on: a loop, because a tree can be deeper than a stack.
result<held_directories::id> held_directories::look(const std::string& path) {
  std::vector<std::string> unknown;
  auto known = by_path_.find(path);
  for (std::string_view at = path; known == by_path_.end(); known = by_path_.find(at)) {
    unknown.emplace_back(at);
    at = parent(at);
  }
  id last = known->second;
  for (; !unknown.empty(); unknown.pop_back()) {
    PADDOCK_TRY(last, look_in(last, unknown.back()));
  }
  return last;
}

result<held_directories::id> held_directories::look_in(id above, const std::string& path) {
  PADDOCK_TRY(auto fd, open_in(above, std::string(file_name(path))));
  PADDOCK_TRY(const auto status, sys::status_at(fd.get(), ""));
  PADDOCK_CHECK(root_.check_entered(fd.get(), status));
  if (!expected_(path, fd.get(), status)) return other_directory();
  return add(path, above, std::move(fd), status);
}

result<held_directories::id> held_directories::look_at_new(const std::string& path) {
  PADDOCK_TRY(const id above, look(std::string(parent(path))));
  PADDOCK_TRY(auto fd, open_in(above, std::string(file_name(path))));
  PADDOCK_TRY(const auto status, sys::status_at(fd.get(), ""));
  PADDOCK_TRY(const bool is_new, is_empty(fd.get()));
  if (!is_new || status.uid != sys::effective_uid()) return other_directory();
  if (const auto old = by_path_.find(path); old != by_path_.end()) by_path_.erase(old);
  return add(path, above, std::move(fd), status);
}

result<held_directories::id> held_directories::renew(const std::string& path) {
  const auto known = by_path_.find(path);
  if (known == by_path_.end()) return look_at_new(path);
  const id old = known->second;
  PADDOCK_TRY(const id fresh, look_at_new(path));
  entry& mine = all_[old];
  if (mine.fd) --held_;
  mine.fd = std::move(all_[fresh].fd);
  mine.status = all_[fresh].status;
  by_path_[path] = old;
  return old;
}

result<held_directories::id> held_directories::add(const std::string& path, id above,
                                                   file_descriptor fd, const file_status& status) {
  const id fresh = all_.size();
  all_.push_back({.path = path,
                  .above = above,
                  .name = std::string(file_name(path)),
                  .status = status,
                  .fd = std::move(fd),
                  .used = ++clock_});
  by_path_[path] = fresh;
  ++held_;
  give_up_some();
  return fresh;
}

/// The half that nobody has used for the longest time, so that this is seldom.
void held_directories::give_up_some() {
  if (held_ <= held_max_) return;
  std::vector<std::uint64_t> times;
  for (const entry& each : all_)
    if (each.fd) times.push_back(each.used);
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  const std::uint64_t oldest_kept = *middle;
  for (entry& each : all_) {
    if (!each.fd || each.used >= oldest_kept) continue;
    each.fd = {};
    --held_;
  }
}

/// Those that were given up come back one in the other; a loop, as above.
result<int> held_directories::descriptor(id of) {
  std::vector<id> gone;
  for (id at = of; at != top && !all_[at].fd; at = all_[at].above)
    gone.push_back(at);
  for (; !gone.empty(); gone.pop_back()) {
    entry& each = all_[gone.back()];
    PADDOCK_TRY(auto fd, open_in(each.above, each.name));
    PADDOCK_TRY(const auto now, sys::status_at(fd.get(), ""));
    if (!is_same_directory(each.status, now)) return other_directory();
    each.fd = std::move(fd);
    each.used = ++clock_;
    ++held_;
    give_up_some();
  }
  if (of == top) return root_.descriptor();
  all_[of].used = ++clock_;
  return all_[of].fd.get();
}

result<std::string> held_directories::place_of(id of) {
  if (of == top) return std::string();
  const auto read = [](int fd) {
    return sys::readlinkat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(fd)).c_str());
  };
  PADDOCK_TRY(const int fd, descriptor(of));
  const auto here = read(fd), above = read(root_.descriptor());
  if (!here || !above) {
    const auto there = root_.open_beneath(all_[of].path, access::inspect);
    if (!there || !is_same_directory(all_[of].status, there->status)) return other_directory();
    return all_[of].path;
  }
  if (here->ends_with(deleted_suffix)) { // which a name may end in, too
    PADDOCK_TRY(const auto now, sys::status_at(fd, ""));
    if (now.links == 0) return other_directory();
  }
  const std::string beneath = *above == "/" ? *above : *above + '/';
  if (!here->starts_with(beneath)) return other_directory();
  return here->substr(beneath.size());
}

void held_directories::follow(std::string_view from, const std::string& to) {
  std::vector<std::pair<std::string, id>> moved;
  for (auto at = by_path_.lower_bound(from);
       at != by_path_.end() && std::string_view(at->first).starts_with(from);) {
    const std::string_view rest = std::string_view(at->first).substr(from.size());
    if (!rest.empty() && rest.front() != '/') {
      ++at;
      continue;
    }
    moved.emplace_back(to + std::string(rest), at->second);
    at = by_path_.erase(at);
  }
  for (auto& [path, of] : moved) {
    all_[of].path = path;
    if (path == to) {
      all_[of].name = file_name(to);
      const auto above = by_path_.find(parent(to));
      if (above != by_path_.end()) all_[of].above = above->second;
    }
    by_path_[path] = of;
  }
}

} // namespace paddock
