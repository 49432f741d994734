// SPDX-License-Identifier: MIT
#include "mcp/http/message_rules.hpp"

#include "mcp/protocol/header_value.hpp"

#include <paddock/base/detail/excerpt.hpp>

#include <algorithm>

namespace paddock::mcp {
namespace {

constexpr std::string_view version_header = "mcp-protocol-version";
constexpr std::size_t shown_max = echo_characters_max / 2; // of each of two

std::string disagreement(std::string_view header, std::string_view value, std::string_view body) {
  std::string out = "Header mismatch: the header ";
  out.append(header);
  if (value.empty()) return out.append(" is missing");
  out.append(" says \"").append(detail::excerpt(value, shown_max));
  return out.append("\", the body \"").append(detail::excerpt(body, shown_max)).append("\"");
}

/// What Mcp-Name has to repeat; nothing for methods without a name.
std::optional<std::string_view> name_of_target(const message& m) {
  if (m.method == "tools/call" || m.method == "prompts/get") return m.params["name"].string();
  if (m.method == "resources/read") return m.params["uri"].string();
  if (m.method.starts_with("tasks/")) return m.params["taskId"].string();
  return std::nullopt;
}

} // namespace

bool is_legacy_revision(std::string_view name) noexcept {
  return legacy_revision(name).has_value();
}

bool names_modern(std::string_view version) noexcept {
  return version.size() == revision_modern.size() && version >= revision_modern &&
         std::all_of(version.begin(), version.end(),
                     [](char c) { return (c >= '0' && c <= '9') || c == '-'; });
}

era era_of(const message& m, const http::fields& headers) {
  const bool modern = names_modern(headers.header(version_header)) || speaks_modern(m);
  return modern ? era::modern : era::legacy;
}

std::optional<std::string> header_mismatch(const message& m, const http::fields& headers) {
  const json_view meta = m.params["_meta"];
  const std::string_view version = headers.header(version_header);
  const auto claimed = meta[meta_protocol_version].string();
  if (!claimed) {
    if (m.method == "initialize")
      return disagreement("MCP-Protocol-Version", version, "initialize");
    return std::nullopt;
  }
  if (headers.count(version_header) > 1) return "Header mismatch: MCP-Protocol-Version came twice";
  if (version != *claimed) return disagreement("MCP-Protocol-Version", version, *claimed);
  if (*claimed != revision_modern || !meta[meta_client_capabilities].is(json_kind::object) ||
      m.kind != message_kind::request)
    return std::nullopt;
  if (headers.count("mcp-method") != 1 || headers.header("mcp-method") != m.method)
    return disagreement("Mcp-Method", headers.header("mcp-method"), m.method);
  const auto name = name_of_target(m);
  if (!name) return std::nullopt;
  const auto given = decoded_header(headers.header("mcp-name"));
  if (!given) return "Header mismatch: Mcp-Name is not valid Base64";
  if (headers.count("mcp-name") != 1 || *given != *name)
    return disagreement("Mcp-Name", headers.header("mcp-name"), *name);
  return std::nullopt;
}

std::optional<std::string> parameter_mismatch(const std::vector<parameter_header>& wanted,
                                              json_view arguments, const http::fields& headers) {
  const auto values = values_of(wanted, arguments);
  for (const parameter_header& each : wanted) {
    const std::string key = http::ascii_lower(each.name);
    const auto value = std::find_if(values.begin(), values.end(),
                                    [&](const auto& v) { return v.first == each.name; });
    const std::size_t given = headers.count(key);
    if (value == values.end() && given == 0) continue;
    const auto text = decoded_header(headers.header(key));
    if (!text) return "Header mismatch: " + each.name + " is not valid Base64";
    if (value == values.end())
      return "Header mismatch: the header " + each.name + " is there, the parameter is not";
    if (given != 1 || *text != value->second)
      return disagreement(each.name, headers.header(key), value->second);
  }
  return std::nullopt;
}

} // namespace paddock::mcp
