// SPDX-License-Identifier: MIT
#include "history/file_index.hpp"

#include "file/replace.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <algorithm>
#include <iterator>

namespace paddock::history {
namespace {

/// A command changes several directories, one in another, by turns.
constexpr std::size_t open_max = 8;
constexpr std::size_t leaf_entries_max = 160;
/// What a leaf has in the file. More than one entry with the longest path.
constexpr std::size_t slot_bytes = std::size_t{8} << 10U;

index_place first_of(const leaf_parts& parts) {
  const indexed_directory& in = parts.front().in;
  return {parts.front().path, std::string(in.name(in.entries.front()))};
}

leaf_parts::iterator part_of(leaf_parts& parts, std::string_view path) {
  return std::ranges::lower_bound(parts, path, std::less<>(), &leaf_part::path);
}

} // namespace

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

file_index::file_index(int directory, std::size_t memory_bytes_max)
    : leaves_{{index_place(), leaf()}}, directory_(directory), memory_bytes_max_(memory_bytes_max) {
}

void file_index::clear() {
  const std::lock_guard lock(mutex_);
  open_.clear();
  leaves_.clear();
  leaves_.emplace(index_place(), leaf());
  memory_bytes_ = 0;
  file_.reset();
  slots_ = 0;
  free_.clear();
  has_failed_ = false;
  size_ = files_ = unread_ = lost_ = 0;
}

// --- leaves -------------------------------------------------------------------------------------

file_index::leaves::iterator file_index::leaf_of(const place_view& place) const {
  return std::prev(leaves_.upper_bound(place));
}

const file_index::unpacked* file_index::opened(leaves::const_iterator at) const noexcept {
  const auto found =
      std::ranges::find_if(open_, [&](const unpacked& each) { return each.at == at; });
  return found != open_.end() ? &*found : nullptr;
}

file_index::unpacked& file_index::open(const place_view& place) {
  if (!open_.empty()) { // mostly the next lies beside it
    const auto at = open_.front().at;
    const auto next = std::next(at);
    if (view(at->first) <= place && (next == leaves_.end() || place < view(next->first)))
      return open_.front();
  }
  return open(leaf_of(place));
}

file_index::unpacked& file_index::open(leaves::iterator at) {
  for (auto each = open_.begin(); each != open_.end(); ++each) {
    if (each->at != at) continue;
    open_.splice(open_.begin(), open_, each);
    return *each;
  }
  std::string buffer;
  leaf_parts parts = unpack(bytes_of(at->second, buffer));
  if (open_.size() >= open_max) {
    settle(open_.back());
    open_.pop_back();
  }
  const std::size_t entries = entries_of(parts);
  return open_.emplace_front(at, std::move(parts), entries);
}

void file_index::settle(unpacked& open) {
  if (std::exchange(open.is_changed, false)) store(open.at, std::move(open.parts));
}

void file_index::store(leaves::iterator at, leaf_parts&& parts) {
  std::string bytes = pack(parts);
  const std::size_t entries = entries_of(parts);
  if (bytes.size() > slot_bytes && entries > 1) {
    leaf_parts off = split_off(parts, entries / 2);
    store_behind(std::move(off));
    return store(at, std::move(parts));
  }
  leaf& of = at->second;
  of.unread = 0;
  for (const leaf_part& part : parts)
    for (const indexed_entry& entry : part.in.entries)
      of.unread += is_to_read(entry.state) ? 1U : 0U;
  keep(of, std::move(bytes));
}

void file_index::store_behind(leaf_parts&& parts) {
  store(leaves_.emplace(first_of(parts), leaf()).first, std::move(parts));
}

void file_index::keep(leaf& of, std::string&& bytes) {
  memory_bytes_ -= of.bytes.size();
  of.bytes = std::string();
  const bool is_room = memory_bytes_ + bytes.size() <= memory_bytes_max_;
  if ((of.slot != no_slot || !is_room) && write_to_file(of, bytes)) return;
  if (of.slot != no_slot) free_.push_back(std::exchange(of.slot, no_slot));
  bytes.shrink_to_fit();
  memory_bytes_ += bytes.size();
  of.bytes = std::move(bytes);
}

bool file_index::write_to_file(leaf& of, std::string_view bytes) {
  if (!file_ && directory_ >= 0)
    if (auto made = sys::openat(directory_, ".", O_RDWR | O_TMPFILE, 0600))
      file_ = *std::move(made);
  if (!file_ || bytes.size() > slot_bytes) return false;
  if (of.slot == no_slot && free_.empty()) free_.push_back(slots_++);
  if (of.slot == no_slot) {
    of.slot = free_.back();
    free_.pop_back();
  }
  of.size = static_cast<std::uint32_t>(bytes.size());
  const auto written = sys::pwrite(file_.get(), bytes, of.slot * std::uint64_t{slot_bytes});
  return written && *written == bytes.size();
}

std::string_view file_index::bytes_of(const leaf& of, std::string& buffer) const {
  if (of.slot == no_slot) return of.bytes;
  buffer.resize(of.size);
  const auto size = read_all(file_.get(), buffer, of.slot * std::uint64_t{slot_bytes});
  if (size && *size == buffer.size()) return buffer;
  has_failed_ = true;
  return {};
}

void file_index::drop(leaves::iterator at) {
  std::erase_if(open_, [&](const unpacked& each) { return each.at == at; });
  keep(at->second, {});
  if (at->second.slot != no_slot) free_.push_back(std::exchange(at->second.slot, no_slot));
  at->second.unread = 0;
  if (at != leaves_.begin()) leaves_.erase(at);
}

// --- entries ------------------------------------------------------------------------------------

known_state file_index::find(std::string_view path) const {
  const std::lock_guard lock(mutex_);
  const std::string_view in = parent_of(path), name = last_of(path);
  const auto at = leaf_of({in, name});
  if (const unpacked* const open = opened(at)) {
    const auto part = std::ranges::lower_bound(open->parts, in, std::less<>(), &leaf_part::path);
    if (part == open->parts.end() || part->path != in) return {};
    const indexed_entry* const entry = part->in.find(name);
    return entry != nullptr ? entry->state : known_state{};
  }
  std::string buffer;
  return find_packed(bytes_of(at->second, buffer), in, name);
}

indexed_directory file_index::directory(std::string_view path) const {
  const std::lock_guard lock(mutex_);
  indexed_directory all;
  std::string buffer;
  for (auto at = leaf_of({path, {}}); at != leaves_.end() && at->first.first <= path; ++at) {
    const unpacked* const open = opened(at);
    if (open == nullptr) {
      add_packed(bytes_of(at->second, buffer), path, all);
      continue;
    }
    for (const leaf_part& part : open->parts)
      if (part.path == path)
        for (const indexed_entry& entry : part.in.entries)
          all.insert(all.entries.size(), part.in.name(entry), entry.state);
  }
  return all;
}

void file_index::for_each_unread(const index_place& from, const visit_unread& visit) {
  const std::lock_guard lock(mutex_);
  for (unpacked& each : open_)
    settle(each);
  open_.clear();
  std::string buffer;
  for (auto at = leaf_of(from); at != leaves_.end(); ++at) {
    if (at->second.unread == 0) continue;
    for (const leaf_part& part : unpack(bytes_of(at->second, buffer)))
      for (const indexed_entry& entry : part.in.entries) {
        const place_view here{part.path, part.in.name(entry)};
        if (!is_to_read(entry.state) || here < view(from)) continue;
        if (!visit(here.first, here.second, entry.state)) return;
      }
  }
}

void file_index::count(const known_state& state, int by) noexcept {
  const auto add = [by](std::uint64_t& to) { to += static_cast<std::uint64_t>(std::int64_t{by}); };
  add(size_);
  if (state.kind != known_kind::directory) add(files_);
  if (state.held == holding::not_read_yet) add(unread_);
  if (state.held == holding::lost) add(lost_);
}

/// All entries of the directory, or of the directories beneath it.
void file_index::forget_in(const std::string& first, bool beneath) {
  const auto is_gone = [&](std::string_view path) {
    return beneath ? path.starts_with(first) : path == first;
  };
  for (auto at = leaf_of({first, {}}); at != leaves_.end();) {
    if (at->first.first > first && !is_gone(at->first.first)) return;
    unpacked& here = open(at);
    const std::size_t before = here.entries;
    std::erase_if(here.parts, [&](const leaf_part& part) {
      if (!is_gone(part.path)) return false;
      here.entries -= part.in.entries.size();
      for (const indexed_entry& entry : part.in.entries)
        count(entry.state, -1);
      return true;
    });
    here.is_changed = here.is_changed || here.entries != before;
    const bool is_empty = here.entries == 0;
    const auto done = at++;
    if (is_empty) drop(done);
  }
}

void file_index::set(std::string_view path, const known_state& state) {
  const std::lock_guard lock(mutex_);
  const std::string_view in = parent_of(path), name = last_of(path);
  unpacked& here = open({in, name});
  const auto part = part_of(here.parts, in);
  const bool has_part = part != here.parts.end() && part->path == in;
  const std::size_t at = has_part ? part->in.place_of(name) : 0;
  const bool is_there =
      has_part && at < part->in.entries.size() && part->in.name(part->in.entries[at]) == name;
  if (!is_there) {
    if (state.exists()) insert({in, name}, state);
    return;
  }
  known_state& old = part->in.entries[at].state;
  const bool was_directory = old.kind == known_kind::directory;
  count(old, -1);
  here.is_changed = true;
  if (state.exists()) {
    old = state;
    count(state, 1);
  } else {
    part->in.remove(at);
    if (part->in.entries.empty()) here.parts.erase(part);
    if (--here.entries == 0) drop(here.at);
  }
  if (!was_directory || state.kind == known_kind::directory) return;
  forget_in(std::string(path), false);
  forget_in(std::string(path) + '/', true);
}

void file_index::insert(const place_view& place, const known_state& state) {
  unpacked& here = open(place);
  auto part = part_of(here.parts, place.first);
  if (part == here.parts.end() || part->path != place.first)
    part = here.parts.emplace(part, std::string(place.first), indexed_directory());
  const std::size_t at = part->in.place_of(place.second);
  part->in.insert(at, place.second, state);
  count(state, 1);
  here.is_changed = true;
  if (++here.entries <= leaf_entries_max) return;
  const bool is_last = std::next(part) == here.parts.end() && at + 1 == part->in.entries.size();
  here.entries = is_last ? here.entries - 1 : here.entries / 2; // what comes in order fills leaves
  store_behind(split_off(here.parts, here.entries));
}

} // namespace paddock::history
