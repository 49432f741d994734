// SPDX-License-Identifier: MIT
#include "self_test.hpp"

#include "common/home_tools.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/exec/confinement.hpp>
#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>
#include <paddock/mcp/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>

namespace paddock::cli {
namespace {

enum class verdict : std::uint8_t { works, lacks, fails };

class report {
public:
  void line(verdict found, std::string_view subject, std::string_view text) {
    constexpr std::string_view words[] = {"ok     ", "note   ", "FAILED "};
    constexpr style styles[] = {style::good, style::plain, style::bad};
    const auto at = static_cast<std::size_t>(found);
    print_words("%s %s %s\n", styled(words[at], styles[at]).c_str(),
                styled(column(subject, 13), style::bold).c_str(), fit(text, 2000).c_str());
    failures_ += found == verdict::fails ? 1 : 0;
  }
  [[nodiscard]] int failures() const { return failures_; }

private:
  int failures_ = 0;
};

/// What went wrong, and the flag that helps.
std::string explained(const error& e, std::string_view remedy) {
  return std::string(text(e.code)) + "; " + std::string(remedy);
}

/// In a directory that nobody had before, so that no file of the workspace is at risk.
result<void> try_writing(const root& workspace) {
  const auto self = std::filesystem::read_symlink("/proc/self").string(); // the process's number
  const std::string directory = ".paddock-check-" + self;
  const std::string file = directory + "/file";
  PADDOCK_CHECK(create_directory(workspace, directory));
  const auto written = write_file(workspace, file, "paddock\n");
  const auto read = written ? read_file(workspace, file) : result<file_content>(written.error());
  PADDOCK_CHECK(remove_directory(workspace, directory, {.recursive = recursion::yes}));
  if (!read) return read.error();
  if (read->bytes != "paddock\n") return error{error_code::io, 0, "read back"};
  return {};
}

bool writes(const mcp::server& server) {
  return std::ranges::any_of(server.tools(),
                             [](const mcp::tool& tool) { return !tool.annotations.read_only; });
}

void check_workspace(report& out, const workspace_cli& from, const mcp::server& server) {
  const auto workspace = root::open(from.workspace, from.protected_root());
  constexpr std::string_view choose = "choose a directory with --workspace";
  if (!workspace)
    return out.line(verdict::fails, "workspace", explained(workspace.error(), choose));
  const auto listed = list_directory(*workspace, ".");
  if (!listed) return out.line(verdict::fails, "workspace", explained(listed.error(), choose));
  out.line(verdict::works, "workspace", workspace->path());
  if (from.tools.access == mcp::workspace_access::read_only || !writes(server))
    return out.line(verdict::works, "writing", "not allowed by the options");
  const auto written = try_writing(*workspace);
  if (!written)
    return out.line(verdict::fails, "writing",
                    is_of_system(workspace->path())
                        ? "the workspace belongs to the system; choose a folder that holds the "
                          "work, or serve with --read-only"
                        : explained(written.error(), "make it writable for this user, or serve "
                                                     "with --read-only"));
  out.line(verdict::works, "writing", "a file was written, read back and removed");
}

void check_tools(report& out, mcp::server& server) {
  const auto lines =
      server.handle_line(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{)"
                         R"("io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
                         R"("io.modelcontextprotocol/clientCapabilities":{}}}})");
  mcp::json_document document;
  const auto answer = document.parse(lines.empty() ? "" : lines.back());
  const auto offered = answer ? (*answer)["result"]["tools"].size() : 0;
  if (offered != server.tools().size())
    return out.line(verdict::fails, "tools", "the server does not list its tools");
  std::string names;
  for (const auto& tool : server.tools())
    names += (names.empty() ? ": " : ", ") + tool.name;
  out.line(verdict::works, "tools", std::to_string(offered) + names);
}

std::string held_by(const confinement_report& report, const layer_report& layer) {
  std::string told = layer.mechanism + (layer.missing.empty() ? "" : "; " + shortfall(layer));
  if (layer.layer == confinement_layer::network && !report.no_loopback.empty())
    told += "; no loopback: " + report.no_loopback;
  return told;
}

void check_programs(report& out, const workspace_cli& from) {
  const auto helper = load_command_helper(from.tools.exec_helper);
  if (const auto own = program_in_workspace(from); !own.empty())
    return out.line(verdict::lacks, "programs", own);
  if (helper && helper->form == helper_form::opened)
    return out.line(
        verdict::lacks, "programs",
        helper->path +
            " is held by its open file, because no copy of it in memory can be run here; "
            "keep it where no command can write");
  out.line(verdict::works, "programs", "lie outside the workspace");
}

void check_commands(report& out, const workspace_cli& from, const mcp::server& server) {
  const auto runs = std::ranges::find(server.tools(), "exec", &mcp::tool::name);
  if (runs == server.tools().end()) return out.line(verdict::works, "commands", "are never run");
  const auto policy = from.policy("paddock-mcp");
  const auto workspace = root::open(from.workspace, from.protected_root());
  if (!policy || !workspace)
    return out.line(verdict::fails, "commands", "the options or the workspace cannot be used");
  const auto confined = probe_confinement(*policy, from.tools.exec_helper, workspace->descriptor());
  const auto trouble = mcp::trouble_of(*workspace, from.tools.exec_helper, confined);
  if (trouble.text.empty())
    out.line(verdict::works, "commands", "run with the layers below");
  else
    out.line(trouble.refused ? verdict::fails : verdict::lacks, "commands", trouble.text);
  const auto tell = [&](const char* subject, const std::vector<home_tool>& found) {
    const std::string left_out = left_out_of(found);
    out.line(left_out.empty() ? verdict::works : verdict::lacks, subject,
             names_of(found) + (left_out.empty() ? "" : "; left out: " + left_out));
  };
  if (const auto git = repository_out_of_reach(from); !git.empty())
    out.line(verdict::lacks, "git", git);
  if (from.confinement.home_tools) tell("home tools", from.home.tools());
  if (from.confinement.package_caches) tell("packages", from.home.caches());
  if (!confined) return;
  if (policy->scratch && confined->scratch != scratch_life::none)
    out.line(confined->no_session.empty() ? verdict::works : verdict::lacks, "scratch",
             confined->no_session.empty()
                 ? "is shared by all commands, and gone when the server ends"
                 : "of each command, and not of the session: " + confined->no_session);
  for (const auto& layer : confined->layers) {
    const std::string subject = "  " + std::string(wire_name(layer.layer));
    if (layer.applied)
      out.line(verdict::works, subject, held_by(*confined, layer));
    else if (layer.wanted != demand::off)
      out.line(verdict::lacks, subject, shortfall(layer));
    else
      out.line(verdict::lacks, subject, "off by the options");
  }
}

/// What the start opens; it has said itself why a history that was asked for cannot be kept.
void check_history(report& out, const workspace_cli& from) {
  if (from.tools.tools != mcp::toolset::coding) return;
  if (from.tools.history != nullptr) return out.line(verdict::works, "undo", "a history is kept");
  out.line(verdict::lacks, "undo", "is off: " + from.tools.no_history);
}

} // namespace

int self_test(const workspace_cli& from, mcp::server& server) {
  report out;
  check_workspace(out, from, server);
  check_tools(out, server);
  check_history(out, from);
  check_programs(out, from);
  check_commands(out, from, server);
  if (from.skills.wanted)
    out.line(verdict::works, "skills",
             from.skills.root.empty() ? "of the workspace" : from.skills.root);
  if (out.failures() > 0) return failed;
  print_words("\nThe server can do its work.\n");
  return success;
}

} // namespace paddock::cli
