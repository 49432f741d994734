// SPDX-License-Identifier: MIT
#include "package_caches.hpp"

#include <algorithm>
#include <string_view>

namespace paddock::cli {
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
  if (reach == network_reach::all || reach == network_reach::hosts) return variables;
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
