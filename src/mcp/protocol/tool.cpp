// SPDX-License-Identifier: MIT
#include <paddock/mcp/tool.hpp>

namespace paddock::mcp {

tool_result tool_result::failure(error_code code, std::string_view message) {
  json_writer out;
  out.begin_object().member("error", wire_name(code)).member("message", message).end_object();
  return {.json = out.take(), .error = std::string(wire_name(code))};
}

std::string input_schema_of(const tool& t) {
  return t.input_schema.empty() ? schema_of(t.parameters) : t.input_schema;
}

std::string problems_of(const tool& t, json_view arguments) {
  return t.input_schema.empty() ? problems_of(t.parameters, arguments, t.name) : std::string();
}

} // namespace paddock::mcp
