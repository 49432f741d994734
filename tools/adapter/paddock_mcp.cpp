// SPDX-License-Identifier: MIT

// paddock-mcp: the workspace tools as an MCP server on standard input and output, or over HTTP.

#include "audit_log.hpp"
#include "common/history_cli.hpp"
#include "common/host_config.hpp"
#include "common/option_values.hpp"
#include "common/process_sockets.hpp"
#include "common/workspace_cli.hpp"
#include "forget_code.hpp"
#include "http_cli.hpp"
#include "self_test.hpp"

#include <paddock/file/change_set.hpp>
#include <paddock/mcp/change_results.hpp>
#include <paddock/mcp/stdio_transport.hpp>

#include <malloc.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace {

constexpr std::string_view program = "paddock-mcp";

/// A server starts once and waits for hours: what only the start needed is mapped no longer.
/// Without the thresholds the C library keeps tens of MiB after one large message, because it
/// learns to keep blocks of that size. What usual answers need stays at hand.
void give_memory_back() {
#ifdef M_MMAP_THRESHOLD
  (void)malloc_trim(0);
  constexpr int kept_bytes_max = 8 * 1024 * 1024;
  (void)mallopt(M_MMAP_THRESHOLD, kept_bytes_max / 2);
  (void)mallopt(M_TRIM_THRESHOLD, kept_bytes_max);
#endif
  forget_code();
}

/// What to do instead of serving.
struct modes {
  bool list = false;
  bool check = false;
  std::string host;
};

void add_modes(CLI::App& app, modes& target) {
  auto* list = app.add_flag("--list-tools", target.list,
                            "Print the names of the tools offered with these options, and exit");
  auto* check = app.add_flag("--check", target.check,
                             "Try workspace, tools and confinement with these options, print what "
                             "works, and exit");
  const auto hosts = paddock::cli::host_names();
  app.add_option("--print-config", target.host,
                 "Print the configuration for a host that starts this server with these options "
                 "(by default with --tools coding), and exit")
      ->check(paddock::cli::one_of(hosts))
      ->type_name(CLI::detail::join(hosts, "|"))
      ->excludes(list)
      ->excludes(check)
      ->excludes(app.get_option("--http"));
  check->excludes(list);
}

std::unique_ptr<paddock::cli::audit_log> open_audit(const std::string& path) {
  auto audit = std::make_unique<paddock::cli::audit_log>(path);
  if (audit->good()) return audit;
  paddock::cli::complain(program,
                         "the audit file " + path + " cannot be opened for appending (" +
                             std::generic_category().message(errno) +
                             "); name a file that this user may write, in a directory that exists");
  return nullptr;
}

constexpr std::uint64_t recovery_ms_max = 5'000;

paddock::confinement_policy policy_of(const paddock::cli::workspace_cli& from) {
  paddock::confinement_policy policy;
  policy.protected_names = from.confinement.protection.names();
  return policy;
}

/// What a killed process has left half done in the workspace is ended before anybody sees it.
void end_interrupted_change(const paddock::root& workspace,
                            const paddock::cli::workspace_cli& from) {
  std::string said;
  const auto found = paddock::mcp::end_interrupted_change(
      workspace, from.tools.state_directory, said, policy_of(from),
      {.deadline_ms = paddock::deadline_in(recovery_ms_max)});
  if (paddock::has_foreign_record(workspace))
    paddock::cli::complain(program, std::string(paddock::cli::foreign_record));
  if (!found)
    paddock::cli::complain(
        program, "an interrupted change of several files can be neither completed nor undone: " +
                     std::string(paddock::text(found.error().code)) + "; start the server again");
  else if (*found == paddock::interrupted_change::undone)
    paddock::cli::complain(program, "undid an interrupted change of several files");
  else if (*found == paddock::interrupted_change::finished)
    paddock::cli::complain(program, "completed an interrupted change of several files" +
                                        (said.empty() ? "" : "; " + said));
}

