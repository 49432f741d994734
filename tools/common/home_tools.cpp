// SPDX-License-Identifier: MIT
#include "home_tools.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>

namespace paddock::cli {
namespace {

/// Paths are relative to the home directory. A component that ends with an asterisk stands for each
/// directory whose name begins so, as those of versions do; as a place of programs for the newest.
struct home_row {
  std::string_view name;
  std::array<std::string_view, 6> shown;
  std::array<std::string_view, 2> programs;
};

// Versions and environments are not shown whole: beside bin and lib they have files of
// configuration, which may hold a password (npmrc, pip.conf).
constexpr home_row home_tool_rows[] = {
    {"rustup", {".cargo/bin", ".rustup/toolchains", ".rustup/settings.toml"}, {".cargo/bin"}},
    {"nvm",
     {".nvm/nvm.sh", ".nvm/alias", ".nvm/versions/node/v*/bin", ".nvm/versions/node/v*/lib",
      ".nvm/versions/node/v*/include", ".nvm/versions/node/v*/share"},
     {".nvm/versions/node/v*/bin"}},
    {"fnm",
     {".local/share/fnm/node-versions/v*/installation/bin",
      ".local/share/fnm/node-versions/v*/installation/lib",
      ".local/share/fnm/node-versions/v*/installation/include"},
     {".local/share/fnm/node-versions/v*/installation/bin"}},
    {"pyenv",
     {".pyenv/bin", ".pyenv/libexec", ".pyenv/shims", ".pyenv/version", ".pyenv/pyenv.d"},
     {".pyenv/shims", ".pyenv/bin"}},
    {"pyenv",
     {".pyenv/versions/*/bin", ".pyenv/versions/*/lib", ".pyenv/versions/*/include",
      ".pyenv/versions/*/share", ".pyenv/versions/*/pyvenv.cfg"},
     {}},
    {"uv",
     {".local/share/uv/python/*/bin", ".local/share/uv/python/*/lib",
      ".local/share/uv/python/*/include", ".local/share/uv/tools/*/bin",
      ".local/share/uv/tools/*/lib", ".local/share/uv/tools/*/pyvenv.cfg"},
     {}},
    {"pipx",
     {".local/share/pipx/venvs/*/bin", ".local/share/pipx/venvs/*/lib",
      ".local/share/pipx/venvs/*/pyvenv.cfg"},
     {}},
    {"pipx",
     {".local/pipx/venvs/*/bin", ".local/pipx/venvs/*/lib", ".local/pipx/venvs/*/pyvenv.cfg"},
     {}},
    {"go",
     {"go/bin", "sdk/go*/bin", "sdk/go*/lib", "sdk/go*/pkg", "sdk/go*/src", "sdk/go*/go.env"},
     {"go/bin", "sdk/go*/bin"}},
    {"local", {".local/bin"}, {".local/bin"}},
};

/// Of those that an asterisk stands for, because each is a mount of every command: the newest.
constexpr std::size_t versions_max = 12;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Whether one version comes before another: numbers by their value.
bool is_older(std::string_view one, std::string_view other) {
  const auto digits = [](std::string_view text) {
    return static_cast<std::size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
  };
  while (!one.empty() && !other.empty()) {
    const std::size_t a = digits(one);
    const std::size_t b = digits(other);
    if (a > 0 && b > 0 && a != b) return a < b;
    const std::size_t size = std::max<std::size_t>(std::min(a, b), 1);
    if (const int order = one.substr(0, size).compare(other.substr(0, size)); order != 0)
      return order < 0;
    one.remove_prefix(size);
    other.remove_prefix(size);
  }
  return one.size() < other.size();
}

/// Why nobody should rely on it; empty: it is this user's or the system's alone. Absent: no reason.
std::string distrust_of(const std::string& path, bool& is_there) {
  struct stat status{};
  is_there = ::lstat(path.c_str(), &status) == 0;
  if (!is_there) return {};
  if (S_ISLNK(status.st_mode)) return "is a link; name what it leads to with --exec-read";
  if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) return "is neither file nor directory";
  if (status.st_uid != ::geteuid() && status.st_uid != 0) return "belongs to another user";
  const bool by_group = (status.st_mode & S_IWGRP) != 0 && status.st_gid != ::getegid();
  if (by_group || (status.st_mode & S_IWOTH) != 0)
    return "can be changed by other users; take that right from them (chmod go-w)";
  return {};
}

class tool_search {
public:
  tool_search(const std::string& home, home_tool& found) : home_(home), found_(found) {}

