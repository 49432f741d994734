// SPDX-License-Identifier: MIT
#pragma once

// Members that may be left out, read in the one way that holds for all methods.

#include <paddock/mcp/json.hpp>

#include <string_view>

namespace paddock::mcp {

/// The member `name` of `object`. Null is as good as nothing: some clients write all members.
[[nodiscard]] inline json_view given(json_view object, std::string_view name) noexcept {
  const json_view value = object[name];
  return value.is(json_kind::null) ? json_view() : value;
}

} // namespace paddock::mcp
