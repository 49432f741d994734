// SPDX-License-Identifier: MIT
// An MCP server of somebody else: the built-in tools but exec, and one of its own that works in the
// same workspace.
#include <paddock/file/file.hpp>
#include <paddock/mcp/stdio_transport.hpp>
#include <paddock/mcp/workspace_tools.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

namespace mcp = paddock::mcp;

static mcp::tool count_lines(std::shared_ptr<const paddock::root> workspace) {
  return {.name = "countLines",
          .description = "Count the lines of a text file.",
          .parameters = {{.name = "path", .description = "Path of the file", .characters_min = 1}},
          .annotations = {.read_only = true, .destructive = false, .idempotent = true},
          .handler = [workspace](mcp::call& call) -> mcp::tool_result {
            const std::string path(call.arguments()["path"].string().value_or(""));
            const auto file = paddock::read_file(*workspace, path);
            if (!file) return mcp::tool_result::failure(file.error().code, text(file.error().code));
            const auto lines = std::count(file->bytes.begin(), file->bytes.end(), '\n');
            mcp::json_writer out;
            out.begin_object().member("path", file->path).key("lines").integer(lines).end_object();
            return {.json = out.take()};
          }};
}

int main(int argc, char** argv) {
  auto opened = paddock::root::open(argc > 1 ? argv[1] : ".");
  if (!opened) return std::fputs("no workspace\n", stderr), 1;
  const auto workspace = std::make_shared<const paddock::root>(*std::move(opened));
  auto tools = mcp::workspace_tools(workspace, {.omit = {"exec"}});
  if (!tools) return 1;
  tools->push_back(count_lines(workspace));
  const mcp::server server({.name = "consumer", .version = "1"}, *std::move(tools));
  return mcp::serve_stdio(server) ? 0 : 1;
}