  void add_shown(std::string_view pattern) {
    for (std::string& path : matches(home_, pattern))
      found_.shown.push_back(std::move(path));
  }
  void add_programs(std::string_view pattern) {
    auto found = matches(home_, pattern);
    if (!found.empty()) found_.programs.push_back(std::move(found.back()));
  }

private:
  /// The paths that a pattern stands for, the oldest version first.
  std::vector<std::string> matches(const std::string& directory, std::string_view pattern) {
    const std::size_t slash = pattern.find('/');
    const std::string_view first = pattern.substr(0, slash);
    std::vector<std::string> found;
    for (const std::string& name :
         first.ends_with('*') ? versions(directory, first) : std::vector{std::string(first)}) {
      const std::string path = directory + "/" + name;
      bool is_there = false;
      if (const std::string why = distrust_of(path, is_there); !why.empty())
        leave_out(path + ": " + why);
      else if (is_there && slash == std::string_view::npos)
        found.push_back(path);
      else if (is_there)
        std::ranges::move(matches(path, pattern.substr(slash + 1)), std::back_inserter(found));
    }
    return found;
  }

  std::vector<std::string> versions(const std::string& directory, std::string_view pattern) {
    std::error_code failed;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator at(directory, failed), end; !failed && at != end;
         at.increment(failed))
      if (std::string name = at->path().filename().string();
          name.starts_with(pattern.substr(0, pattern.size() - 1)) && !at->is_symlink(failed))
        names.push_back(std::move(name));
    std::ranges::sort(names, is_older);
    if (names.size() <= versions_max) return names;
    const std::size_t more = names.size() - versions_max;
    leave_out(directory + ": all but the newest " + std::to_string(versions_max));
    names.erase(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(more));
    return names;
  }

  void leave_out(std::string told) {
    if (std::ranges::find(found_.left_out, told) == found_.left_out.end())
      found_.left_out.push_back(std::move(told));
  }

  const std::string& home_;
  home_tool& found_;
};

/// Absolute and without a slash at the end; empty: it is no home directory.
std::string plain_home(const std::string& given) {
  if (!given.starts_with('/')) return {};
  std::string home = std::filesystem::path(given).lexically_normal().string();
  while (home.ends_with('/'))
    home.pop_back();
  return home;
}

/// The same under the name by which the command knows the home directory.
void add_aliases(std::vector<std::string>& paths, const std::string& real,
                 const std::string& alias) {
  if (real == alias) return;
  for (std::size_t i = 0, end = paths.size(); i < end; ++i)
    paths.push_back(alias + paths[i].substr(real.size()));
}

template <class Visit> void for_each_entry(std::string_view search_path, const Visit& visit) {
  while (!search_path.empty()) {
    const std::size_t colon = std::min(search_path.find(':'), search_path.size());
    if (search_path.starts_with('/')) visit(search_path.substr(0, colon));
    search_path.remove_prefix(std::min(colon + 1, search_path.size()));
  }
}

bool is_below(std::string_view path, std::string_view directory) {
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

std::vector<home_tool> find_in_home(const std::string& home, std::span<const home_row> rows) {
  std::vector<home_tool> tools;
  const std::string alias = plain_home(home);
  std::error_code failed;
  const std::string real = std::filesystem::canonical(alias, failed).string();
  bool is_there = false;
  if (alias.empty() || failed || real == "/" || !distrust_of(real, is_there).empty()) return tools;
  for (const home_row& row : rows) {
    if (tools.empty() || tools.back().name != row.name)
      tools.push_back({.name = std::string(row.name), .shown = {}, .programs = {}, .left_out = {}});
    tool_search search(real, tools.back());
    for (const std::string_view pattern : row.shown)
      if (!pattern.empty()) search.add_shown(pattern);
    for (const std::string_view pattern : row.programs)
      if (!pattern.empty()) search.add_programs(pattern);
  }
  std::erase_if(tools,
                [](const home_tool& each) { return each.shown.empty() && each.left_out.empty(); });
  for (home_tool& each : tools)
    add_aliases(each.shown, real, alias);
  return tools;
}

} // namespace

