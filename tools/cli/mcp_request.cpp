// SPDX-License-Identifier: MIT
#include "mcp_request.hpp"

#include <paddock/mcp/server.hpp>
#include <paddock/version.hpp>

namespace paddock::cli {
namespace {

/// Everything up to the method's own parameters; `params` is left open.
void begin_request(mcp::json_writer& out, std::int64_t id, std::string_view method) {
  out.begin_object().member("jsonrpc", "2.0").key("id").integer(id);
  out.member("method", method).key("params").begin_object();
  out.key("_meta").begin_object();
  out.member("io.modelcontextprotocol/protocolVersion", mcp::revision_modern);
  out.key("io.modelcontextprotocol/clientCapabilities").raw("{}");
  out.key("io.modelcontextprotocol/clientInfo").begin_object();
  out.member("name", "paddock").member("version", PADDOCK_VERSION);
  out.end_object().end_object();
}

} // namespace

std::string tool_request(std::int64_t id, std::string_view tool, std::string_view arguments) {
  mcp::json_writer out;
  begin_request(out, id, "tools/call");
  out.member("name", tool).key("arguments").raw(arguments);
  out.end_object().end_object();
  return out.take();
}

namespace {

tool_response read_result(mcp::json_view result) {
  std::string text;
  result["content"].for_each_element(
      [&](mcp::json_view block) { text = block["text"].string().value_or(""); });
  const bool failed = result["isError"].boolean().value_or(true);
  if (text.empty()) return {.problem = "the answer has no text content"};
  if (failed) return {.failed = true, .json = text};
  if (result["structuredContent"].text() != text)
    return {.problem = "text and structured content of the answer differ"};
  return {.failed = false, .json = text};
}

} // namespace

tool_response read_tool_response(std::string_view line) {
  mcp::json_document document;
  const auto answer = document.parse(line);
  if (!answer)
    return {.problem = std::string("the answer is not JSON: ") + answer.error().operation};
  if (const auto error = (*answer)["error"]; error.exists())
    return {.problem = std::string(error["message"].string().value_or("unknown protocol error"))};
  return read_result((*answer)["result"]);
}

tool_response read_tool_result(std::string_view json) {
  mcp::json_document document;
  const auto result = document.parse(json);
  if (!result)
    return {.problem = std::string("the answer is not JSON: ") + result.error().operation};
  return read_result(*result);
}

} // namespace paddock::cli
