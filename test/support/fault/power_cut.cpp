// SPDX-License-Identifier: MIT
#include "support/fault/power_cut.hpp"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <fstream>
#include <iterator>
#include <random>
#include <utility>

namespace paddock::test {
namespace {

constexpr std::uint64_t top_id = 1;

enum fate : unsigned { absent, whole, half, zeros, rubbish, fates_of_writing };

bool is_entry(change::kind what) {
  return what == change::kind::create || what == change::kind::remove ||
         what == change::kind::rename || what == change::kind::exchange ||
         what == change::kind::link;
}

} // namespace

disk::disk(const std::string& top) {
  struct stat s {};
  if (::lstat(top.c_str(), &s) != 0) std::abort();
  id_of_[s.st_ino] = last_id_ = top_id;
  look_at(top, top_id);
}

void disk::look_at(const std::string& path, std::uint64_t id) {
  struct stat s {};
  if (::lstat(path.c_str(), &s) != 0) std::abort();
  first_[id].mode = s.st_mode;
  first_[id].modified_ns = static_cast<std::uint64_t>(s.st_mtim.tv_sec) * 1'000'000'000U +
                           static_cast<std::uint64_t>(s.st_mtim.tv_nsec);
  inode_of_[id] = s.st_ino;
  if (S_ISREG(s.st_mode)) {
    std::ifstream in(path, std::ios::binary);
    first_[id].content.assign(std::istreambuf_iterator<char>(in), {});
  } else if (S_ISLNK(s.st_mode)) {
    first_[id].content = std::filesystem::read_symlink(path).string();
  } else if (S_ISDIR(s.st_mode)) {
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (::lstat(entry.path().c_str(), &s) != 0) std::abort();
      const auto [known, fresh] = id_of_.try_emplace(s.st_ino, last_id_ + 1);
      if (fresh) ++last_id_;
      first_[id].entries[entry.path().filename()] = known->second;
      if (fresh) look_at(entry.path(), known->second);
    }
  }
}

void disk::take_down(std::vector<change> changes, renames how) {
  const auto id = [&](std::uint64_t inode) {
    const auto known = id_of_.find(inode);
    return known == id_of_.end() ? 0 : known->second;
  };
  // What a name means at the time of a change: a rename moves an object, wherever it is on the
  // disk.
  objects now = first_;
  for (auto& c : changes) {
    counts_.push_back(changes_.size());
    if (c.what == change::kind::create || c.what == change::kind::nameless) {
      id_of_[c.object] = ++last_id_;
      inode_of_[last_id_] = c.object;
      first_[last_id_].mode = c.mode;
      first_[last_id_].content = c.bytes;
      now[last_id_] = first_[last_id_];
    }
    if (c.what == change::kind::nameless) continue; // nothing that could be found
    c.object = id(c.object);
    c.directory = id(c.directory);
    c.other_directory = id(c.other_directory);
    const bool is_outside = is_entry(c.what) ? c.directory == 0 : c.object == 0;
    if (is_outside && c.what != change::kind::sync_all) continue;
    if (c.what == change::kind::rename || c.what == change::kind::exchange) {
      c.object = now[c.directory].entries[c.name];
      c.offset = now[c.other_directory].entries[c.other_name]; // the other object
    }
    apply(c, whole, now);
    if (c.what == change::kind::rename && how == renames::two_steps &&
        c.directory != c.other_directory) {
      changes_.push_back({.what = change::kind::link,
                          .object = c.object,
                          .directory = c.other_directory,
                          .name = c.other_name});
      c.what = change::kind::remove;
    }
    changes_.push_back(c);
  }
  counts_.push_back(changes_.size());
}

bool disk::is_sure(std::size_t at, std::size_t count) const {
  const change& c = changes_[at];
  return std::any_of(changes_.begin() + static_cast<std::ptrdiff_t>(at),
                     changes_.begin() + static_cast<std::ptrdiff_t>(count), [&](const change& s) {
                       if (s.what == change::kind::sync_data)
                         return s.object == c.object &&
                                (c.what == change::kind::write || c.what == change::kind::truncate);
                       if (s.what == change::kind::sync_all) return true;
                       if (s.what != change::kind::sync) return false;
                       if (!is_entry(c.what))
                         return s.object == c.object || is_link_in(c.object, s.object);
                       return s.object == c.directory ||
                              (c.other_directory != 0 && s.object == c.other_directory);
                     });
}

/// Whether it is a link that was there, or was made there.
bool disk::is_link_in(std::uint64_t id, std::uint64_t directory) const {
  if (!S_ISLNK(first_.at(id).mode)) return false;
  const auto& old = first_.at(directory).entries;
  return std::ranges::any_of(old, [&](const auto& each) { return each.second == id; }) ||
         std::ranges::any_of(changes_, [&](const change& each) {
           return each.what == change::kind::create && each.object == id &&
                  each.directory == directory;
         });
}

