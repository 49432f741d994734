// SPDX-License-Identifier: MIT
#pragma once

// What a workspace holds, as plainly as possible: a map of paths. Every step keeps a whole copy, so
// what changed, by whom, and what a restore has to bring follow from comparing copies.

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::test {

/// By path: "d", "f" or "l", the mode (of a link none) and the content or target.
struct model_entry {
  char kind = 'f';
  unsigned mode = 0644;
  std::string bytes;
  friend bool operator==(const model_entry&, const model_entry&) = default;
};
using model_copy = std::map<std::string, model_entry>;

inline std::string above(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? "" : path.substr(0, slash);
}
inline bool lies_in(const std::string& path, const std::string& top) {
  return path == top || path.starts_with(top + '/');
}

/// Each operation says whether it can be done, and does it then.
class history_model {
public:
  model_copy now;

  bool write(const std::string& path, const std::string& bytes) {
    if (!is_file_or_free(path) || !make_above(path)) return false;
    now.try_emplace(path).first->second.bytes = bytes;
    return true;
  }
  bool append(const std::string& path, const std::string& bytes) {
    if (!is(path, 'f')) return false;
    now[path].bytes += bytes;
    return true;
  }
  /// The first `from` becomes `to`.
  bool edit(const std::string& path, char from, const std::string& to) {
    if (!is(path, 'f')) return false;
    const auto at = now[path].bytes.find(from);
    if (at == std::string::npos) return false;
    now[path].bytes.replace(at, 1, to);
    return true;
  }
  bool move(const std::string& from, const std::string& to) {
    if (!now.contains(from) || now.contains(to) || lies_in(to, from) || !make_above(to))
      return false;
    model_copy moved;
    for (const auto& [path, each] : now)
      if (lies_in(path, from)) moved[to + path.substr(from.size())] = each;
    remove(from);
    now.merge(moved);
    return true;
  }
  bool remove(const std::string& path) {
    return std::erase_if(now, [&](const auto& each) { return lies_in(each.first, path); }) != 0;
  }
  bool make_directory(const std::string& path) {
    if (now.contains(path) || !make_above(path)) return false;
    now[path] = {.kind = 'd', .mode = 0755, .bytes = ""};
    return true;
  }
  bool link(const std::string& path, const std::string& target) {
    if (now.contains(path) || !make_above(path)) return false;
    now[path] = {.kind = 'l', .mode = 0, .bytes = target};
    return true;
  }
  bool change_mode(const std::string& path, unsigned mode) {
    if (!now.contains(path) || is(path, 'l')) return false;
    now[path].mode = mode;
    return true;
  }
  [[nodiscard]] bool is(const std::string& path, char kind) const {
    const auto found = now.find(path);
    return found != now.end() && found->second.kind == kind;
  }

private:
  [[nodiscard]] bool is_file_or_free(const std::string& path) const {
    return is(path, 'f') || !now.contains(path);
  }
  bool make_above(const std::string& path) {
    const std::string parent = above(path);
    if (parent.empty() || is(parent, 'd')) return true;
    if (now.contains(parent) || !make_above(parent)) return false;
    now[parent] = {.kind = 'd', .mode = 0755, .bytes = ""};
    return true;
  }
};

/// What is really there.
inline model_copy copy_of(const std::string& top) {
  model_copy all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(top)) {
    struct stat s {};
    if (::lstat(entry.path().c_str(), &s) != 0) continue;
    model_entry& each = all[entry.path().string().substr(top.size() + 1)];
    each.kind = S_ISDIR(s.st_mode) ? 'd' : S_ISLNK(s.st_mode) ? 'l' : 'f';
    each.mode = S_ISLNK(s.st_mode) ? 0 : s.st_mode & 07777U;
    if (S_ISLNK(s.st_mode)) each.bytes = std::filesystem::read_symlink(entry.path()).string();
    if (!S_ISREG(s.st_mode)) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    each.bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  return all;
}

/// In words, for a failure.
inline std::string difference(const model_copy& wanted, const model_copy& found) {
  std::string text;
  const auto tell = [&](const char* what, const auto& each) {
    text += what + each.first + ' ' + each.second.kind + std::to_string(each.second.mode) + ' ' +
            each.second.bytes.substr(0, 40) + '\n';
  };
  for (const auto& each : wanted)
    if (const auto at = found.find(each.first); at == found.end() || at->second != each.second)
      tell("wanted ", each);
  for (const auto& each : found)
    if (const auto at = wanted.find(each.first); at == wanted.end() || at->second != each.second)
      tell("found ", each);
  return text;
}

/// "created", "deleted", "modified", "mode", or nothing.
inline std::string kind_of_change(const model_copy& before, const model_copy& after,
                                  const std::string& path) {
  const auto old = before.find(path), now = after.find(path);
  if (old == before.end()) return now == after.end() ? "" : "created";
  if (now == after.end()) return "deleted";
  const model_entry &a = old->second, &b = now->second;
  if (a.kind != b.kind || a.bytes != b.bytes) return "modified";
  return a.mode == b.mode ? "" : "mode";
}

inline std::set<std::string> paths_of(const model_copy& one, const model_copy& other) {
  std::set<std::string> all;
  for (const auto* copy : {&one, &other})
    for (const auto& [path, each] : *copy)
      all.insert(path);
  return all;
}

} // namespace paddock::test
