// SPDX-License-Identifier: MIT
#include "skill/import_policy.hpp"

#include "path/git_names.hpp"
#include "path/name_folding.hpp"
#include "path/name_rules.hpp"
#include "skill/index.hpp"
#include "skill/name_collision.hpp"

#include <paddock/base/detail/utf8.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace paddock {
namespace {

bool has_control_character(std::string_view name) {
  return std::any_of(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7F;
  });
}

/// Calls visit(component, rest of the path) for every component; ends early when it fails.
template <class Visit> result<void> for_each_component(std::string_view path, Visit&& visit) {
  for (std::size_t from = 0;;) {
    const auto slash = path.find('/', from);
    PADDOCK_CHECK(visit(path.substr(from, slash - from), path.substr(0, slash)));
    if (slash == std::string_view::npos) return {};
    from = slash + 1;
  }
}

result<void> check_size(const source_entry& entry, const import_context& in) {
  using enum import_refusal;
  const auto& most = in.limits();
  if (entry.size > most.file_bytes_max) return in.refuse(file_too_large, entry.path);
  if (entry.size > most.ratio_bytes_min &&
      entry.size / std::max<std::uint64_t>(entry.packed, 1) > most.ratio_max)
    return in.refuse(ratio, entry.path);
  return {};
}

bool is_ignored(std::string_view path, const import_context& in) {
  bool ignored = false;
  const auto look = [&](std::string_view part, std::string_view so_far) -> result<void> {
    if (ignored || !is_by_product(part)) return {};
    ignored = true;
    in.report.left_out.emplace_back(so_far);
    return {};
  };
  (void)for_each_component(path, look).has_value();
  return ignored;
}

/// Every name that the entries make, folders on the way included, under the spelling that it shares
/// with others.
class name_table {
public:
  result<void> add(const source_entry& entry, const import_context& in) {
    return for_each_component(
        entry.path, [&](std::string_view, std::string_view path) -> result<void> {
          const bool directory =
              path.size() < entry.path.size() || entry.kind == entry_kind::directory;
          const auto [known, fresh] =
              names_.try_emplace(folded_name(path), name{std::string(path), directory});
          if (fresh) return {};
          const auto& [spelling, was_directory] = known->second;
          if (directory != was_directory)
            return in.refuse(import_refusal::file_and_directory, entry.path);
          if (!directory || spelling != path)
            return in.refuse(import_refusal::duplicate, entry.path);
          return {};
        });
  }

  /// Fails where a folder, or all of it, is what git takes for a repository.
  [[nodiscard]] result<void> check_repositories(const import_context& in) const {
    std::map<std::string_view, std::set<std::string_view>> marks; // by folder
    for (const auto& [folded, known] : names_) {
      const auto parent_end = folded.rfind('/');
      const auto folder =
          std::string_view(folded).substr(0, parent_end == std::string::npos ? 0 : parent_end);
      const auto last = std::string_view(known.spelling).substr(known.spelling.rfind('/') + 1);
      for (const std::string_view mark : git_marks)
        if (same_folded(last, mark)) marks[folder].insert(mark);
      const auto of_folder = marks.find(folder);
      if (of_folder != marks.end() &&
          is_git_repository([&](const char* mark) { return of_folder->second.contains(mark); }))
        return in.refuse(import_refusal::repository, known.spelling);
    }
    return {};
  }

private:
  struct name {
    std::string spelling;
    bool directory = false;
  };
  std::map<std::string, name, std::less<>> names_;
};

/// The top folder that holds the skill; empty when it is at the top itself.
result<std::string> find_top(const std::vector<source_entry>& entries, const import_context& in) {
  std::set<std::string, std::less<>> tops;
  std::set<std::string, std::less<>> skills;
  std::string_view other_case;
  for (const auto& entry : entries) {
    if (entry.kind == entry_kind::directory) continue;
    const std::string_view path = entry.path;
    if (path == skill_file_name) return std::string();
    const auto top = first_component(path);
    tops.emplace(top);
    const auto inside = path.substr(std::min(top.size() + 1, path.size()));
    if (inside == skill_file_name) skills.emplace(top);
    if (folded_name(inside) == "skill.md" || folded_name(path) == "skill.md") other_case = path;
  }
  if (skills.size() > 1) {
    std::string all;
    for (const auto& skill : skills)
      all.append(all.empty() ? "" : ", ").append(skill);
    return in.refuse(import_refusal::several_skills, all);
  }
  if (skills.empty())
    return in.refuse(other_case.empty() ? import_refusal::no_skill_file
                                        : import_refusal::skill_file_case,
                     other_case);
  for (const auto& top : tops)
    if (top != *skills.begin()) return in.refuse(import_refusal::beside_skill, top);
  return *skills.begin();
}