unsigned disk::fates_of(const change& c) {
  if (c.what == change::kind::sync || c.what == change::kind::sync_data ||
      c.what == change::kind::sync_all)
    return 1;
  return c.what == change::kind::write ? unsigned{fates_of_writing} : 2U;
}

void disk::apply(const change& c, unsigned fate, objects& to) {
  if (fate == absent) return;
  switch (c.what) {
  case change::kind::create:
  case change::kind::link:
    to[c.directory].entries[c.name] = c.object;
    break;
  case change::kind::remove:
    to[c.directory].entries.erase(c.name);
    break;
  case change::kind::rename:
    to[c.directory].entries.erase(c.name);
    to[c.other_directory].entries[c.other_name] = c.object;
    break;
  case change::kind::exchange:
    to[c.directory].entries[c.name] = c.offset;
    to[c.other_directory].entries[c.other_name] = c.object;
    break;
  case change::kind::write: {
    std::string bytes = c.bytes.substr(0, fate == half ? c.bytes.size() / 2 : std::string::npos);
    if (fate == zeros) bytes.assign(bytes.size(), '\0');
    if (fate == rubbish) bytes.assign(bytes.size(), '\xa5');
    auto& content = to[c.object].content;
    content.resize(std::max<std::size_t>(content.size(), c.offset + bytes.size()));
    content.replace(c.offset, bytes.size(), bytes);
    break;
  }
  case change::kind::truncate:
    to[c.object].content.resize(c.offset);
    break;
  case change::kind::mode:
    to[c.object].mode = (to[c.object].mode & ~07777U) | (c.mode & 07777U);
    break;
  case change::kind::times:
    to[c.object].modified_ns = c.offset;
    break;
  case change::kind::nameless:
  case change::kind::sync:
  case change::kind::sync_data:
  case change::kind::sync_all:
    break;
  }
}

void disk::judge_with(std::size_t count, const std::vector<unsigned>& fates,
                      const judge_of_identities& judge) const {
  objects found = first_;
  for (std::size_t at = 0; at < count; ++at)
    apply(changes_[at], fates[at], found);
  picture all;
  identities more;
  const std::function<void(std::uint64_t, const std::string&)> walk = [&](std::uint64_t id,
                                                                          const std::string& in) {
    for (const auto& [name, inside] : found[id].entries) {
      const object& o = found[inside];
      std::string what = std::to_string(o.mode & 07777U) + ' ';
      if (S_ISREG(o.mode)) what += "file " + o.content;
      if (S_ISLNK(o.mode)) what += "link " + o.content;
      if (S_ISDIR(o.mode)) what += "directory";
      all.emplace(in + name, what);
      more.emplace(in + name,
                   identity{.inode = inode_of_.at(inside), .modified_ns = o.modified_ns});
      if (S_ISDIR(o.mode)) walk(inside, in + name + '/');
    }
  };
  walk(top_id, "");
  judge(all, more);
}

std::size_t disk::after_power_cut(std::size_t count,
                                  const std::function<void(const picture&)>& judge) const {
  return after_power_cut(
      count, [&](const picture& found, const identities&) { judge(found); }, bounds{});
}

std::size_t disk::after_power_cut(std::size_t count, const judge_of_identities& judge,
                                  const bounds& at_most) const {
  const auto [states_max, samples_max] = at_most;
  std::vector<unsigned> fates(count, whole);
  std::vector<std::size_t> open;
  std::size_t states = 1;
  for (std::size_t at = 0; at < count; ++at) {
    const unsigned n = fates_of(changes_[at]);
    if (n == 1 || is_sure(at, count)) continue;
    open.push_back(at);
    states = std::min(states * n, states_max + 1);
  }
  if (states <= states_max) {
    for (std::size_t state = 0; state < states; ++state) {
      std::size_t rest = state;
      for (const auto at : open) {
        const unsigned n = fates_of(changes_[at]);
        fates[at] = static_cast<unsigned>(rest % n);
        rest /= n;
      }
      judge_with(count, fates, judge);
    }
    return states;
  }
  states = 0;
  const auto try_them = [&] {
    judge_with(count, fates, judge);
    ++states;
  };
  for (const unsigned usual : {unsigned{whole}, unsigned{absent}}) {
    for (const auto at : open) // each the only one with a fate of its own
      for (unsigned own = 0; own < fates_of(changes_[at]); ++own) {
        for (const auto other : open)
          fates[other] = usual;
        fates[at] = own;
        try_them();
      }
    for (const auto last : open) { // in order up to one of them, or from there on
      for (const auto at : open)
        fates[at] = (at < last) == (usual == whole) ? whole : absent;
      try_them();
    }
  }
  std::mt19937_64 random(count * 2654435761U + open.size()); // the same states every time
  for (std::size_t sample = 0; sample < samples_max; ++sample) {
    for (const auto at : open)
      fates[at] = static_cast<unsigned>(random() % fates_of(changes_[at]));
    try_them();
  }
  return states;
}

} // namespace paddock::test
