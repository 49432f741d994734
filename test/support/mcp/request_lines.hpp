// SPDX-License-Identifier: MIT
#pragma once

// Lines of both eras of the protocol, as clients write them.

#include <paddock/mcp/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::test {

enum class era : std::uint8_t { legacy, modern };

inline std::string name_of(era e) {
  return e == era::legacy ? "legacy" : "modern";
}

/// A JSON string.
inline std::string json_string(std::string_view text) {
  return mcp::json_writer().string(text).take();
}

inline constexpr std::string_view envelope =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
    R"("io.modelcontextprotocol/clientCapabilities":{}})";

/// `id` is JSON text; `members` those of params, without braces.
inline std::string request_line(era e, std::string_view id, std::string_view method,
                                std::string_view members = {}) {
  std::string line(R"({"jsonrpc":"2.0","id":)");
  line.append(id).append(R"(,"method":")").append(method).append(R"(","params":{)");
  line.append(members);
  if (e == era::modern) line.append(members.empty() ? "" : ",").append(envelope);
  return line.append("}}\n");
}
inline std::string call_line(era e, std::string_view id, std::string_view tool,
                             std::string_view arguments = "{}") {
  return request_line(e, id, "tools/call",
                      R"("name":")" + std::string(tool) + R"(","arguments":)" +
                          std::string(arguments));
}
/// A modern client names its revision in notifications too.
inline std::string cancel_line(era e, std::string_view id) {
  std::string line(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)");
  line.append(id).append(R"(,"reason":"changed my mind")");
  if (e == era::modern) line.append(",").append(envelope);
  return line.append("}}\n");
}

} // namespace paddock::test
