// SPDX-License-Identifier: MIT
#pragma once

// The options of paddock_open, as JSON: one table, by which a text is checked.

#include <paddock/base/detailed_error.hpp>
#include <paddock/base/result.hpp>
#include <paddock/mcp/workspace_tools.hpp>
#include <paddock/path/root.hpp>

#include <string>
#include <string_view>

namespace paddock::capi {

struct open_options {
  root_options root{};
  mcp::workspace_options tools{};
  std::string history{}; ///< the directory of all stores; empty: there is none
};

/// Errors: invalid_argument; the detail names every problem and its remedy.
[[nodiscard]] result<open_options, detailed_error> options_from(std::string_view json);

} // namespace paddock::capi
