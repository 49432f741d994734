// SPDX-License-Identifier: MIT
#include "path/name_rules.hpp"

#include "path/git_names.hpp"
#include "path/name_folding.hpp"

#include <paddock/base/detail/ascii.hpp>
#include <paddock/base/limits.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <mutex>
#include <set>

namespace paddock {
namespace {

constexpr std::string_view repository = git_directory;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-' || c == '/';
}

std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  for (auto part = next_component(path); !part.empty(); part = next_component(path))
    parts.push_back(part);
  return parts;
}

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::any_of(names, [&](std::string_view each) { return same_folded(name, each); });
}

bool begins_with(std::span<const std::string_view> parts, std::span<const std::string_view> rule) {
  return parts.size() >= rule.size() &&
         std::ranges::equal(parts.first(rule.size()), rule,
                            [](auto part, auto of_rule) { return same_folded(part, of_rule); });
}

constexpr const char* git_head = ".git/HEAD";

constexpr std::string_view protect_option = "--protect ";

} // namespace

const char* kept_name(std::string_view name) {
  static std::mutex guard;
  static auto& names = *new std::set<std::string, std::less<>>;
  const std::scoped_lock lock(guard);
  return names.emplace(name).first->c_str();
}

std::vector<protected_name> usual_protected_names() {
  return {
#define X(name, mode, who) {name, protection::mode},
      PADDOCK_PROTECTED_NAMES(X)
#undef X
  };
}

void protect(std::vector<protected_name>& names, protected_name name) {
  unprotect(names, name.name);
  names.push_back(std::move(name));
}

bool unprotect(std::vector<protected_name>& names, std::string_view name) {
  return std::erase_if(names, [&](const protected_name& each) { return each.name == name; }) > 0;
}

bool is_usual(const protected_name& rule) {
  const auto usual = usual_protected_names();
  return std::ranges::find(usual, rule) != usual.end();
}

std::string how_to_allow(const protected_name& rule) {
  if (rule.mode == protection::hidden || rule.name.empty()) return {};
  if (rule.name == git_own_name) return "git keeps its own there; use git through exec";
  if (is_usual(rule)) return "a person can allow it with --unprotect " + rule.name;
  const bool is_told = rule.name.starts_with(protect_option);
  return std::string(is_told ? "" : protect_option) + rule.name + " was given at the start";
}

bool is_valid(const protected_name& name) noexcept {
  std::string_view rest = name.name;
  if (rest.empty() || rest.size() > path_bytes_max || rest.front() == '/' || rest.back() == '/' ||
      rest.find('\0') != std::string_view::npos || rest.find("//") != std::string_view::npos)
    return false;
  unsigned count = 0;
  for (auto part = next_component(rest); !part.empty(); part = next_component(rest)) {
    if (part == "." || part == ".." || part.size() > name_bytes_max) return false;
    ++count;
  }
  return count == 1 || name.mode == protection::read_only;
}

const char* told_name(const protected_name& rule) {
  return kept_name(rule.asked ? std::string(protect_option) + rule.name : rule.name);
}

result<name_rules> name_rules::make(std::span<const protected_name> names) {
  name_rules made;
  for (unsigned c = 0; c < made.table_.size(); ++c)
    if (!is_plain(static_cast<char>(c))) made.table_[c] = odd;
  for (const auto& each : names) {
    if (!is_valid(each)) return error{error_code::invalid_name, 0, "protected name"};
    const char* name = kept_name(each.name);
    for (const char first : {detail::ascii_lower(*name), detail::ascii_upper(*name)})
      made.table_[static_cast<unsigned char>(first)] |= begins;
    if (each.mode == protection::hidden) {
      made.hidden_.push_back(name);
      continue;
    }
    auto parts = parts_of(name);
    const bool anywhere = parts.size() > 1 && parts.front() == repository;
    if (anywhere) made.note_in_git(parts[1]);
    made.guards_git_ = made.guards_git_ || anywhere;
    made.read_only_.push_back({name, told_name(each), std::move(parts), anywhere});
  }
  // What is in a hidden entry is hidden with it; of repositories some are called otherwise.
  std::erase_if(made.read_only_, [&](const rule& each) {
    return !each.anywhere && made.leads_through_hidden(each.name);
  });
  if (!made.guards_git_) return made;
  made.read_only_.push_back({git_head, git_own_name, parts_of(git_head), true});
  for (const char* each : git_own) {
    made.read_only_.push_back({each, git_own_name, parts_of(each), true});
    made.note_in_git(parts_of(each)[1]);
  }
  for (const std::string_view mark : git_marks)
    made.note_in_git(mark);
  return made;
}

void name_rules::note_in_git(std::string_view part) {
  for (const char first : {detail::ascii_lower(part[0]), detail::ascii_upper(part[0])})
    table_[static_cast<unsigned char>(first)] |= begins_in_git;
}

bool name_rules::is_hidden(std::string_view component) const {
  if (hidden_.empty() || component.empty() || !could_concern_name(component)) return false;
  return std::ranges::any_of(hidden_, [&](std::string_view name) {
    return same_folded(component, name) ||
           begins_folded(component, std::string(name).append(moved_aside_mark));
  });
}

bool name_rules::leads_through_hidden(std::string_view path) const {
  if (hidden_.empty() || !could_concern(path)) return false;
  for (auto part = next_component(path); !part.empty(); part = next_component(path))
    if (is_hidden(part)) return true;
  return false;
}

