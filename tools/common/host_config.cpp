// SPDX-License-Identifier: MIT
#include "host_config.hpp"

#include "text_forms.hpp"
#include "workspace_cli.hpp"

#include <paddock/mcp/json.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <system_error>

namespace paddock::cli {
namespace {

constexpr std::string_view program = "paddock-mcp";
constexpr std::string_view server_name = "paddock";

enum class form : std::uint8_t { json, typed_json, toml };

struct host {
  std::string_view name;
  std::string_view title;
  std::string_view place; ///< where the snippet belongs
  std::string_view key;   ///< the member that holds the servers
  paddock::cli::form form;
  std::string_view project; ///< what the host replaces by the directory of its project, if it does
};

// The one table of the hosts.
constexpr std::array hosts{
    host{"claude-desktop", "Claude Desktop", "claude_desktop_config.json", "mcpServers", form::json,
         ""},
    host{"claude-code", "Claude Code", ".mcp.json in the project", "mcpServers", form::json, ""},
    host{"vscode", "VS Code", ".vscode/mcp.json in the project", "servers", form::typed_json,
         "${workspaceFolder}"},
    host{"cursor", "Cursor", ".cursor/mcp.json in the project", "mcpServers", form::json,
         "${workspaceFolder}"},
    host{"codex", "Codex", "~/.codex/config.toml", "mcp_servers", form::toml, ""},
    host{"gemini", "Gemini CLI", "~/.gemini/settings.json", "mcpServers", form::json, ""},
    host{"zed", "Zed", "~/.config/zed/settings.json", "context_servers", form::json, ""},
};

std::vector<std::string> arguments_for(const host& h, const server_command& command) {
  std::string workspace(h.project);
  if (command.workspace)
    workspace = *command.workspace;
  else if (workspace.empty())
    workspace = std::filesystem::current_path().string();
  std::vector<std::string> all{"--workspace", std::move(workspace)};
  all.insert(all.end(), command.options.begin(), command.options.end());
  return all;
}

std::string json_snippet(const host& h, const std::string& path,
                         const std::vector<std::string>& arguments) {
  mcp::json_writer out;
  out.begin_object().key(h.key).begin_object().key(server_name).begin_object();
  if (h.form == form::typed_json) out.member("type", "stdio");
  out.member("command", path).key("args").begin_array();
  for (const auto& argument : arguments)
    out.string(argument);
  out.end_array().end_object().end_object().end_object();
  return indented(out.str()) + "\n";
}

std::string toml_snippet(const host& h, const std::string& path,
                         const std::vector<std::string>& arguments) {
  std::string out = "[" + std::string(h.key) + "." + std::string(server_name) + "]\n";
  out += "command = " + toml_string(path) + "\nargs = [";
  for (const auto& argument : arguments)
    out += (&argument == arguments.data() ? "" : ", ") + toml_string(argument);
  return out + "]\n";
}

/// How the same is said on a command line, where the host has one for it.
std::string command_line(const host& h, const std::string& path,
                         const std::vector<std::string>& arguments) {
  std::string out;
  if (h.name == "claude-code") out = "claude mcp add --transport stdio paddock -- ";
  if (h.name == "codex") out = "codex mcp add paddock -- ";
  if (out.empty()) return out;
  out += shell_word(path);
  for (const auto& argument : arguments)
    out += " " + shell_word(argument);
  return out;
}

/// JSON, TOML and the hosts know UTF-8 only.
bool is_utf8(const std::string& text) {
  mcp::json_document document;
  const auto parsed = document.parse(mcp::json_writer().string(text).str());
  return parsed && parsed->string() == text;
}

void print_one(const host& h, const server_command& command, std::FILE* explanations) {
  const auto arguments = arguments_for(h, command);
  std::fprintf(explanations, "%s: put this into %s\n", std::string(h.title).c_str(),
               std::string(h.place).c_str());
  if (const auto line = command_line(h, command.program, arguments); !line.empty())
    std::fprintf(explanations, "or run: %s\n", line.c_str());
  const auto snippet = h.form == form::toml ? toml_snippet(h, command.program, arguments)
                                            : json_snippet(h, command.program, arguments);
  std::fputs(snippet.c_str(), stdout);
}

bool is_path(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type == "DIR" || type == "FILE" || type == "PATH";
}

std::string absolute(const std::string& path) {
  std::string made = std::filesystem::absolute(path).lexically_normal().string();
  if (made.size() > 1 && made.ends_with('/')) made.pop_back(); // of "."
  return made;
}

} // namespace

std::vector<std::string> host_names() {
  std::vector<std::string> names;
  for (const auto& h : hosts)
    names.emplace_back(h.name);
  names.emplace_back("all");
  return names;
}

std::optional<server_command> server_command_from(const CLI::App& app, int argc, char** argv,
                                                  const std::vector<std::string>& left_out) {
  std::error_code failed_to;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed_to);
  if (failed_to || !std::filesystem::exists(self, failed_to)) {
    complain(program, "the path of this program cannot be found; is /proc mounted?");
    return std::nullopt;
  }
  server_command made{.program = self.string()};
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool is_long = word.starts_with("--");
    const auto name_end = is_long ? word.find('=') : 2;
    const std::string name = word.substr(0, name_end);
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr) continue;
    std::string value;
    const bool takes_value = option->get_items_expected_max() > 0;
    const bool attached = name_end < word.size();
    if (takes_value && attached)
      value = word.substr(is_long ? name_end + 1 : name_end);
    else if (takes_value && i + 1 < argc)
      value = argv[++i];
    if (takes_value && is_path(*option)) value = absolute(value);
    if (option == app.get_option_no_throw("--workspace"))
      made.workspace = value;
    else if (std::ranges::none_of(left_out, [&](const auto& other) {
               return option == app.get_option_no_throw(other);
             })) {
      made.options.push_back("--" + option->get_lnames().front());
      if (takes_value) made.options.push_back(std::move(value));
    }
  }
  return made;
}

int print_host_config(std::string_view name, const server_command& command) {
  const bool usable = is_utf8(command.program) && is_utf8(command.workspace.value_or("")) &&
                      std::ranges::all_of(command.options, is_utf8);
  if (!usable) {
    complain(program, "a path is not UTF-8, which no host's configuration can say");
    return failed;
  }
  for (const auto& h : hosts) {
    if (name == "all") {
      if (&h != hosts.data()) std::printf("\n");
      print_one(h, command, stdout);
    } else if (name == h.name) {
      print_one(h, command, stderr);
    }
  }
  return success;
}

} // namespace paddock::cli
