// SPDX-License-Identifier: MIT

// paddock demo: starts the real server as a client does, lets it delete files and undo that, lets
// it try to leave, and looks at the disk itself.

#include "common/output.hpp"
#include "common/terminal.hpp"
#include "demo_files.hpp"
#include "fence_attacks.hpp"
#include "subcommands.hpp"

#include <paddock/version.hpp>

#include <CLI/CLI.hpp>
#include <filesystem>

namespace paddock::cli {
namespace {

constexpr std::string_view demo_command = "paddock demo";

/// One line of the verdict.
bool check(bool good, const char* claim, const char* otherwise) {
  print_words("%s  %s\n",
              styled(good ? "ok    " : "FAILED", good ? style::good : style::bad).c_str(),
              good ? claim : otherwise);
  return good;
}

/// Complains where it does not start.
result<mcp::client, detailed_error> start(const std::string& server_path,
                                          const std::string& workspace,
                                          const std::vector<std::string>& options) {
  std::vector<std::string> argv{server_path, "--workspace", workspace};
  argv.insert(argv.end(), options.begin(), options.end());
  auto server = mcp::client::connect(
      mcp::stdio_endpoint{.argv = std::move(argv),
                          .environment = {"PATH=/usr/local/bin:/usr/bin:/bin"}},
      {.name = "paddock demo", .version = PADDOCK_VERSION});
  if (!server) complain(demo_command, explain(server.error()));
  return server;
}

/// Lets an agent delete the files, and its server's history bring them back.
bool show_undo(const demo_files& files, const std::string& server_path) {
  const demo_files history;
  auto server =
      start(server_path, files.path(), {"--tools", "coding", "--history", history.path()});
  if (!server) return false;
  print_words("\nAn agent, whose server keeps a history (--tools coding), deletes all files:\n\n");
  const auto before = files.scan();
  for (const auto& [name, content] : before)
    (void)server->call_tool(
        "deleteFile", mcp::json_writer().begin_object().member("path", name).end_object().str());
  bool good = check(!before.empty() && files.scan().empty(),
                    "deleteFile: every file is gone from the disk", "deleteFile left files");
  (void)server->call_tool("restore", "{}");
  good &= check(files.scan() == before, "restore {} brought every file back, byte for byte",
                "restore did not bring every file back");
  return good;
}

int run_demo() {
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string server_path = (self.parent_path() / "paddock-mcp").native();
  const demo_files files;
  if (!files.good()) {
    complain(demo_command, "no temporary directory can be made (see TMPDIR)");
    return failed;
  }
  files.write_samples();
  auto server = start(server_path, files.path(), {});
  if (!server) return failed;
  print_words("Paddock %s starts %s on a temporary directory with a few files.\n", PADDOCK_VERSION,
              fit(server_path, 1000).c_str());
  const bool good = show_undo(files, server_path);
  return attack_fence(*server, files.path()) && good ? success : failed;
}

} // namespace

subcommand add_demo(CLI::App& app) {
  CLI::App* parser = app.add_subcommand(
      "demo", "Watch the server undo the loss of a few files, and hold against attacks");
  parser->footer(exit_codes_help);
  return {parser, [] { return run_demo(); }};
}

} // namespace paddock::cli
