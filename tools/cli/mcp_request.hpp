// SPDX-License-Identifier: MIT
#pragma once

// The client's half of the protocol, as far as the programs need it: requests of the newest
// revision, and what a response to a tool call holds.

#include <paddock/mcp/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::cli {

/// A `tools/call`, without a newline. `arguments` is a JSON object.
[[nodiscard]] std::string tool_request(std::int64_t id, std::string_view tool,
                                       std::string_view arguments);
struct tool_response {
  bool failed = true;
  std::string json;    ///< the tool's result, or its {"error", "message"}; empty without a result
  std::string problem; ///< why there is no result: the protocol's error, or what is malformed
};

/// Reads the answer to `tool_request`. What a success holds is the same as text and as structured
/// content, or it counts as malformed.
[[nodiscard]] tool_response read_tool_response(std::string_view line);
/// Reads the result object of such an answer.
[[nodiscard]] tool_response read_tool_result(std::string_view json);

} // namespace paddock::cli
