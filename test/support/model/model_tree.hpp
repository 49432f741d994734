// SPDX-License-Identifier: MIT
#pragma once

// The tree of model_file_system.hpp and how a path leads through it: one component after the other,
// links put in place of themselves, nothing cached and nothing retried.

#include <paddock/base/error.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::test {

/// A rule that is wrong on purpose: the comparison has to find each of them.
enum class wrong_rule : unsigned char {
  none,
  dotdot_by_spelling, ///< `link/..` is where the link is
  trailing_slash_means_nothing,
  dangling_is_missing,       ///< a link to nothing is told like a missing name
  links_are_removed_through, ///< removing a link removes what it leads to
  parents_stay,              ///< a failed operation leaves the directories that it has made
  reserved_by_spelling,      ///< links to the reserved entry may be used
};

/// Stands for the absolute path of the root in paths and in what links say.
inline constexpr std::string_view root_mark = "<root>";
inline constexpr std::string_view reserved_name = ".perstack";

class model_tree {
public:
  enum class kind : unsigned char { file, directory, link };
  enum class last : unsigned char { keep, follow };
  enum class missing : unsigned char { refuse, make };
  using path_names = std::vector<std::string>;

  struct node {
    kind is = kind::directory;
    std::string bytes; ///< of a file; what a link says
    std::map<std::string, std::unique_ptr<node>> children;
    node* parent = nullptr;

    [[nodiscard]] node* find(const std::string& name) const {
      const auto at = children.find(name);
      return at == children.end() ? nullptr : at->second.get();
    }
    node& add(const std::string& name, kind what) {
      auto fresh = std::make_unique<node>();
      fresh->is = what;
      return take(name, std::move(fresh));
    }
    node& take(const std::string& name, std::unique_ptr<node> child) {
      child->parent = this;
      return *(children[name] = std::move(child));
    }
    std::unique_ptr<node> release(const std::string& name) {
      auto child = std::move(children.at(name));
      children.erase(name);
      return child;
    }
    [[nodiscard]] std::size_t count() const {
      std::size_t all = 1;
      for (const auto& [name, child] : children)
        all += child->count();
      return all;
    }
  };

  /// Where a path leads.
  struct found_path {
    std::optional<error_code> failed;
    node* at = nullptr;   ///< what was found, or the deepest directory that is there
    path_names names;     ///< to there
    path_names absent;    ///< what is missing beneath it
    bool by_link = false; ///< a link asks for what is missing
  };

  /// The place of an entry that exists or is to be made.
  struct found_place {
    std::optional<error_code> failed;
    node* parent = nullptr; ///< the deepest directory that is there
    path_names names;       ///< to there
    path_names to_make;     ///< directories beneath it
    std::string name;
    node* existing = nullptr;
    bool slash = false; ///< only a directory will do

    [[nodiscard]] path_names path() const {
      path_names all = names;
      all.insert(all.end(), to_make.begin(), to_make.end());
      all.push_back(name);
      return all;
    }
  };

  explicit model_tree(wrong_rule wrong) : wrong_(wrong) {}

  [[nodiscard]] node& top() { return top_; }
  [[nodiscard]] const node& top() const { return top_; }

  /// What `path` names, links followed.
  [[nodiscard]] found_path open(std::string_view path) {
    path_names parts;
    if (const auto no = check_spelling(path, parts)) return {.failed = no};
    found_path found = walk(parts);
    if (found.failed) return found;
    if (is_reserved(found)) return {.failed = error_code::protected_entry};
    if (!found.absent.empty())
      return {.failed = found.by_link ? dangling() : error_code::not_found};
    if (demands_directory(path) && found.at->is != kind::directory)
      return {.failed = error_code::not_a_directory};
    return found;
  }

  /// The last name of `path` and the directory that it is in.
  [[nodiscard]] found_place locate(std::string_view path, last how, missing parents) {
    path_names parts;
    if (const auto no = check_spelling(path, parts)) return {.failed = no};
    if (parts.empty()) return {.failed = error_code::workspace_root};
    if (parts.back() == "..") return {.failed = refuse_dotdot(parts)};
    found_place where = place_of({parts.begin(), parts.end() - 1}, parts.back(), parents);
    where.slash = demands_directory(path);
    if (where.failed || where.existing == nullptr || where.existing->is != kind::link ||
        how == last::keep)
      return where;
    const found_path target = walk(parts);
    if (target.failed) return {.failed = target.failed};
    if (is_reserved(target)) return {.failed = error_code::protected_entry};
    path_names names = target.names;
    names.insert(names.end(), target.absent.begin(), target.absent.end());
    if (names.empty()) return {.failed = error_code::is_a_directory};
    const bool slash = where.slash;
    where = place_of({names.begin(), names.end() - 1}, names.back(), missing::refuse);
    where.slash = slash;
    return where;
  }

  /// The directory of a place, with what is missing of it.
  static node& make_parents(const found_place& where) {
    node* at = where.parent;
    for (const auto& name : where.to_make)
      at = &at->add(name, kind::directory);
    return *at;
  }

  static path_names split(std::string_view path) {
    path_names parts;
    for (std::size_t at = 0; at < path.size();) {
      const auto end = std::min(path.find('/', at), path.size());
      if (end > at && path.substr(at, end - at) != ".")
        parts.emplace_back(path.substr(at, end - at));
      at = end + 1;
    }
    return parts;
  }
  static std::string joined(const path_names& names) {
    std::string path;
    for (const auto& name : names)
      path += (path.empty() ? "" : "/") + name;
    return path;
  }

private:
  static constexpr std::size_t name_bytes = 255;
  static constexpr int links_followed = 40;

