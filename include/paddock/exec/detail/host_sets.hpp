// SPDX-License-Identifier: MIT
#pragma once

// Sets of hosts that lists name by @NAME: what the package managers' own documents say that they
// reach, for reading and fetching. Sources, in the order of the table:
//   npm     docs.npmjs.com/cli/using-npm/config (registry); classic.yarnpkg.com (its alias)
//   pypi    docs.pypi.org/api, packaging.python.org/guides/hosting-your-own-index
//   crates  doc.rust-lang.org/cargo/reference/registry-index.html
//   go      proxy.golang.org, go.dev/ref/mod#checksum-database
//   debian  www.debian.org/mirror/list, www.debian.org/security
//   github  docs.github.com/en/get-started/using-github/connecting-to-github (allowing access)

#include <string_view>

namespace paddock::detail {

struct host_set {
  std::string_view name;
  std::string_view entries;
};

inline constexpr host_set host_sets[] = {
    {"npm", "registry.npmjs.org:443,registry.yarnpkg.com:443"},
    {"pypi", "pypi.org:443,files.pythonhosted.org:443"},
    {"crates", "crates.io:443,index.crates.io:443,static.crates.io:443"},
    {"go", "proxy.golang.org:443,sum.golang.org:443"},
    {"debian", "deb.debian.org,security.debian.org,snapshot.debian.org"},
    {"github", "github.com:443,github.com:22,api.github.com:443,codeload.github.com:443,"
               "raw.githubusercontent.com:443,objects.githubusercontent.com:443,"
               "release-assets.githubusercontent.com:443"},
};

} // namespace paddock::detail
