// SPDX-License-Identifier: MIT
#pragma once

// The workspace tools of a temporary directory, called through a server in this process the way a
// client calls them. Every answer is held against what all answers have in common: one text block
// that says the same as the structured content, which fits the tool's output schema.

#include "support/files/temp_tree.hpp"
#include "support/mcp/request_lines.hpp"
#include "support/words.hpp"

#include <paddock/mcp/server.hpp>
#include <paddock/mcp/workspace_tools.hpp>

namespace paddock::test {

/// Why `value` does not fit `schema`, or nothing. Knows the keywords that the tools use: type,
/// properties, required, items, enum, anyOf.
inline std::string misfit(mcp::json_view value, mcp::json_view schema,
                          const std::string& at = "$") {
  const auto named = [&](std::string_view type) {
    using enum mcp::json_kind;
    const auto kind = value.kind();
    return (type == "object" && kind == object) || (type == "array" && kind == array) ||
           (type == "string" && kind == string) || (type == "integer" && kind == integer) ||
           (type == "boolean" && kind == boolean) || (type == "null" && kind == null);
  };
  if (const auto any = schema["anyOf"]; any.exists()) {
    bool fits = false;
    any.for_each_element([&](mcp::json_view each) { fits |= misfit(value, each).empty(); });
    return fits ? "" : at + " is none of " + any.text();
  }
  const mcp::json_view types = schema["type"];
  bool is_named = types.is(mcp::json_kind::string) ? named(*types.string())
                                                   : !types.exists() && schema["enum"].exists();
  types.for_each_element(
      [&](mcp::json_view each) { is_named |= named(each.string().value_or("")); });
  if (!is_named) return at + " is not of type " + types.text();
  if (const auto choices = schema["enum"]; choices.exists()) {
    bool chosen = false;
    choices.for_each_element([&](mcp::json_view each) { chosen |= each.text() == value.text(); });
    if (!chosen) return at + " is not one of " + choices.text();
  }
  std::string problem;
  schema["required"].for_each_element([&](mcp::json_view name) {
    if (!value[name.string().value_or("")].exists()) problem = at + " lacks " + name.text();
  });
  value.for_each_member([&](std::string_view name, mcp::json_view member) {
    const auto inner = schema["properties"][name];
    if (!problem.empty() || !schema["properties"].exists()) return;
    const std::string path = at + "." + std::string(name);
    problem = inner.exists() ? misfit(member, inner, path) : path + " is not in the schema";
  });
  value.for_each_element([&](mcp::json_view element) {
    if (problem.empty() && schema["items"].exists())
      problem = misfit(element, schema["items"], at + "[]");
  });
  return problem;
}

/// What a call came back with.
struct tool_answer {
  bool failed = false;
  std::string json;                             ///< the text block
  std::shared_ptr<mcp::json_document> document; ///< of `json`
  std::vector<std::string> progress;            ///< notifications before it
  std::string picture, picture_type;            ///< of an image block: base64, MIME type

  [[nodiscard]] mcp::json_view operator[](std::string_view key) const {
    return document->root()[key];
  }
  [[nodiscard]] std::string string(std::string_view key) const {
    return std::string((*this)[key].string().value_or("(no string)"));
  }
  [[nodiscard]] std::int64_t integer(std::string_view key) const {
    return (*this)[key].integer().value_or(-999);
  }
  [[nodiscard]] std::string error() const { return failed ? string("error") : "(no error)"; }
  [[nodiscard]] std::string message() const { return string("message"); }
  /// The names of the members, in order.
  [[nodiscard]] std::string keys() const {
    std::string all;
    document->root().for_each_member([&](std::string_view key, mcp::json_view) {
      all.append(all.empty() ? "" : " ").append(key);
    });
    return all;
  }
};

class tool_fixture : public testing::Test {
protected:
  /// The server; made with the options on first use, and anew by `serve`.
  mcp::server& server() {
    if (!server_) serve({});
    return *server_;
  }
  void serve(mcp::workspace_options options, root_options where = {}) {
    auto opened = paddock::root::open(tree.path(), std::move(where));
    ASSERT_TRUE(opened);
    mcp::server_options served;
    served.limits = options.limits.value_or(mcp::limits_of(options.tools));
#ifdef PADDOCK_TEST_HELPER
    options.exec_helper = PADDOCK_TEST_HELPER;
#endif
    auto tools = mcp::workspace_tools(std::make_shared<const paddock::root>(*std::move(opened)),
                                      std::move(options));
    ASSERT_TRUE(tools);
    server_.emplace(std::move(served), *std::move(tools));
  }

