// SPDX-License-Identifier: MIT
#pragma once

// Parameters of tools whose values HTTP repeats in headers (2026-07-28): a property with the
// annotation "x-mcp-header": "Region" goes into Mcp-Param-Region, for programs on the way that do
// not read bodies.

#include <paddock/mcp/json.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::mcp {

inline constexpr std::string_view header_annotation = "x-mcp-header";

struct parameter_header {
  std::string name;              ///< of the whole header
  std::vector<std::string> path; ///< of the property in the arguments
};

/// What an input schema says of headers, or what is wrong with that.
struct parameter_headers {
  std::vector<parameter_header> headers;
  std::string problem; ///< for people; empty for none
};
[[nodiscard]] parameter_headers parameter_headers_of(json_view input_schema);

/// The headers of a call, name and value; without those whose parameter is not given or null.
[[nodiscard]] std::vector<std::pair<std::string, std::string>>
values_of(const std::vector<parameter_header>& headers, json_view arguments);

} // namespace paddock::mcp