  [[nodiscard]] error_code dangling() const {
    return wrong_ == wrong_rule::dangling_is_missing ? error_code::not_found
                                                     : error_code::dangling_symlink;
  }

  [[nodiscard]] bool demands_directory(std::string_view path) const {
    if (wrong_ == wrong_rule::trailing_slash_means_nothing) return false;
    const auto slash = path.rfind('/');
    const auto end = slash == std::string_view::npos ? path : path.substr(slash + 1);
    return end.empty() || end == "." || end == "..";
  }

  /// What can be said of a path by looking at it alone.
  std::optional<error_code> check_spelling(std::string_view path, path_names& parts) const {
    if (path.empty()) return error_code::invalid_argument;
    if (path.starts_with(root_mark) &&
        (path.size() == root_mark.size() || path[root_mark.size()] == '/'))
      path.remove_prefix(root_mark.size());
    else if (path.starts_with(root_mark) || path.front() == '/')
      return error_code::escapes_root;
    parts = split(path);
    for (const auto& part : parts)
      if (part.size() > name_bytes) return error_code::name_too_long;
    if (std::ranges::find(parts, reserved_name) != parts.end()) return error_code::protected_entry;
    if (wrong_ == wrong_rule::dotdot_by_spelling) cancel_dotdot(parts);
    return {};
  }

  static void cancel_dotdot(path_names& parts) {
    path_names kept;
    for (const auto& part : parts) {
      if (part == ".." && !kept.empty() && kept.back() != "..")
        kept.pop_back();
      else
        kept.push_back(part);
    }
    parts = kept;
  }

  static error_code refuse_dotdot(path_names parts) {
    cancel_dotdot(parts);
    if (parts.empty()) return error_code::workspace_root;
    return parts.front() == ".." ? error_code::escapes_root : error_code::invalid_argument;
  }

  [[nodiscard]] bool is_reserved(const found_path& found) const {
    if (wrong_ == wrong_rule::reserved_by_spelling) return false;
    const auto among = [](const path_names& names) {
      return std::ranges::find(names, reserved_name) != names.end();
    };
    return among(found.names) || among(found.absent);
  }

  /// Of a place in the reserved entry nothing else is told.
  [[nodiscard]] error_code told(const found_path& where, error_code failure) const {
    return is_reserved(where) ? error_code::protected_entry : failure;
  }

  found_path walk(const path_names& parts) {
    struct step {
      std::string name;
      bool from_link;
    };
    std::deque<step> rest;
    for (const auto& part : parts)
      rest.push_back({part, false});
    found_path now{.at = &top_};
    int links = 0;
    while (!rest.empty()) {
      const step next = rest.front();
      rest.pop_front();
      if (now.at->is != kind::directory) return {.failed = told(now, error_code::not_a_directory)};
      if (next.name == ".") continue;
      if (next.name == "..") {
        if (now.at == &top_) return {.failed = error_code::escapes_root};
        if (is_reserved(now)) return {.failed = error_code::protected_entry};
        now.at = now.at->parent;
        now.names.pop_back();
        continue;
      }
      if (next.name.size() > name_bytes) return {.failed = told(now, error_code::name_too_long)};
      node* child = now.at->find(next.name);
      if (child == nullptr) {
        if (next.from_link && !rest.empty()) return {.failed = told(now, dangling())};
        now.by_link = next.from_link;
        now.absent.push_back(next.name);
        for (const auto& beyond : rest) {
          if (beyond.name == "..") return {.failed = told(now, error_code::not_found)};
          now.absent.push_back(beyond.name);
        }
        return now;
      }
      if (child->is != kind::link) {
        now.at = child;
        now.names.push_back(next.name);
        continue;
      }
      if (++links > links_followed) return {.failed = told(now, error_code::symlink_loop)};
      const std::string& target = child->bytes;
      if (target.starts_with(std::string(root_mark) + '/'))
        return {.failed = told(now, error_code::absolute_symlink_inside)};
      if (target.front() == '/' || target.starts_with(root_mark))
        return {.failed = told(now, error_code::absolute_symlink)};
      if (target.ends_with('/') || target.ends_with("/.")) rest.push_front({".", true});
      const auto said = split(target);
      for (auto part = said.rbegin(); part != said.rend(); ++part)
        rest.push_front({*part, true});
    }
    return now;
  }

  found_place place_of(const path_names& parent, const std::string& name, missing parents) {
    const found_path found = walk(parent);
    if (found.failed) return {.failed = found.failed};
    if (is_reserved(found)) return {.failed = error_code::protected_entry};
    if (!found.absent.empty() && found.by_link) return {.failed = dangling()};
    if (!found.absent.empty() && parents == missing::refuse)
      return {.failed = error_code::not_found};
    if (found.at->is != kind::directory) return {.failed = error_code::not_a_directory};
    found_place where{
        .parent = found.at, .names = found.names, .to_make = found.absent, .name = name};
    if (name == reserved_name) return {.failed = error_code::protected_entry};
    if (where.to_make.empty()) where.existing = where.parent->find(name);
    return where;
  }

  wrong_rule wrong_;
  node top_;
};

} // namespace paddock::test
