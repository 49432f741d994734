// SPDX-License-Identifier: MIT
#include "visible_state.hpp"

#include <paddock/path/lexical_path.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

namespace paddock::cli {
namespace {

namespace fs = std::filesystem;

/// What commands always see of the system, and what they see beside a directory of programs.
constexpr std::array system_tops{"/usr",   "/bin",       "/sbin",     "/lib",
                                 "/lib64", "/nix/store", "/gnu/store"};
constexpr std::array beside_programs_shown{"bin",     "etc",  "include", "lib",      "lib64",
                                           "libexec", "sbin", "shims",   "versions", "version"};

struct seen_path {
  std::string path;
  std::string by; ///< what makes commands see it
};

/// Of an absolute path; "/" is its own.
std::string parent_of(const std::string& path) {
  return path.substr(0, std::max<std::size_t>(path.rfind('/'), 1));
}

/// What paths lead to. What commands see lies close together, so each name is asked about once.
class objects {
public:
  /// Whether both are there, and one object.
  bool are_same(const std::string& one, const std::string& other) {
    return is_same(at(one), at(other));
  }
  /// Whether the object `directory` is the path or holds it, by what it is and not by its name.
  bool holds(const std::string& directory, const std::string& path) {
    const object& wanted = at(directory);
    for (const object* each = &at(path); each != nullptr; each = each->parent)
      if (is_same(*each, wanted)) return true;
    return false;
  }
  bool are_related(const std::string& one, const std::string& other) {
    return holds(one, other) || holds(other, one);
  }
  /// Empty: it is not there.
  const std::string& canonical(const std::string& path) { return canonical(at(path), path); }

private:
  struct object {
    bool is_there = false, is_link = false, is_resolved = false;
    std::pair<dev_t, ino_t> id{};
    object* parent = nullptr; ///< of "/", and of what is not absolute: none
    std::string canonical{};
  };
  static bool is_same(const object& one, const object& other) {
    return one.is_there && other.is_there && one.id == other.id;
  }

  object& at(const std::string& path) {
    const auto [known, is_new] = objects_.try_emplace(path);
    object& found = known->second;
    if (!is_new) return found;
    if (path.starts_with('/') && path != "/") found.parent = &at(parent_of(path));
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0) return found;
    found.is_link = S_ISLNK(status.st_mode);
    found.is_there = !found.is_link || ::stat(path.c_str(), &status) == 0;
    found.id = {status.st_dev, status.st_ino};
    return found;
  }

  static const std::string& canonical(object& of, const std::string& path) {
    if (!of.is_there || std::exchange(of.is_resolved, true)) return of.canonical;
    const std::string name = path.substr(path.rfind('/') + 1);
    const bool is_plain =
        of.parent != nullptr && !of.is_link && !name.empty() && name != "." && name != "..";
    std::error_code failed;
    if (!is_plain) return of.canonical = fs::canonical(path, failed).string();
    const std::string& above = canonical(*of.parent, parent_of(path));
    return of.canonical = (above == "/" ? above : above + "/") + name;
  }

  std::unordered_map<std::string, object> objects_;
};

/// Whether anything is kept there. Who reaches the lock of servers could hold it; in the workspace
/// none of this version is.
bool holds_state(const std::string& directory, const std::string& workspace) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(directory, failed))
    if (entry.path().filename() != "locks" || !strip_root_prefix(directory, workspace)) return true;
  return static_cast<bool>(failed);
}

/// A mount shows one directory at two places.
std::vector<std::string> mount_points() {
  std::vector<std::string> points;
  std::ifstream table("/proc/self/mountinfo");
  for (std::string line; std::getline(table, line);) {
    std::size_t at = 0;
    for (int i = 0; i < 4; ++i)
      at = line.find(' ', at) + 1;
    const std::string point = line.substr(at, line.find(' ', at) - at);
    std::string plain;
    for (at = 0; at < point.size(); ++at) {
      if (point[at] != '\\' || at + 3 >= point.size()) {
        plain += point[at];
        continue;
      }
      plain += static_cast<char>(std::stoi(point.substr(at + 1, 3), nullptr, 8));
      at += 3;
    }
    points.push_back(std::move(plain));
  }
  return points;
}

/// As the helper goes by PATH: never the home directory, nor one above the workspace.
void add_search_path(std::vector<seen_path>& all, objects& known, const confinement_policy& policy,
                     const std::string& workspace) {
  std::set<std::string> looked_beside; // bin and sbin lie in one directory
  std::istringstream entries(policy.search_path);
  for (std::string entry; std::getline(entries, entry, ':');) {
    if (!entry.starts_with('/')) continue;
    const std::string& real = known.canonical(entry);
    if (real.empty()) continue;
    const auto add = [&](std::string path) {
      if (!known.are_same(path, policy.home) && !strip_root_prefix(workspace, path))
        all.push_back({std::move(path), "because of " + entry + " in PATH"});
    };
    add(real);
    const std::string above = real.substr(0, real.rfind('/') + 1);
    const auto name = real.substr(above.size());
    if ((name == "bin" || name == "sbin" || name == "shims") && looked_beside.insert(above).second)
      for (const char* beside : beside_programs_shown)
        add(above + beside);
  }
}

std::vector<seen_path> seen_under(objects& known, const confinement_policy& policy,
                                  const std::string& workspace) {
  std::vector<seen_path> all{{workspace, "as the workspace"}};
  for (const std::string& path : policy.write_paths)
    all.push_back({path, "and change it"});
  for (const std::string& path : policy.read_paths)
    all.push_back({path, "and read it"});
  for (const std::string& path : policy.cache_paths)
    all.push_back({path, "as a package cache"});
  add_search_path(all, known, policy, workspace);
  for (const char* path : system_tops)
    all.push_back({path, "as a part of the system"});
  return all;
}

} // namespace

std::string state_shown_by(const confinement_policy& policy, const std::string& workspace,
                           const std::vector<std::string>& places) {
  if (policy.wanted(confinement_layer::file_system) == demand::off) return {};
  objects known;
  const std::string top_of_work = known.canonical(workspace);
  if (top_of_work == "/") return {}; // no command is confined there, so none is run
  const auto seen = seen_under(known, policy, top_of_work);
  const auto mounts = mount_points();
  for (const std::string& place : places) {
    const std::string real = known.canonical(place);
    if (real.empty() || !holds_state(real, top_of_work)) continue;
    std::vector<std::string> related; // mounts of it, of what it lies in, and of what lies in it
    std::ranges::copy_if(mounts, std::back_inserter(related),
                         [&](const std::string& point) { return known.are_related(point, real); });
    std::set<std::string> tops;
    for (const seen_path& each : seen) {
      const std::string& top = known.canonical(each.path);
      if (top.empty() || !tops.insert(top).second) continue;
      const bool is_shown = known.are_related(top, real) ||
                            std::ranges::any_of(related, [&](const std::string& point) {
                              return point != top && strip_root_prefix(point, top);
                            });
      if (is_shown)
        return "commands would see " + place +
               ", which holds what files of this user's workspaces held, since they see " + top +
               " " + each.by + "; let them see less, or move " + place +
               " and set XDG_STATE_HOME or --history";
    }
  }
  return {};
}

} // namespace paddock::cli
