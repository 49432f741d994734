// SPDX-License-Identifier: MIT
#include "history/file_index.hpp"

#include <algorithm>
#include <utility>

namespace paddock::history {

std::string_view parent_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return path.substr(0, slash == std::string_view::npos ? 0 : slash);
}

std::string_view last_of(std::string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_in(std::string_view path, std::string_view directory) noexcept {
  if (directory.empty()) return true;
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

std::size_t indexed_directory::place_of(std::string_view wanted) const noexcept {
  if (entries.empty() || name(entries.back()) < wanted) return entries.size();
  const auto found =
      std::lower_bound(entries.begin(), entries.end(), wanted,
                       [this](const indexed_entry& e, std::string_view n) { return name(e) < n; });
  return static_cast<std::size_t>(found - entries.begin());
}

const indexed_entry* indexed_directory::find(std::string_view wanted) const noexcept {
  const std::size_t at = place_of(wanted);
  return at < entries.size() && name(entries[at]) == wanted ? &entries[at] : nullptr;
}

const indexed_entry* indexed_directory::find_beside(std::string_view wanted,
                                                    std::size_t& before) const noexcept {
  for (const std::size_t at : {before + 1, before - 1}) {
    if (at >= entries.size() || name(entries[at]) != wanted) continue;
    before = at;
    return &entries[at];
  }
  const indexed_entry* const found = find(wanted);
  if (found != nullptr) before = static_cast<std::size_t>(found - entries.data());
  return found;
}

void indexed_directory::remove(std::size_t at) {
  unused += entries[at].name_size;
  entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(at));
  constexpr std::size_t worth_bytes = 1024;
  if (unused < worth_bytes || unused < names.size() / 2) return;
  std::string kept;
  for (indexed_entry& entry : entries) {
    const std::string_view old = name(entry);
    entry.name_offset = static_cast<std::uint32_t>(kept.size());
    kept += old;
  }
  names = std::move(kept);
  unused = 0;
}

void file_index::clear() {
  directories_.clear();
  last_ = nullptr;
  size_ = files_ = unread_ = lost_ = 0;
}

known_state file_index::find(std::string_view path) const {
  const indexed_directory* in = directory(parent_of(path));
  const indexed_entry* entry = in != nullptr ? in->find(last_of(path)) : nullptr;
  return entry != nullptr ? entry->state : known_state{};
}

const indexed_directory* file_index::directory(std::string_view path) const {
  const auto found = directories_.find(path);
  return found != directories_.end() ? &found->second : nullptr;
}

void file_index::count(const known_state& state, int by) noexcept {
  const auto add = [by](std::uint64_t& to) { to += static_cast<std::uint64_t>(std::int64_t{by}); };
  add(size_);
  if (state.kind != known_kind::directory) add(files_);
  if (state.held == holding::not_read_yet) add(unread_);
  if (state.held == holding::lost) add(lost_);
}

void file_index::forget_beneath(std::string_view path) {
  const auto drop = [this](const indexed_directory& gone) {
    for (const indexed_entry& entry : gone.entries)
      count(entry.state, -1);
  };
  if (const auto own = directories_.find(path); own != directories_.end()) {
    drop(own->second);
    directories_.erase(own);
  }
  last_ = nullptr;
  const std::string prefix = std::string(path) + '/';
  auto at = directories_.lower_bound(prefix);
  while (at != directories_.end() && at->first.starts_with(prefix)) {
    drop(at->second);
    at = directories_.erase(at);
  }
}

void file_index::set(std::string_view path, const known_state& state) {
  const std::string_view in = parent_of(path), name = last_of(path);
  if (last_ == nullptr || last_->first != in) {
    auto found = directories_.find(in);
    if (found == directories_.end()) {
      if (!state.exists()) return;
      found = directories_.emplace(std::string(in), indexed_directory{}).first;
    }
    last_ = &*found;
  }
  indexed_directory& here = last_->second;
  const std::size_t at = here.place_of(name);
  const bool is_there = at < here.entries.size() && here.name(here.entries[at]) == name;
  if (is_there) {
    known_state& old = here.entries[at].state;
    const bool was_directory = old.kind == known_kind::directory;
    count(old, -1);
    if (state.exists()) {
      old = state;
      count(state, 1);
    } else {
      here.remove(at);
    }
    if (was_directory && state.kind != known_kind::directory) forget_beneath(path);
    return;
  }
  if (!state.exists()) return;
  const indexed_entry fresh{.state = state,
                            .name_offset = static_cast<std::uint32_t>(here.names.size()),
                            .name_size = static_cast<std::uint32_t>(name.size())};
  here.names += name;
  here.entries.insert(here.entries.begin() + static_cast<std::ptrdiff_t>(at), fresh);
  count(state, 1);
}

} // namespace paddock::history
