// SPDX-License-Identifier: MIT
#include "history/index_leaf.hpp"

#include "history/journal_records.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace paddock::history {
namespace {

// A part: its path, the size of what follows (4 bytes), and entries, each a name and a state. A
// path and a name are the number of bytes shared with the one before, and the rest.

std::size_t shared_by(std::string_view a, std::string_view b) noexcept {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                                  a.begin());
}

void put_behind(std::string& to, std::string_view name, std::string_view before) {
  const std::size_t shared = shared_by(name, before);
  put_number(to, shared);
  put_text(to, name.substr(shared));
}

/// Puts a name behind the names that are there, the last of which has that size.
std::uint32_t read_name(byte_reader& in, std::string& names, std::size_t before) {
  const std::size_t last = names.size() - before;
  const std::size_t shared = std::min<std::size_t>(in.number(), before);
  const std::string_view rest = in.text();
  names.append(names, last, shared);
  names += rest;
  return static_cast<std::uint32_t>(shared + rest.size());
}

void read_entries(std::string_view bytes, indexed_directory& to) {
  constexpr std::size_t usual_bytes = 40; // of an entry
  if (to.entries.empty()) to.entries.reserve(bytes.size() / usual_bytes + 1);
  std::size_t before = 0;
  for (byte_reader in(bytes); !in.at_end();) {
    indexed_entry entry{.name_offset = static_cast<std::uint32_t>(to.names.size())};
    before = entry.name_size = read_name(in, to.names, before);
    entry.state = read_state(in);
    if (in.is_good()) to.entries.push_back(entry);
  }
}

/// Calls visit(path, entries) for each part, up to the first for which it is false.
template <class Visit> void for_each_part(std::string_view bytes, Visit&& visit) {
  std::string path;
  for (std::string_view left = bytes; !left.empty();) {
    byte_reader in(left);
    const std::uint64_t shared = in.number();
    path.resize(std::min<std::uint64_t>(shared, path.size()));
    path += in.text();
    const std::size_t size = in.u32();
    if (!in.is_good() || size > in.left()) return;
    left.remove_prefix(left.size() - in.left());
    if (!visit(std::string_view(path), left.substr(0, size))) return;
    left.remove_prefix(size);
  }
}

} // namespace

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

void indexed_directory::insert(std::size_t at, std::string_view fresh, const known_state& state) {
  const indexed_entry entry{.state = state,
                            .name_offset = static_cast<std::uint32_t>(names.size()),
                            .name_size = static_cast<std::uint32_t>(fresh.size())};
  names += fresh;
  entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(at), entry);
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

std::string pack(std::span<const leaf_part> parts) {
  std::string bytes, body;
  std::string_view path;
  for (const leaf_part& part : parts) {
    put_behind(bytes, part.path, path);
    path = part.path;
    body.clear();
    std::string_view before;
    for (const indexed_entry& entry : part.in.entries) {
      const std::string_view name = part.in.name(entry);
      put_behind(body, name, before);
      before = name;
      put_state(body, entry.state);
    }
    put_u32(bytes, static_cast<std::uint32_t>(body.size()));
    bytes += body;
  }
  return bytes;
}

leaf_parts unpack(std::string_view bytes) {
  leaf_parts parts;
  for_each_part(bytes, [&](std::string_view path, std::string_view entries) {
    leaf_part& part = parts.emplace_back(std::string(path), indexed_directory());
    read_entries(entries, part.in);
    return true;
  });
  return parts;
}

known_state find_packed(std::string_view bytes, std::string_view directory,
                        std::string_view wanted) {
  known_state found;
  for_each_part(bytes, [&](std::string_view path, std::string_view entries) {
    if (path < directory) return true;
    if (path != directory) return false;
    std::string name;
    for (byte_reader in(entries); !in.at_end();) {
      name.resize(std::min<std::size_t>(in.number(), name.size()));
      name += in.text();
      const known_state state = read_state(in);
      if (name < wanted) continue;
      if (name == wanted) found = state;
      return false;
    }
    return false;
  });
  return found;
}

void add_packed(std::string_view bytes, std::string_view directory, indexed_directory& to) {
  for_each_part(bytes, [&](std::string_view path, std::string_view entries) {
    if (path == directory) read_entries(entries, to);
    return path < directory;
  });
}

std::size_t entries_of(std::span<const leaf_part> parts) noexcept {
  std::size_t all = 0;
  for (const leaf_part& part : parts)
    all += part.in.entries.size();
  return all;
}

leaf_parts split_off(leaf_parts& parts, std::size_t kept) {
  auto at = parts.begin();
  for (; at != parts.end() && at->in.entries.size() <= kept; ++at)
    kept -= at->in.entries.size();
  leaf_parts off;
  if (at == parts.end()) return off;
  if (kept != 0) {
    leaf_part& half = off.emplace_back(at->path, indexed_directory());
    for (std::size_t i = kept; i < at->in.entries.size(); ++i)
      half.in.insert(half.in.entries.size(), at->in.name(at->in.entries[i]),
                     at->in.entries[i].state);
    while (at->in.entries.size() > kept)
      at->in.remove(at->in.entries.size() - 1);
    ++at;
  }
  std::move(at, parts.end(), std::back_inserter(off));
  parts.erase(at, parts.end());
  return off;
}

} // namespace paddock::history