/// And so is what the commands of a killed server have left for somebody's git to run.
void end_killed_commands(const paddock::root& workspace, const paddock::cli::workspace_cli& from) {
  for (const paddock::appeared_entry& each : paddock::end_killed_commands(
           workspace.descriptor(), policy_of(from), from.tools.state_directory))
    paddock::cli::complain(program, "of a command whose server was killed: " + describe(each));
}

void mend_workspace(const paddock::root& workspace, const paddock::cli::workspace_cli& from) {
  if (from.tools.access == paddock::mcp::workspace_access::read_only) return;
  end_interrupted_change(workspace, from);
  end_killed_commands(workspace, from);
}

} // namespace

int main(int argc, char** argv) {
  using namespace paddock;
  auto options_read = std::make_unique<CLI::App>(
      "Serve the tools of one workspace to an MCP client on standard input and output, or "
      "to many over HTTP.",
      std::string(program));
  CLI::App& app = *options_read;
  cli::add_version_option(app);
  app.set_help_all_flag("--help-all", "Print all options and limits, and exit");
  app.footer(cli::exit_codes_help);
  cli::workspace_cli from;
  cli::add_workspace_options(app, from);
  std::string audit_path;
  app.add_option("--audit", audit_path, "Append one JSON line per tool call to this file")
      ->type_name("FILE");
  cli::http_cli http;
  cli::add_http_options(app, http);
  modes mode;
  add_modes(app, mode);
  if (const auto done = cli::parse(app, argc, argv)) return *done;

  mcp::server_options options;
  std::unique_ptr<cli::audit_log> audit;
  if (!audit_path.empty()) {
    audit = open_audit(audit_path);
    if (!audit) return cli::usage;
    options.observer = [log = audit.get()](const mcp::call_record& record) { log->write(record); };
    from.on_network = [log = audit.get()](const network_event& event) { log->write(event); };
  }
  from.own_files = {audit_path, http.token_file};
  from.tools.process_sockets = cli::process_sockets_of(from);
  const bool sets_tools = !mode.host.empty() && app.get_option("--tools")->count() == 0;
  if (sets_tools) from.tools.tools = mcp::toolset::coding;
  const bool serves = !mode.list && !mode.check && mode.host.empty();
  const auto workspace = cli::open_workspace(program, from);
  if (!workspace) return cli::usage;
  const auto session = serves ? history::session::serve : history::session::look;
  if ((serves || mode.check) && !cli::open_served_history(program, from, workspace, session))
    return cli::usage;
  if (serves) from.tools.state_directory = cli::state_directory_of(from);
  auto server = cli::make_server(program, from, workspace, std::move(options));
  if (!server) return cli::usage;
  if (mode.list) {
    cli::list_tools(*server);
    return cli::success;
  }
  if (mode.check) return cli::self_test(from, *server);
  if (!mode.host.empty()) {
    auto command = cli::server_command_from(app, argc, argv, {"--print-config"});
    if (!command) return cli::failed;
    if (sets_tools) command->options.insert(command->options.begin(), {"--tools", "coding"});
    return cli::print_host_config(mode.host, *command);
  }
  cli::warn_of_program_in_workspace(program, from);
  cli::tell_of_home(program, from);
  mend_workspace(*workspace, from);
  const cli::history_reader reader(std::exchange(from.tools.history, nullptr));
  options_read.reset();
  give_memory_back();
  if (!http.listen.empty()) return cli::serve_http(program, *server, std::move(http));
  const auto served = mcp::serve_stdio(*server);
  if (!served) {
    cli::complain(program, "the connection failed: " + std::string(text(served.error().code)));
    return cli::failed;
  }
  // Handlers that did not come back still run; static objects must not be destroyed under them.
  if (served->calls_abandoned > 0) std::quick_exit(cli::success);
  return cli::success;
}