const char* name_rules::find_of_repository(
    std::string_view resolved,
    const std::function<bool(std::string_view directory)>& is_repository) const {
  if (!could_be_of_repository(resolved)) return nullptr;
  const auto parts = parts_of(resolved);
  for (std::size_t at = 0; at < parts.size(); ++at) {
    if (same_folded(parts[at], repository)) { // its name says what it is; others may be in it
      ++at;
      continue;
    }
    const auto begin = static_cast<std::size_t>(parts[at].data() - resolved.data());
    const auto directory = resolved.substr(0, begin == 0 ? 0 : begin - 1);
    const auto from_here = std::span(parts).subspan(at);
    const auto named = std::ranges::find_if(read_only_, [&](const rule& each) {
      return each.anywhere && begins_with(from_here, std::span(each.parts).subspan(1));
    });
    // Without these it would be taken for no repository, and then for one again.
    const bool is_mark = guards_git_ && from_here.size() == 1 && is_one_of(parts[at], git_marks);
    if ((named != read_only_.end() || is_mark) && is_repository(directory))
      return named != read_only_.end() ? named->told : git_own_name;
  }
  return nullptr;
}

bool name_rules::is_directory_of_git(std::string_view resolved) const {
  if (!guards_git_ || !could_concern(resolved)) return false;
  const auto parts = parts_of(resolved);
  if (parts.size() < 2 || !is_one_of(parts.back(), git_directories)) return false;
  for (std::size_t at = 0; at + 1 < parts.size(); ++at)
    if (same_folded(parts[at], repository))
      return at + 2 == parts.size() || is_one_of(parts[at + 1], git_stores);
  return false;
}

bool name_rules::is_moved_by_git(
    std::string_view resolved,
    const std::function<bool(std::string_view directory)>& is_repository) const {
  if (!guards_git_) return false;
  for (const std::string_view part : parts_of(resolved)) {
    if (same_folded(part, repository)) return true;
    const auto begin = static_cast<std::size_t>(part.data() - resolved.data());
    if (is_one_of(part, git_stores) &&
        is_repository(resolved.substr(0, begin == 0 ? 0 : begin - 1)))
      return true;
  }
  return false;
}

bool name_rules::is_removed_by_git(
    std::string_view resolved,
    const std::function<bool(std::string_view directory)>& is_repository) const {
  if (!guards_git_) return false;
  const auto parts = parts_of(resolved);
  const auto up_to = [&](std::size_t at) { // the path that ends before that part
    const auto begin = static_cast<std::size_t>(parts[at].data() - resolved.data());
    return resolved.substr(0, begin == 0 ? 0 : begin - 1);
  };
  for (std::size_t at = 0; at < parts.size(); ++at) {
    if (!is_one_of(parts[at], git_stores)) continue;
    if ((at == 0 || !same_folded(parts[at - 1], repository)) && !is_repository(up_to(at))) continue;
    // A name of a submodule may have slashes.
    std::size_t within = at + 2;
    while (within < parts.size() && !is_repository(up_to(within)))
      ++within;
    if (within >= parts.size()) return true;
    at = within - 1;
  }
  return false;
}

bool name_rules::has_mark(
    std::string_view resolved,
    const std::function<bool(std::string_view directory, std::string_view mark)>& asked) const {
  if (!guards_git_ || !could_be_of_repository(resolved)) return false;
  const auto parts = parts_of(resolved);
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const std::string_view part = parts[at];
    if (same_folded(part, repository)) { // its name says what it is; others may be in it
      ++at;
      continue;
    }
    const auto begin = static_cast<std::size_t>(part.data() - resolved.data());
    for (const std::string_view mark : git_marks)
      if (same_folded(part, mark) && asked(resolved.substr(0, begin == 0 ? 0 : begin - 1), mark))
        return true;
  }
  return false;
}

/// `parts` begins where the rule is to begin.
name_rules::match name_rules::match_at(const rule& asked, std::span<const std::string_view> parts) {
  const auto match_rest = [&](std::size_t from, std::size_t of_rule) -> match {
    while (from < parts.size() && of_rule < asked.parts.size() &&
           same_folded(parts[from], asked.parts[of_rule])) {
      ++from;
      ++of_rule;
    }
    if (of_rule == asked.parts.size()) return {.how = relation::inside, .name = asked.told};
    if (of_rule == 0 || from < parts.size()) return {};
    const std::string_view whole = asked.name;
    const auto rest = static_cast<std::size_t>(asked.parts[of_rule].data() - whole.data());
    return {.how = relation::above, .name = asked.told, .rest = whole.substr(rest)};
  };
  const match here = match_rest(0, 0);
  if (here.how != relation::none || !asked.anywhere || parts.size() < 3) return here;
  // What belongs to submodules and worktrees lies deeper in the same `.git`.
  if (!same_folded(parts[0], repository) || !is_one_of(parts[1], git_stores)) return {};
  for (std::size_t at = 2; at < parts.size(); ++at)
    if (same_folded(parts[at], asked.parts[1]))
      if (const match deeper = match_rest(at, 1); deeper.how != relation::none) return deeper;
  return {};
}

name_rules::match name_rules::find_read_only(std::string_view resolved, const look_up& look) const {
  if (!could_concern(resolved)) return {};
  const auto parts = parts_of(resolved);
  for (std::size_t at = 0; at < parts.size(); ++at) {
    const auto from_here = std::span(parts).subspan(at);
    const auto begin = static_cast<std::size_t>(parts[at].data() - resolved.data());
    for (const rule& each : read_only_) {
      const match found = match_at(each, from_here);
      if (found.how == relation::none) continue;
      // Further down a name of several components counts only as a whole: a repository may go.
      const bool everywhere = at == 0 || each.anywhere;
      const bool is_above = found.how == relation::above;
      if (!everywhere &&
          ((is_above && !look.of_moved) || !look.holds_repository(resolved.substr(0, begin - 1))))
        continue;
      if (!is_above || look.counts_above(found.rest)) return found;
    }
  }
  return {};
}

} // namespace paddock