std::vector<home_tool> find_home_tools(const std::string& home) {
  return find_in_home(home, home_tool_rows);
}

std::string search_path_with(const std::vector<home_tool>& tools, const std::string& search_path) {
  std::string extended;
  const auto add = [&](std::string_view entry) {
    extended.append(extended.empty() ? "" : ":").append(entry);
  };
  for (const home_tool& each : tools) {
    bool is_led_to = false;
    for_each_entry(search_path, [&](std::string_view entry) {
      is_led_to = is_led_to || std::ranges::any_of(each.shown, [&](const std::string& shown) {
                    return is_below(entry, shown);
                  });
    });
    if (!is_led_to) std::ranges::for_each(each.programs, add);
  }
  for_each_entry(search_path, add);
  return extended;
}

std::string names_of(const std::vector<home_tool>& tools) {
  std::string names;
  for (const home_tool& each : tools)
    if (!each.shown.empty()) names.append(names.empty() ? "" : ", ").append(each.name);
  return names.empty() ? "none" : names;
}

std::string left_out_of(const std::vector<home_tool>& tools) {
  std::string clauses;
  for (const home_tool& each : tools)
    for (const std::string& one : each.left_out)
      clauses.append(clauses.empty() ? "" : "; ").append(one);
  return clauses;
}

namespace {

struct cache_row {
  home_row where;
  std::string_view offline; ///< "NAME=value"; empty: it needs no telling, or cannot be told so
};

// Never a whole directory of settings: ~/.cargo, ~/.m2 and ~/.gradle hold passwords, too. Of Go not
// the clones (cache/vcs), which it needs to fetch more.
constexpr cache_row cache_rows[] = {
    {{"npm", {".npm/_cacache"}, {}}, "npm_config_offline=true"},
    {{"pnpm", {".local/share/pnpm/store", ".cache/pnpm"}, {}}, "npm_config_offline=true"},
    {{"yarn", {".cache/yarn/v6", ".yarn/berry/cache"}, {}}, {}},
    {{"pip", {".cache/pip"}, {}}, {}},
    {{"uv", {".cache/uv"}, {}}, "UV_OFFLINE=1"},
    {{"cargo", {".cargo/registry", ".cargo/git/db", ".cargo/git/checkouts"}, {}},
     "CARGO_NET_OFFLINE=true"},
    {{"go", {"go/pkg/mod/cache/download"}, {}}, "GOPROXY=off"},
    {{"maven", {".m2/repository"}, {}}, "MAVEN_ARGS=--offline"},
    {{"gradle", {".gradle/caches/modules-2"}, {}}, {}},
};

} // namespace

std::vector<home_tool> find_package_caches(const std::string& home) {
  std::vector<home_row> rows;
  std::ranges::transform(cache_rows, std::back_inserter(rows), &cache_row::where);
  return find_in_home(home, rows);
}

std::vector<std::string> environment_of_caches(const std::vector<home_tool>& caches,
                                               network_reach reach) {
  std::vector<std::string> variables;
  if (reach == network_reach::host_network || reach == network_reach::hosts) return variables;
  for (const home_tool& each : caches) {
    const auto* const row =
        std::ranges::find(cache_rows, each.name, [](const cache_row& of) { return of.where.name; });
    const bool is_usable =
        row != std::end(cache_rows) && !row->offline.empty() && !each.shown.empty();
    if (is_usable && std::ranges::find(variables, row->offline) == variables.end())
      variables.emplace_back(row->offline);
  }
  return variables;
}

} // namespace paddock::cli