/// What programs outside obey is nothing that a skill brings, wherever in it: somebody may open
/// that folder with an editor. Nor is what no tool would ever show or remove.
result<void> check_protected(const std::vector<source_entry>& entries, const import_context& in) {
  PADDOCK_TRY(const auto rules, name_rules::make(usual_protected_names()));
  const name_rules::look_up look{.holds_repository = [](std::string_view) { return true; },
                                 .counts_above = [](std::string_view) { return false; }};
  for (const auto& entry : entries)
    if (rules.leads_through_hidden(entry.path) ||
        rules.find_read_only(entry.path, look).how != name_rules::relation::none)
      return in.refuse(import_refusal::protected_name, entry.path);
  return {};
}

} // namespace

result<void> check_entry_name(std::string_view path, const import_context& in) {
  using enum import_refusal;
  if (path.empty()) return in.refuse(empty_name, path);
  if (path.size() > in.limits().path_bytes_max) return in.refuse(path_too_long, path);
  if (has_control_character(path)) return in.refuse(control_character, path);
  if (!detail::is_valid_utf8(path)) return in.refuse(not_utf8, path);
  if (path.front() == '/') return in.refuse(absolute_name, path);
  if (path.find('\\') != std::string_view::npos) return in.refuse(backslash, path);
  if (path.find(':') != std::string_view::npos) return in.refuse(colon, path);
  std::uint64_t depth = 0;
  return for_each_component(path, [&](std::string_view part, std::string_view) -> result<void> {
    if (part.empty()) return in.refuse(empty_name, path);
    if (part == ".") return in.refuse(dot_component, path);
    if (part == "..") return in.refuse(parent_component, path);
    if (part.size() > name_bytes_max) return in.refuse(component_too_long, path);
    if (++depth > in.limits().depth_max) return in.refuse(too_deep, path);
    return {};
  });
}

result<import_plan> plan_import(std::vector<source_entry> entries, const import_context& in) {
  if (entries.size() > in.limits().entries_max) return in.refuse(import_refusal::too_many_entries);
  std::uint64_t total = 0;
  for (const auto& entry : entries) {
    PADDOCK_CHECK(check_entry_name(entry.path, in));
    PADDOCK_CHECK(check_size(entry, in));
    total += entry.size; // cannot overflow: entries_max times file_bytes_max
    if (total > in.limits().total_bytes_max)
      return in.refuse(import_refusal::total_too_large, entry.path);
  }
  std::erase_if(entries, [&](const auto& entry) { return is_ignored(entry.path, in); });
  std::ranges::sort(in.report.left_out);
  const auto again = std::ranges::unique(in.report.left_out);
  in.report.left_out.erase(again.begin(), again.end());
  name_table names;
  for (const auto& entry : entries)
    PADDOCK_CHECK(names.add(entry, in));
  PADDOCK_CHECK(names.check_repositories(in));
  PADDOCK_CHECK(check_protected(entries, in));

  import_plan plan;
  PADDOCK_TRY(plan.top, find_top(entries, in));
  std::set<std::string, std::less<>> directories;
  for (auto& entry : entries) {
    if (!plan.top.empty()) {
      // Empty folders beside the skill are of no interest.
      if (first_component(entry.path) != plan.top || entry.path == plan.top) continue;
      entry.path.erase(0, plan.top.size() + 1);
    }
    const auto parent_end = entry.path.rfind('/');
    const bool directory = entry.kind == entry_kind::directory;
    if (directory || parent_end != std::string::npos)
      PADDOCK_CHECK(for_each_component(
          directory ? entry.path : std::string_view(entry.path).substr(0, parent_end),
          [&](std::string_view, std::string_view path) -> result<void> {
            directories.emplace(path);
            return {};
          }));
    if (!directory) plan.files.push_back(std::move(entry));
  }
  // Bytewise order puts every folder before what is in it.
  plan.directories.assign(directories.begin(), directories.end());
  return plan;
}

} // namespace paddock
