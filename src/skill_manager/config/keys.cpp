// SPDX-License-Identifier: MIT
#include "skill_manager/config/keys.hpp"

#include <paddock/base/detail/nearest_name.hpp>

#include <algorithm>
#include <utility>

namespace paddock::skill_manager {
namespace {

struct key_row {
  section where;
  std::string_view key;
  value_type type;
};

constexpr key_row keys[] = {
#define X(where, key, type, text) {section::where, #key, value_type::type},
    PADDOCK_CONFIG_KEYS(X)
#undef X
};

constexpr std::size_t problems_max = 100;
constexpr std::size_t shown_bytes_max = 80; // of a key that was read

std::string_view name_of(value_type type) {
  switch (type) {
  case value_type::string:
    return "a string";
  case value_type::strings:
    return "an array of strings";
  case value_type::integer:
    return "an integer that is not negative";
  case value_type::boolean:
    return "true or false";
  case value_type::table:
    return "a table";
  case value_type::string_table:
    return "a table of strings";
  case value_type::any:
    break;
  }
  return "a value";
}

std::string_view name_of(node_kind kind) {
  switch (kind) {
  case node_kind::boolean:
    return "a boolean";
  case node_kind::integer:
    return "an integer";
  case node_kind::number:
    return "a number";
  case node_kind::string:
    return "a string";
  case node_kind::array:
    return "an array";
  case node_kind::table:
    return "a table";
  case node_kind::other:
    break;
  }
  return "null or a date";
}

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

/// What is wrong with the value, and on which line; nothing when it fits.
struct misfit {
  unsigned line;
  std::string message;
};
std::optional<misfit> misfit_of(const config_node& value, value_type type) {
  const auto wrong = [&](const config_node& at, std::string_view inside) {
    return misfit{at.line, "must be " + std::string(name_of(type)) + ", not " +
                               std::string(inside) + std::string(name_of(at.kind))};
  };
  const auto string_misfit = [&](const config_node& at) -> std::optional<misfit> {
    if (at.kind != node_kind::string) return wrong(at, "with ");
    if (has_nul(at.text)) return misfit{at.line, "must not hold a NUL byte"};
    return std::nullopt;
  };
  bool fits = true;
  switch (type) {
  case value_type::string:
    if (has_nul(value.text)) return misfit{value.line, "must not hold a NUL byte"};
    fits = value.kind == node_kind::string;
    break;
  case value_type::integer:
    if (value.kind == node_kind::integer && value.integer < 0)
      return misfit{value.line, "must not be negative"};
    fits = value.kind == node_kind::integer;
    break;
  case value_type::boolean:
    fits = value.kind == node_kind::boolean;
    break;
  case value_type::table:
    fits = value.kind == node_kind::table;
    break;
  case value_type::strings:
    fits = value.kind == node_kind::array;
    for (const config_node& element : value.elements)
      if (auto inner = string_misfit(element)) return inner;
    break;
  case value_type::string_table:
    fits = value.kind == node_kind::table;
    for (const config_member& member : value.members)
      if (auto inner = string_misfit(member.value)) return inner;
    break;
  case value_type::any:
    break;
  }
  if (fits) return std::nullopt;
  return wrong(value, "");
}

bool is_setting(const key_row& row) {
  return row.where == section::file_setting || row.where == section::expert_setting;
}

bool belongs_to(const key_row& row, section where) {
  if (row.where == section::file_setting) return where == section::file;
  if (row.where == section::expert_setting) return where == section::expert;
  return row.where == where;
}

bool is_skill(section where) {
  return where == section::stdio || where == section::http || where == section::interactive;
}

/// Of a key that the section does not have.
bool is_mistake(section where, std::string_view key) {
  if (where == section::limits || where == section::tool) return true; // nobody else's
  const bool is_remark = key.empty() ||
                         std::string_view("_/#$").find(key.front()) != std::string_view::npos ||
                         key.starts_with("comment");
  if (where == section::server && is_remark) return false;
  return std::ranges::any_of(keys, [&](const key_row& row) {
    if (is_skill(where) && is_skill(row.where) && row.key == key) return true; // of another type
    return belongs_to(row, where) && detail::is_misspelling(key, row.key);
  });
}

std::string suggestion(section where, std::string_view key) {
  std::vector<std::string_view> known;
  for (const key_row& row : keys)
    if (belongs_to(row, where)) known.push_back(row.key);
  std::string text = detail::did_you_mean(key, known);
  if (text.ends_with('?')) text.pop_back();
  return text;
}

std::string names_of(section where) {
  std::string names;
  for (const key_row& row : keys) {
    if (!belongs_to(row, where)) continue;
    if (!names.empty()) names += ", ";
    names += row.key;
  }
  return names;
}

} // namespace

void problem_list::add_to(std::vector<config_problem>& to, unsigned line, std::string key,
                          std::string message) const {
  if (to.size() == problems_max) {
    to.push_back({std::string(file_), 0, "", "there are more problems"});
  } else if (to.size() < problems_max) {
    to.push_back({std::string(file_), line, std::move(key), std::move(message)});
  }
}

std::string path_of(const std::string& outer, std::string_view key) {
  const bool bare = !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
  const std::string_view shown = key.substr(0, shown_bytes_max);
  std::string path = outer.empty() ? "" : outer + ".";
  if (bare) return path.append(shown);
  path += '"';
  for (const char c : shown)
    path += static_cast<unsigned char>(c) < 0x20 || c == '\x7F' ? '?' : c;
  return path + '"';
}

checked_table::checked_table(const config_node& node, section kind, std::string path,
                             problem_list& problems)
    : node_(node), kind_(kind), path_(std::move(path)), problems_(problems) {
  std::vector<const config_member*> unknown;
  for (const config_member& member : node.members) {
    const auto row = std::ranges::find_if(
        keys, [&](const key_row& r) { return belongs_to(r, kind) && r.key == member.key; });
    if (row == std::end(keys)) {
      unknown.push_back(&member);
    } else if (find(member.key) != nullptr) {
      problems.add(member.line, path_of(path_, member.key), "is given twice");
    } else if (auto wrong = misfit_of(member.value, row->type)) {
      problems.add(wrong->line, path_of(path_, member.key), std::move(wrong->message));
    } else {
      good_.push_back(&member);
    }
  }
  take_unknown(unknown);
}

/// A key that looks like one of ours is a mistake, which must not pass unseen: it may be the one
/// that confines a server. Others are somebody else's.
void checked_table::take_unknown(const std::vector<const config_member*>& unknown) const {
  std::string ignored;
  unsigned line = 0;
  for (const config_member* member : unknown) {
    if (is_mistake(kind_, member->key)) {
      problems_.add(member->line, path_of(path_, member->key),
                    "is not a key of this table" + suggestion(kind_, member->key) +
                        "; its keys are: " + names_of(kind_));
      continue;
    }
    if (ignored.empty()) line = member->line;
    ignored += (ignored.empty() ? "" : ", ") + path_of("", member->key);
  }
  if (!ignored.empty())
    problems_.warn(line, path_, "has keys that mean nothing here and are ignored: " + ignored);
}

const config_member* checked_table::find(std::string_view key) const noexcept {
  const auto found =
      std::ranges::find_if(good_, [&](const config_member* m) { return m->key == key; });
  return found == good_.end() ? nullptr : *found;
}

std::string checked_table::string(std::string_view key) const {
  const config_member* found = find(key);
  return found == nullptr ? std::string() : found->value.text;
}

std::vector<std::string> checked_table::strings(std::string_view key) const {
  std::vector<std::string> all;
  if (const config_member* found = find(key))
    for (const config_node& element : found->value.elements)
      all.push_back(element.text);
  return all;
}

std::vector<std::pair<std::string, std::string>>
checked_table::string_table(std::string_view key) const {
  std::vector<std::pair<std::string, std::string>> all;
  if (const config_member* found = find(key))
    for (const config_member& member : found->value.members)
      all.emplace_back(member.key, member.value.text);
  return all;
}

std::optional<std::int64_t> checked_table::integer(std::string_view key) const {
  if (const config_member* found = find(key)) return found->value.integer;
  return std::nullopt;
}

bool checked_table::boolean(std::string_view key) const {
  const config_member* found = find(key);
  return found != nullptr && found->value.boolean;
}

const config_node& checked_table::table(std::string_view key) const {
  static const config_node none;
  const config_member* found = find(key);
  return found == nullptr ? none : found->value;
}

std::vector<setting> checked_table::settings() const {
  std::vector<setting> all;
  for (const config_member* member : good_)
    for (const key_row& row : keys)
      if (is_setting(row) && belongs_to(row, kind_) && row.key == member->key)
        all.push_back({member->key, member->value.json()});
  return all;
}

unsigned checked_table::line_of(std::string_view key) const noexcept {
  const auto found = std::ranges::find(node_.members, key, &config_member::key);
  return found == node_.members.end() ? node_.line : found->line;
}

void checked_table::require(std::string_view key, std::string_view what_to_give) const {
  const bool given = node_.find(key) != nullptr;
  if (given == has(key) && string(key).empty())
    complain(key, "is required: give " + std::string(what_to_give));
}

void checked_table::complain(std::string_view key, std::string message) const {
  problems_.add(line_of(key), path_of(path_, key), std::move(message));
}

void checked_table::warn(std::string_view key, std::string message) const {
  problems_.warn(line_of(key), path_of(path_, key), std::move(message));
}

void checked_table::warn_here(std::string message) const {
  problems_.warn(node_.line, path_, std::move(message));
}

void checked_table::complain_here(std::string message) const {
  problems_.add(node_.line, path_, std::move(message));
}

} // namespace paddock::skill_manager
