// SPDX-License-Identifier: MIT
#include "skill/index.hpp"

#include "base/parallel_blocks.hpp"
#include "file/directory_stream.hpp"

#include <fcntl.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace paddock {
namespace {

/// Directories that one thread takes at a time, and below which a second thread costs more than it
/// brings.
constexpr std::size_t share = 64;
constexpr std::size_t directories_per_thread = 256;

auto everything_in(const frontmatter::diagnostic& d) {
  return std::tie(d.code, d.line, d.column, d.character);
}
bool same(const std::vector<frontmatter::diagnostic>& a,
          const std::vector<frontmatter::diagnostic>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return everything_in(x) == everything_in(y);
  });
}
bool same(const skill& a, const skill& b) {
  return std::tie(a.id, a.name, a.description, a.source, a.path) ==
             std::tie(b.id, b.name, b.description, b.source, b.path) &&
         same(a.diagnostics, b.diagnostics);
}
bool same(const unloaded_directory& a, const unloaded_directory& b) {
  return std::tie(a.id, a.source, a.path, a.why, a.reason) ==
             std::tie(b.id, b.source, b.path, b.why, b.reason) &&
         same(a.diagnostics, b.diagnostics);
}
bool same(const skill_list& a, const skill_list& b) {
  const auto equal = [](const auto& x, const auto& y) { return same(x, y); };
  return std::equal(a.skills.begin(), a.skills.end(), b.skills.begin(), b.skills.end(), equal) &&
         std::equal(a.not_loaded.begin(), a.not_loaded.end(), b.not_loaded.begin(),
                    b.not_loaded.end(), equal);
}

} // namespace

/// A directory that may be a skill. Small, because there are many and they are sorted.
struct skill_index::candidate {
  std::uint32_t name_offset = 0; ///< into survey::names
  std::uint16_t name_size = 0;
  bool link = false;
  bool ignored = false;                  ///< no directory after all
  const known* before = nullptr;         ///< what was found the last time
  std::unique_ptr<examined_skill> fresh; ///< empty: what was found the last time still holds
};

struct skill_index::survey {
  std::optional<skill_directory> directory;
  std::string names;                 ///< each followed by a NUL
  std::vector<candidate> candidates; ///< by id, bytewise
  std::vector<std::string> left_out; ///< ids beyond entries_max

  [[nodiscard]] std::string_view id(const candidate& c) const {
    return std::string_view(names).substr(c.name_offset, c.name_size);
  }
};

result<skill_index::survey> skill_index::look(skill_source source) const {
  survey found;
  PADDOCK_TRY(found.directory, open_skill_directory(base_, options_, source));
  if (!found.directory) return found;
  const auto add = [&](std::string_view name, unsigned char type) {
    const bool possible = type == DT_DIR || type == DT_LNK || type == DT_UNKNOWN;
    if (name.starts_with('.') || !possible) return true;
    found.candidates.push_back({.name_offset = static_cast<std::uint32_t>(found.names.size()),
                                .name_size = static_cast<std::uint16_t>(name.size()),
                                .link = type != DT_DIR});
    found.names.append(name) += '\0';
    return true;
  };
  PADDOCK_CHECK(for_each_entry(found.directory->fd.get(), add));
  std::sort(found.candidates.begin(), found.candidates.end(),
            [&](const auto& a, const auto& b) { return found.id(a) < found.id(b); });
  for (std::size_t i = options_.entries_max; i < found.candidates.size(); ++i)
    found.left_out.emplace_back(found.id(found.candidates[i]));
  found.candidates.resize(found.candidates.size() - found.left_out.size());

  const half& before = halves_[static_cast<std::size_t>(source)]; // NOLINT: two of them
  auto next = before.entries.begin();
  const auto end = before.entries.end();
  for (auto& c : found.candidates) {
    const auto id = found.id(c);
    while (next != end && before.id(*next) < id)
      ++next;
    if (next != end && before.id(*next) == id) c.before = &*next;
  }
  return found;
}

/// Fills `fresh` wherever what is remembered does not hold any more, with several threads when
/// there is enough to do.
void skill_index::examine(survey& found) const {
  const skill_directory& in = *found.directory;
  const auto look_at = [&](std::size_t i) {
    candidate& c = found.candidates[i];
    const auto id = found.id(c);
    std::string path;
    if (!c.link && c.before != nullptr && c.before->stamp) {
      path.append(id).append("/").append(skill_file_name);
      const auto s = sys::status_at(in.fd.get(), path.c_str(), AT_SYMLINK_NOFOLLOW);
      if (s && file_stamp{s->device, s->inode, s->size, s->modified_ns, s->changed_ns} ==
                   *c.before->stamp)
        return;
    }
    if (auto found_now = examine_skill(in, id, path))
      c.fresh = std::make_unique<examined_skill>(*std::move(found_now));
    c.ignored = !c.fresh;
  };
  const auto useful = found.candidates.size() / directories_per_thread + 1;
  const auto threads = static_cast<unsigned>(std::min<std::size_t>(options_.threads_max, useful));
  parallel_blocks(found.candidates.size(), threads, look_at, share).finish();
}

