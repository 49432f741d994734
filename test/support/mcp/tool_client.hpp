// SPDX-License-Identifier: MIT
#pragma once

// Tool calls as lines of the protocol, and their answers read back: for tests that ask the adapter
// without being a client of their own.

#include "precompiled/tests.hpp"

#include <paddock/mcp/json.hpp>

namespace paddock::test {

/// A request of the newest revision, which needs no handshake.
inline std::string tool_call_line(std::string_view tool, std::string_view arguments) {
  mcp::json_writer out;
  out.begin_object().member("jsonrpc", "2.0").key("id").integer(1);
  out.member("method", "tools/call").key("params").begin_object();
  out.key("_meta").begin_object();
  out.member("io.modelcontextprotocol/protocolVersion", "2026-07-28");
  out.key("io.modelcontextprotocol/clientCapabilities").begin_object().end_object().end_object();
  out.member("name", tool).key("arguments").raw(arguments).end_object().end_object();
  return out.take();
}

struct tool_reply {
  bool failed = true;
  std::string line;                             ///< all of it
  std::shared_ptr<mcp::json_document> document; ///< of the text block

  [[nodiscard]] mcp::json_view operator[](std::string_view key) const {
    return document->root()[key];
  }
  [[nodiscard]] std::string string(std::string_view key) const {
    return std::string((*this)[key].string().value_or("(no string)"));
  }
  /// The wire name of what went wrong, or "ok".
  [[nodiscard]] std::string outcome() const { return failed ? string("error") : "ok"; }
};

/// Fails the test when the line is not the answer to a tool call.
inline tool_reply read_tool_reply(std::string line) {
  tool_reply reply{.line = std::move(line), .document = std::make_shared<mcp::json_document>()};
  mcp::json_document message;
  std::string text = "{}";
  if (const auto parsed = message.parse(reply.line); parsed && (*parsed)["result"].exists()) {
    const auto result = (*parsed)["result"];
    reply.failed = result["isError"].boolean().value_or(false);
    result["content"].for_each_element(
        [&](mcp::json_view block) { text = std::string(block["text"].string().value_or("{}")); });
  } else {
    ADD_FAILURE() << "not the answer to a tool call: " << reply.line;
  }
  EXPECT_TRUE(reply.document->parse(text)) << text;
  return reply;
}

} // namespace paddock::test
