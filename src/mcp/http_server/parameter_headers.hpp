// SPDX-License-Identifier: MIT
#pragma once

// Parameters that a tool's own schema marks with "x-mcp-header": clients of 2026-07-28 repeat them
// in Mcp-Param-… headers, and the two have to agree. Immutable once made.

#include "mcp/http_text.hpp"

#include <paddock/mcp/tool.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace paddock::mcp {

class parameter_headers {
public:
  explicit parameter_headers(const std::vector<tool>& tools);

  /// What the headers of a call say otherwise than its body. `params` are those of tools/call.
  [[nodiscard]] std::optional<std::string> mismatch(json_view params,
                                                    const http_fields& headers) const;

private:
  struct marked {
    std::string header;            ///< "mcp-param-region"
    std::vector<std::string> path; ///< of keys, from the arguments down
    bool is_integer = false;
  };
  void collect(json_view schema, std::vector<std::string>& path, std::vector<marked>& out) const;

  std::unordered_map<std::string, std::vector<marked>> by_tool_;
};

} // namespace paddock::mcp
