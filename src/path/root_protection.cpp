// SPDX-License-Identifier: MIT

// Which entries of a root are hidden and which are read-only.

#include "path/entry_lookup.hpp"
#include "path/git_names.hpp"
#include "path/name_folding.hpp"
#include "path/name_rules.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>
#include <paddock/path/root.hpp>

#include <fcntl.h>

#include <algorithm>
#include <set>
#include <utility>

namespace paddock {
namespace {

bool is_or_is_beneath(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

error refused(const char* name) {
  return {error_code::write_protected, 0, name};
}

bool holds_git(const entry_lookup& look, std::string_view directory) {
  return is_git_repository([&](const char* name) { return look.has(directory, name); });
}

/// Whether the last mark of a repository would be made, in a directory that has what git obeys in
/// one, or says where that is: written in this order, no rule would have held that back.
bool makes_repository(const name_rules& rules, const entry_lookup& look,
                      std::string_view resolved) {
  return rules.has_mark(resolved, [&](std::string_view directory, std::string_view mark) {
    const auto would_have = [&](const char* name) {
      return mark == name || look.has(directory, name);
    };
    if (holds_git(look, directory) || !is_git_repository(would_have)) return false;
    // By that one, what git obeys is found in another directory, which no rule knows.
    return would_have("commondir") || std::ranges::any_of(git_obeyed, [&](const char* name) {
             return look.has(directory, name);
           });
  });
}

} // namespace

root::rules_owner& root::rules_owner::operator=(rules_owner&& other) noexcept {
  std::swap(rules_, other.rules_);
  return *this;
}

const name_rules* root::rules_owner::operator->() const noexcept {
  static const name_rules none;
  return rules_ != nullptr ? rules_ : &none;
}

root::rules_owner::~rules_owner() {
  delete rules_;
}

/// Takes in the options. What a read-only link at the top leads to is read-only too.
result<void> root::reserve(const root_options& options) {
  PADDOCK_TRY(auto rules, name_rules::make(options.protected_names));
  rules_ = rules_owner(new name_rules(std::move(rules)));
  for (const protected_name& rule : options.protected_names) {
    const std::string& name = rule.name;
    if (rule.mode == protection::hidden) {
      auto held = sys::openat(fd_.get(), name.c_str(), O_PATH | O_NOFOLLOW);
      const result<file_status> status =
          held ? sys::status_at(held->get(), "") : result<file_status>(held.error());
      reserved_.push_back({name, status ? std::optional(*status) : std::nullopt,
                           status ? *std::move(held) : file_descriptor()});
      continue;
    }
    const auto status = sys::status_at(fd_.get(), name.c_str(), AT_SYMLINK_NOFOLLOW);
    if (status && status->kind == entry_kind::symlink) {
      const auto target = open_beneath(name, access::inspect);
      if (target && !target->path.empty()) read_only_.push_back({target->path, told_name(rule)});
    }
  }
  for (const std::string& path : options.read_only_paths) {
    const auto inside = strip_root_prefix(path, canonical_);
    if (inside && !inside->empty()) read_only_.push_back({std::string(*inside), ""});
  }
  return {};
}

bool root::is_hidden_name(std::string_view component) const {
  return rules_->is_hidden(component);
}

bool root::leads_through(const file_status& object, std::string_view resolved) const {
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = resolved.find('/', end + 1);
    const std::string prefix(resolved.substr(0, end));
    const auto here = sys::status_at(fd_.get(), prefix.c_str(), AT_SYMLINK_NOFOLLOW);
    if (here && here->same_object(object)) return true;
  }
  return false;
}

bool root::is_protected(std::string_view resolved) const {
  const auto first = first_component(resolved);
  if (first.empty()) return false;
  if (rules_->leads_through_hidden(resolved)) return true;
  const bool alias = could_be_an_alias(first);
  for (const auto& [name, object, held] : reserved_) {
    if (!object && !alias) continue;
    const auto now = sys::status_at(fd_.get(), name.c_str(), AT_SYMLINK_NOFOLLOW);
    if (now && alias && leads_through(*now, first)) return true;
    // A directory that is where it was is nowhere else.
    const bool in_place =
        now && object && now->same_object(*object) && now->kind == entry_kind::directory;
    if (object && !in_place && leads_through(*object, resolved)) return true;
  }
  return false;
}

bool root::protected_in_place() const {
  return std::all_of(reserved_.begin(), reserved_.end(), [&](const auto& entry) {
    if (!entry.object) return true;
    const auto now = sys::status_at(fd_.get(), entry.name.c_str(), AT_SYMLINK_NOFOLLOW);
    return now && now->same_object(*entry.object) && now->kind == entry_kind::directory;
  });
}

std::optional<protected_together>
root::find_protected_together(std::span<const std::string> resolved) const {
  const lookup_from look(fd_.get(), "");
  using mark_in = std::pair<std::string_view, std::string_view>;
  std::set<mark_in> marks;
  std::set<std::string_view> holders; // of a `.git`
  for (const std::string& path : resolved) {
    (void)rules_->has_mark(path, [&](std::string_view directory, std::string_view mark) {
      marks.emplace(directory, mark);
      return false; // all of them
    });
    for (auto at = path.find("/.git/"); at != path.npos; at = path.find("/.git/", at + 1))
      holders.insert(std::string_view(path).substr(0, at));
  }
  const auto makes_one = [&](std::string_view directory, std::string_view) {
    const auto will_have = [&](const char* name) {
      return marks.contains(mark_in(directory, name)) || look.has(directory, name);
    };
    return is_git_repository(will_have) && !holds_git(look, directory);
  };
  const name_rules::look_up beside{
      .holds_repository = [&](std::string_view directory) { return holders.contains(directory); },
      .counts_above = [](std::string_view) { return false; }};
  for (std::size_t i = 0; i < resolved.size(); ++i) {
    if (rules_->has_mark(resolved[i], makes_one)) return protected_together{i, git_own_name};
    if (holders.empty()) continue;
    const auto found = rules_->find_read_only(resolved[i], beside);
    if (found.how != name_rules::relation::none) return protected_together{i, found.name};
  }
  return std::nullopt;
}

result<void> root::check_movable(std::string_view from, std::string_view to,
                                 entry_kind kind) const {
  const lookup_from look(fd_.get(), "");
  PADDOCK_CHECK(check_movable_at(from, look, kind, look, from));
  return check_movable_at(to, look, kind, look, from);
}

result<void> root::check_movable(const place& from, const place& to) const {
  const lookup_from look(from.parent.get(), parent(from.path));
  const lookup_from look_there(to.parent.get(), parent(to.path));
  const entry_kind kind = from.existing->kind;
  PADDOCK_CHECK(check_movable_at(from.path, look, kind, look, from.path));
  return check_movable_at(to.path, look_there, kind, look, from.path);
}

result<void> root::check_movable_at(std::string_view path, const entry_lookup& around,
                                    entry_kind kind, const entry_lookup& look,
                                    std::string_view now) const {
  if (kind == entry_kind::file) return {};
  if (rules_->is_moved_by_git(path, [&](auto above) { return holds_git(around, above); }))
    return refused(git_own_name);
  // What a link leads to may have the names at any time.
  const auto found = rules_->find_read_only(
      path, {.holds_repository = [&](auto above) { return around.has(above, git_directory); },
             .counts_above =
                 [&](std::string_view rest) {
                   return kind != entry_kind::directory || look.has(now, rest);
                 },
             .of_moved = true});
  return found.how == name_rules::relation::none ? result<void>() : refused(found.name);
}

result<void> root::check_changeable(std::string_view resolved, purpose wanted) const {
  return check_changeable(resolved, wanted, lookup_from(fd_.get(), ""));
}

result<void> root::check_changeable(std::string_view resolved, purpose wanted,
                                    const entry_lookup& look) const {
  for (const auto& [path, rule] : read_only_) {
    const bool above = wanted != purpose::make_directory && is_or_is_beneath(path, resolved);
    if (above || is_or_is_beneath(resolved, path)) return refused(rule);
  }
  const auto is_git = [&](std::string_view directory) { return holds_git(look, directory); };
  if (const char* const rule = rules_->find_of_repository(resolved, is_git)) return refused(rule);
  if (makes_repository(*rules_.operator->(), look, resolved)) return refused(git_own_name);
  if (wanted == purpose::remove_tree && rules_->is_removed_by_git(resolved, is_git))
    return refused(git_own_name);
  if (!rules_->could_concern(resolved)) return {};
  if (wanted != purpose::make_directory && rules_->is_directory_of_git(resolved))
    return refused(git_own_name);
  const auto here = [&](std::string_view rest) {
    if (wanted == purpose::make_directory) return false;
    const auto entry = look.status(resolved);
    // A file or link in the place of such a directory leads to others.
    return !entry || entry->kind != entry_kind::directory || look.has(resolved, rest);
  };
  const auto found = rules_->find_read_only(
      resolved,
      {.holds_repository = [&](auto directory) { return look.has(directory, git_directory); },
       .counts_above = here});
  return found.how == name_rules::relation::none ? result<void>() : refused(found.name);
}

} // namespace paddock
