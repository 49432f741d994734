// SPDX-License-Identifier: MIT
#include "visible_state.hpp"

#include "own_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

namespace paddock::cli {
namespace {

namespace fs = std::filesystem;

/// What commands always see of the system, and what they see beside a directory of programs.
constexpr std::array system_tops{"/usr",   "/bin",       "/sbin",     "/lib",
                                 "/lib64", "/nix/store", "/gnu/store"};
constexpr std::array beside_programs_shown{"bin",     "etc",  "include", "lib",      "lib64",
                                           "libexec", "sbin", "shims",   "versions", "version"};

struct seen_path {
  fs::path path;
  std::string by; ///< what makes commands see it
};

bool are_same(const fs::path& one, const fs::path& other) {
  std::error_code failed;
  return fs::equivalent(one, other, failed) && !failed;
}

/// Whether the object `directory` is the path or holds it, by what it is and not by its name.
bool holds_object(const fs::path& directory, fs::path path) {
  for (;; path = path.parent_path()) {
    if (are_same(directory, path)) return true;
    if (path == path.root_path()) return false;
  }
}

/// Whether there is more than the locks of servers, which say nothing of anybody's files.
bool holds_state(const fs::path& directory) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(directory, failed))
    if (entry.path().filename() != "locks") return true;
  return static_cast<bool>(failed);
}

/// A mount shows one directory at two places.
std::vector<fs::path> mount_points() {
  std::vector<fs::path> points;
  std::ifstream table("/proc/self/mountinfo");
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    std::string skipped, point;
    for (int i = 0; i < 4; ++i)
      fields >> skipped;
    fields >> point;
    std::string plain;
    for (std::size_t at = 0; at < point.size(); ++at) {
      if (point[at] != '\\' || at + 3 >= point.size()) {
        plain += point[at];
        continue;
      }
      plain += static_cast<char>(std::stoi(point.substr(at + 1, 3), nullptr, 8));
      at += 3;
    }
    points.emplace_back(plain);
  }
  return points;
}

/// As the helper goes by PATH: never the home directory, nor one above the workspace.
void add_search_path(std::vector<seen_path>& all, const confinement_policy& policy,
                     const fs::path& workspace) {
  std::istringstream entries(policy.search_path);
  for (std::string entry; std::getline(entries, entry, ':');) {
    std::error_code failed;
    const fs::path real = fs::canonical(entry, failed);
    if (failed || !entry.starts_with('/')) continue;
    const auto add = [&](const fs::path& path) {
      if (!are_same(path, policy.home) && !lies_within(workspace, path))
        all.push_back({path, "because of " + entry + " in PATH"});
    };
    add(real);
    const auto name = real.filename();
    if (name == "bin" || name == "sbin" || name == "shims")
      for (const char* beside : beside_programs_shown)
        add(real.parent_path() / beside);
  }
}

std::vector<seen_path> seen_under(const confinement_policy& policy, const fs::path& workspace) {
  std::vector<seen_path> all{{workspace, "as the workspace"}};
  for (const std::string& path : policy.write_paths)
    all.push_back({path, "and change it"});
  for (const std::string& path : policy.read_paths)
    all.push_back({path, "and read it"});
  for (const std::string& path : policy.cache_paths)
    all.push_back({path, "as a package cache"});
  add_search_path(all, policy, workspace);
  for (const char* path : system_tops)
    all.push_back({path, "as a part of the system"});
  return all;
}

} // namespace

std::string state_shown_by(const confinement_policy& policy, const std::string& workspace,
                           const std::vector<std::string>& places) {
  if (policy.wanted(confinement_layer::file_system) == demand::off) return {};
  std::error_code failed;
  const fs::path top_of_work = fs::canonical(workspace, failed);
  if (top_of_work == "/") return {}; // no command is confined there, so none is run
  const auto seen = seen_under(policy, top_of_work);
  const auto mounts = mount_points();
  for (const std::string& place : places) {
    const fs::path real = fs::canonical(place, failed);
    if (failed || !holds_state(real)) continue;
    for (const seen_path& each : seen) {
      const fs::path top = fs::canonical(each.path, failed);
      if (failed) continue;
      const bool is_shown = holds_object(top, real) || holds_object(real, top) ||
                            std::ranges::any_of(mounts, [&](const fs::path& point) {
                              return lies_within(point, top) && point != top &&
                                     (holds_object(point, real) || holds_object(real, point));
                            });
      if (is_shown)
        return "commands would see " + place +
               ", which holds what files of this user's workspaces held, since they see " +
               top.string() + " " + each.by + "; let them see less, or move " + place +
               " and set XDG_STATE_HOME or --history";
    }
  }
  return {};
}

} // namespace paddock::cli
