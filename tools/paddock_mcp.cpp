// SPDX-License-Identifier: MIT

// paddock-mcp: the workspace tools as an MCP server on standard input and output.

#include "audit_log.hpp"
#include "workspace_cli.hpp"

#include <paddock/mcp/stdio_transport.hpp>
#include <paddock/version.hpp>

#include <cstdio>
#include <memory>
#include <string>

namespace {

constexpr std::string_view program = "paddock-mcp";

void list_tools(const paddock::mcp::server& server) {
  for (const auto& tool : server.tools())
    std::printf("%-18s %s\n", tool.name.c_str(), tool.description.c_str());
}

} // namespace

int main(int argc, char** argv) {
  using namespace paddock;
  CLI::App app("Serves the tools of one workspace to an MCP client on standard input and output.",
               std::string(program));
  app.set_version_flag("--version", std::string(program) + " " PADDOCK_VERSION);
  app.footer(cli::exit_codes_help);
  cli::workspace_cli from;
  cli::add_workspace_options(app, from);
  std::string audit_path;
  app.add_option("--audit", audit_path, "Append one JSON line per tool call to this file")
      ->type_name("FILE");
  bool list = false;
  app.add_flag("--list-tools", list, "Print the tools that these options leave, and exit");
  if (const auto done = cli::parse(app, argc, argv)) return *done;

  mcp::server_options options;
  std::unique_ptr<cli::audit_log> audit;
  if (!audit_path.empty()) {
    audit = std::make_unique<cli::audit_log>(audit_path);
    if (!audit->good()) {
      cli::complain(program, "the audit file " + audit_path + " cannot be opened for appending");
      return cli::usage;
    }
    options.observer = [log = audit.get()](const mcp::call_record& record) { log->write(record); };
  }
  const auto server = cli::make_server(program, from, std::move(options));
  if (!server) return cli::usage;
  if (list) {
    list_tools(*server);
    return cli::success;
  }
  const auto served = mcp::serve_stdio(*server);
  if (!served) {
    cli::complain(program, "the connection failed: " + std::string(text(served.error().code)));
    return cli::failed;
  }
  // Handlers that did not come back still run; static objects must not be destroyed under them.
  if (served->calls_abandoned > 0) std::quick_exit(cli::success);
  return cli::success;
}