  tool_answer call(std::string_view tool, std::string_view arguments = "{}",
                   std::string_view progress_token = {}) {
    const std::string token =
        progress_token.empty() ? "" : R"("progressToken":)" + std::string(progress_token) + ",";
    auto lines = server().handle_line(
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{)" + token +
        R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
        R"("io.modelcontextprotocol/clientCapabilities":{}},"name":)" +
        json_string(tool) + R"(,"arguments":)" + std::string(arguments) + "}}");
    tool_answer answer{.document = std::make_shared<mcp::json_document>()};
    if (lines.empty()) {
      ADD_FAILURE() << "no answer to " << tool;
      return answer;
    }
    read(tool, lines.back(), answer);
    lines.pop_back();
    answer.progress = std::move(lines);
    return answer;
  }
  /// A tool whose only argument is a path.
  tool_answer call_path(std::string_view tool, std::string_view path) {
    return call(tool, R"({"path":)" + json_string(path) + "}");
  }

  temp_tree tree;

private:
  void read(std::string_view tool, const std::string& line, tool_answer& answer) {
    EXPECT_LE(line.size(), server().options().limits.message_out_bytes_max);
    mcp::json_document document;
    const auto parsed = document.parse(line);
    ASSERT_TRUE(parsed) << line;
    const auto result = (*parsed)["result"];
    ASSERT_TRUE(result.exists()) << line;
    ASSERT_LE(1U, result["content"].size()) << line;
    result["content"].for_each_element([&](mcp::json_view block) {
      if (!answer.json.empty()) {
        EXPECT_EQ("image", block["type"].string());
        answer.picture = block["data"].string().value_or("");
        answer.picture_type = block["mimeType"].string().value_or("");
        return;
      }
      EXPECT_EQ("text", block["type"].string());
      answer.json = block["text"].string().value_or("");
    });
    answer.failed = result["isError"].boolean().value_or(true);
    ASSERT_TRUE(answer.document->parse(answer.json)) << answer.json;
    if (answer.failed) {
      EXPECT_FALSE(result["structuredContent"].exists());
      EXPECT_TRUE(answer["error"].string() && answer["message"].string()) << answer.json;
    } else {
      EXPECT_EQ(answer.json, result["structuredContent"].text());
      const mcp::json_view schema = schema_of(tool);
      EXPECT_EQ("", misfit(answer.document->root(), schema)) << tool << answer.json;
      keep_for_judge(tool, answer.json, schema.text());
    }
  }

  /// For an outside judge (schema_judge.py), which names the file.
  static void keep_for_judge(std::string_view tool, std::string_view json,
                             std::string_view schema) {
    const char* const file = std::getenv("PADDOCK_SCHEMA_CASES");
    if (file == nullptr) return;
    mcp::json_writer line;
    line.begin_object().member("tool", tool).key("fits").boolean(true);
    line.key("value").raw(json).key("schema").raw(schema).end_object();
    std::ofstream(file, std::ios::app) << line.str() << '\n';
  }

  mcp::json_view schema_of(std::string_view name) {
    for (const auto& tool : server().tools())
      if (tool.name == name)
        if (const auto parsed = schema_.parse(tool.output_schema)) return *parsed;
    return {};
  }

  std::optional<mcp::server> server_;
  mcp::json_document schema_;
};

/// The same with the tools of the coding set.
class coding_fixture : public tool_fixture {
protected:
  void SetUp() override { serve_coding({}); }
  void serve_coding(mcp::workspace_options options) {
    options.tools = mcp::toolset::coding;
    serve(std::move(options));
  }
  /// Another client's server of the same workspace.
  [[nodiscard]] std::unique_ptr<mcp::server> another_server() const {
    auto opened = root::open(tree.path());
    auto tools = mcp::workspace_tools(std::make_shared<const root>(*std::move(opened)),
                                      {.tools = mcp::toolset::coding});
    return std::make_unique<mcp::server>(mcp::server_options{}, *std::move(tools));
  }
};

} // namespace paddock::test