bool skill_index::nothing_changed(const survey& found, const half& before) const {
  return found.candidates.size() == before.entries.size() && found.left_out == before.left_out &&
         std::none_of(found.candidates.begin(), found.candidates.end(),
                      [](const auto& c) { return c.fresh || c.ignored; });
}

/// Puts what is known of a candidate into the new list and into what is remembered.
void skill_index::adopt(survey& found, candidate& c, bool shadowed, half& now,
                        skill_list& list) const {
  if (c.ignored) return;
  known entry{.name_offset = c.name_offset, .name_size = c.name_size};
  entry.stamp = c.fresh ? c.fresh->stamp : c.before->stamp;
  const half& before = halves_[static_cast<std::size_t>(found.directory->source)]; // NOLINT
  const bool was_skill =
      c.fresh ? std::holds_alternative<skill>(c.fresh->what) : c.before->is_skill;
  entry.is_skill = was_skill && !shadowed;
  entry.at = static_cast<std::uint32_t>(entry.is_skill ? list.skills.size() : now.unloaded.size());
  if (entry.is_skill && c.fresh) {
    list.skills.push_back(std::move(std::get<skill>(c.fresh->what)));
  } else if (entry.is_skill) {
    list.skills.push_back(last_->skills[c.before->at]);
  } else if (was_skill) {
    const std::string id(found.id(c));
    now.unloaded.push_back({.id = id,
                            .source = found.directory->source,
                            .path = found.directory->prefix + id,
                            .why = not_a_skill::shadowed});
    entry.stamp.reset(); // what it would be without the other is not remembered
  } else if (c.fresh) {
    now.unloaded.push_back(std::move(std::get<unloaded_directory>(c.fresh->what)));
  } else {
    now.unloaded.push_back(before.unloaded[c.before->at]);
  }
  now.entries.push_back(entry);
}

std::shared_ptr<const skill_list> skill_index::merge(survey& system, survey& user) {
  auto list = std::make_shared<skill_list>();
  list->skills.reserve(system.candidates.size() + user.candidates.size());
  std::array<half, 2> now;
  auto& [of_system, of_user] = now;
  of_system.entries.reserve(system.candidates.size());
  of_user.entries.reserve(user.candidates.size());
  auto next = system.candidates.begin();
  for (auto& c : user.candidates) {
    const auto id = user.id(c);
    for (; next != system.candidates.end() && system.id(*next) < id; ++next)
      adopt(system, *next, false, of_system, *list);
    bool shadowed = false;
    if (next != system.candidates.end() && system.id(*next) == id) {
      adopt(system, *next++, false, of_system, *list);
      shadowed = !list->skills.empty() && list->skills.back().id == id;
    }
    adopt(user, c, shadowed, of_user, *list);
  }
  for (; next != system.candidates.end(); ++next)
    adopt(system, *next, false, of_system, *list);

  for (survey* found : {&system, &user}) {
    half& kept = found == &system ? of_system : of_user;
    list->not_loaded.insert(list->not_loaded.end(), kept.unloaded.begin(), kept.unloaded.end());
    for (const std::string& id : found->left_out)
      list->not_loaded.push_back({.id = id,
                                  .source = found->directory->source,
                                  .path = found->directory->prefix + id,
                                  .why = not_a_skill::left_out,
                                  .reason = error{error_code::too_many, 0, "entries_max"}});
    kept.left_out = std::move(found->left_out);
    kept.names = std::move(found->names);
  }
  std::sort(list->not_loaded.begin(), list->not_loaded.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  halves_ = std::move(now);
  return list;
}

result<std::shared_ptr<const skill_list>> skill_index::refresh() {
  const std::scoped_lock lock(busy_);
  std::array<survey, 2> found;
  bool changed = last_ == nullptr;
  for (const auto source : {skill_source::system, skill_source::user}) {
    const auto at = static_cast<std::size_t>(source);
    auto& one = found[at]; // NOLINT: two of them
    PADDOCK_TRY(one, look(source));
    if (one.directory) examine(one);
    changed = changed || !nothing_changed(one, halves_[at]); // NOLINT
  }
  if (!changed) return last_;
  auto list = merge(found[0], found[1]);
  // What had to be looked at again may be the same as before.
  if (last_ == nullptr || !same(*last_, *list)) last_ = std::move(list);
  return last_;
}

} // namespace paddock
