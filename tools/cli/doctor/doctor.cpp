// SPDX-License-Identifier: MIT

// paddock doctor: what this system offers, and what follows for Paddock.

#include "doctor.hpp"

#include "common/home_tools.hpp"
#include "common/option_values.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "common/text_forms.hpp"
#include "common/workspace_cli.hpp"
#include "system_probes.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/exec/confinement.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/mcp/workspace_tools.hpp>
#include <paddock/version.hpp>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace paddock::cli {
namespace {

enum class fix_outcome : std::uint8_t { nothing_known, made, not_made };

enum class concerns : std::uint8_t { everyone, ordinary_users };
struct setting {
  std::string_view name, refused, wanted; ///< `wanted` is empty where a profile is the answer
  concerns whom;
};
constexpr std::array settings{
    setting{"user.max_user_namespaces", "0", "15000", concerns::everyone},
    setting{"kernel.unprivileged_userns_clone", "0", "1", concerns::ordinary_users},
    setting{"kernel.apparmor_restrict_unprivileged_userns", "1", "", concerns::ordinary_users}};

std::string file_of(std::string_view name) {
  std::string path(name);
  std::ranges::replace(path, '.', '/');
  return "/proc/sys/" + path;
}

bool refuses(const setting& each) {
  if (each.whom == concerns::ordinary_users && ::geteuid() == 0) return false;
  std::string value;
  return std::ifstream(file_of(each.name)) >> value && value == each.refused;
}

std::string set_it(const setting& each) {
  const std::string name(each.name), value(each.wanted);
  return "echo '" + name + " = " + value + "' >/etc/sysctl.d/60-paddock.conf\necho " + value +
         " >" + file_of(name) + '\n';
}

/// For the programs beside this one; empty where their path has other characters than a shell and
/// AppArmor take as they are. As src/packaging/apparmor-profile has it.
std::string load_profile() {
  std::error_code unknown;
  const std::string place =
      std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path().string();
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
  if (unknown || place.size() < 2 || place.find_first_not_of(plain) != std::string::npos) return {};
  std::string name = place.substr(1) + ".paddock";
  std::ranges::replace(name, '/', '.');
  return "cat >/etc/apparmor.d/" + name + " <<'END'\nabi <abi/4.0>,\nprofile " + name + " " +
         place + "/paddock{,-mcp} flags=(unconfined) {\n  userns,\n}\nEND\n" +
         "apparmor_parser --replace /etc/apparmor.d/" + name + '\n';
}

bool a_person_agrees() {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) return false;
  print_words("\nRun these commands%s now? [y/N] ", ::geteuid() == 0 ? "" : " with sudo");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

bool run_as_root(const std::string& script) {
  std::string text = script;
  std::array<char, 5> sudo{"sudo"};
  std::array<char, 3> shell{"sh"}, stop{"-e"}, command{"-c"};
  std::array<char*, 6> words{sudo.data(), shell.data(), stop.data(), command.data(), text.data()};
  char** const argv = words.data() + (::geteuid() == 0 ? 1 : 0);
  pid_t child = 0;
  int status = 1;
  return ::posix_spawnp(&child, argv[0], nullptr, nullptr, argv, environ) == 0 &&
         ::waitpid(child, &status, 0) == child && status == 0;
}

/// Looks for a setting of this machine that keeps user namespaces from this user, shows the
/// commands that change it, and runs them as root once a person at the terminal agrees.
fix_outcome fix_namespaces() {
  const auto* const found = std::ranges::find_if(settings, refuses);
  if (found == settings.end()) return fix_outcome::nothing_known;
  print_words("This system blocks user namespaces for this user: %s = %s.\n",
              std::string(found->name).c_str(), std::string(found->refused).c_str());
  const std::string script = found->wanted.empty() ? load_profile() : set_it(*found);
  if (script.empty()) {
    print_words("The path of these programs has special characters: install them elsewhere.\n");
    return fix_outcome::not_made;
  }
  print_words("As root, these commands allow them%s:\n\n%s",
              found->wanted.empty() ? ", to whatever program is at this path" : "", script.c_str());
  if (!a_person_agrees()) return fix_outcome::not_made;
  if (run_as_root(script)) return fix_outcome::made;
  print_words("The commands failed.\n");
  return fix_outcome::not_made;
}

struct doctor_options {
  std::string workspace = ".";
  bool json = false;
  bool fix = false;
};

/// What healthCheck and --check go by as well.
struct diagnosis {
  result<confinement_report> confined;
  mcp::command_trouble trouble;
  std::string session{}; ///< whether commands can share their scratch directories
  std::vector<home_tool> home_tools{};
  std::vector<home_tool> package_caches{};
};

void write_home(mcp::json_writer& out, const char* key, const std::vector<home_tool>& found) {
  out.key(key).begin_array();
  for (const home_tool& each : found) {
    out.begin_object().member("name", each.name);
    write_names(out, "shown", each.shown);
    write_names(out, "leftOut", each.left_out);
    out.end_object();
  }
  out.end_array();
}

void print_json(const std::vector<finding>& findings, const diagnosis& found) {
  mcp::json_writer out;
  out.begin_object();
  out.member("version", PADDOCK_VERSION).member("system", system_name());
  out.key("features").begin_array();
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const probe& row = system_probes()[i];
    out.begin_object().member("name", row.name).key("found").boolean(findings[i].found);
    out.key("required").boolean(row.wanted == need::required);
    if (!findings[i].detail.empty()) out.member("detail", findings[i].detail);
    out.member("purpose", row.purpose).member("withoutIt", row.without_it).end_object();
  }
  out.end_array();
  if (found.confined) {
    out.key("confinement");
    mcp::write_confinement(out, *found.confined);
  }
  if (!found.session.empty()) out.member("scratchSession", found.session);
  if (!found.trouble.text.empty()) out.member("commands", found.trouble.text);
  write_home(out, "homeTools", found.home_tools);
  write_home(out, "packageCaches", found.package_caches);
  out.end_object();
  print_json_line(out.str());
}

void print_row(const probe& row, const finding& found) {
  const bool fatal = !found.found && row.wanted == need::required;
  const std::string detail = found.detail.empty() ? "" : "  (" + fit(found.detail, 1000) + ")";
  print_words(
      "%s %s %s%s\n",
      styled(found.found ? "found  " : "MISSING", found.found ? style::good : style::bad).c_str(),
      styled(column(row.name, 22), style::bold).c_str(), std::string(row.purpose).c_str(),
      styled(detail, style::dim).c_str());
  print_words("%31s%s\n", "",
              styled(std::string(fatal ? "needed: " : "without it: ") + std::string(row.without_it),
                     found.found ? style::dim : style::plain)
                  .c_str());
}

/// What a command that tried to break out of the default confinement met.
void print_layers(const confinement_report& confined, const std::string& session) {
  print_words("\nA command confined by default, tried by effect:\n\n");
  for (const auto& layer : confined.layers) {
    print_words(
        "%s %s %s\n",
        styled(layer.applied ? "holds  " : "MISSING", layer.applied ? style::good : style::bad)
            .c_str(),
        styled(column(wire_name(layer.layer), 22), style::bold).c_str(),
        std::string(text(layer.layer)).c_str());
    if (!layer.mechanism.empty())
      print_words("%31s%s\n", "", styled("by: " + layer.mechanism, style::dim).c_str());
    if (!layer.missing.empty()) print_words("%31s%s\n", "", shortfall(layer).c_str());
    if (layer.layer == confinement_layer::file_system)
      print_words("%31sscratch of each command; --scratch session %s\n", "", session.c_str());
    if (layer.layer == confinement_layer::network && !confined.no_loopback.empty())
      print_words("%31sno loopback: %s\n", "", confined.no_loopback.c_str());
  }
}

void print_home(const char* title, const std::vector<home_tool>& tools) {
  if (tools.empty()) return;
  print_words("\n%s:\n\n", title);
  for (const home_tool& each : tools) {
    const std::string what = each.shown.empty()
                                 ? "nothing of it"
                                 : std::to_string(each.shown.size()) +
                                       (each.shown.size() == 1 ? " place, " : " places, from ") +
                                       fit(each.shown.front(), 1000);
    print_words("%-7s %s %s\n", "", styled(column(each.name, 22), style::bold).c_str(),
                what.c_str());
    for (const std::string& left_out : each.left_out)
      print_words("%31sleft out: %s\n", "", fit(left_out, 1000).c_str());
  }
}

/// What a person wants to know first, where it is seen: at the end.
void print_verdict(const std::vector<finding>& findings, const diagnosis& found) {
  std::string needed;
  for (std::size_t i = 0; i < findings.size(); ++i)
    if (const probe& row = system_probes()[i]; !findings[i].found && row.wanted == need::required)
      needed.append(needed.empty() ? " " : ", ").append(row.name);
  if (!needed.empty())
    print_words("\nNeeded and missing:%s. See above what to do.\n", needed.c_str());
  if (found.trouble.refused)
    print_words("\nCommands: %s. File tools work.\n", found.trouble.text.c_str());
  else if (!found.trouble.text.empty())
    print_words("\nCommands %s.\n", found.trouble.text.c_str());
  else if (needed.empty())
    print_words("\nEverything that Paddock needs is here%s.\n",
                found.confined->complete() ? "" : "; the layers above say what is not held");
}

void print_text(const std::vector<finding>& findings, const diagnosis& found) {
  print_words("Paddock %s on %s\n\n", PADDOCK_VERSION, system_name().c_str());
  for (std::size_t i = 0; i < findings.size(); ++i)
    print_row(system_probes()[i], findings[i]);
  if (found.confined) print_layers(*found.confined, found.session);
  print_home("Toolchains in the home directory, which commands see with --home-tools",
             found.home_tools);
  print_home("Package caches in the home directory, which commands use with --package-cache",
             found.package_caches);
  print_verdict(findings, found);
}

/// What it would be with that option; by default each command has its own.
std::string try_session(int workspace) {
  confinement_policy policy;
  policy.scratch = hold_scratch(policy, workspace);
  const auto met = probe_confinement(policy, {}, workspace);
  if (met && met->scratch == scratch_life::session) return "can be had";
  const bool is_told = met && !met->no_session.empty();
  return is_told ? "cannot be had: " + met->no_session : "cannot be had";
}

diagnosis diagnose(const std::string& workspace) {
  const auto opened = root::open(workspace);
  if (!opened)
    return {
        .confined = opened.error(),
        .trouble = {.text = "are refused: " + unusable_workspace(workspace, opened.error().code),
                    .refused = true}};
  diagnosis found{.confined = probe_confinement({}, {}, opened->descriptor()), .trouble = {}};
  if (found.confined) found.session = try_session(opened->descriptor());
  found.trouble = mcp::trouble_of(*opened, {}, found.confined);
  return found;
}

int run_doctor(const doctor_options& options) {
  if (options.fix) {
    const fix_outcome done = fix_namespaces();
    if (done == fix_outcome::not_made) return failed;
    if (done == fix_outcome::nothing_known)
      print_words("Nothing to fix: no known setting blocks user namespaces.\n");
    print_words("\n");
  }
  std::vector<finding> findings;
  bool complete = true;
  for (const auto& row : system_probes()) {
    findings.push_back(row.look(options.workspace));
    complete &= findings.back().found || row.wanted == need::optional;
  }
  diagnosis found = diagnose(options.workspace);
  found.home_tools = find_home_tools(process_variable("HOME"));
  found.package_caches = find_package_caches(process_variable("HOME"));
  if (options.json)
    print_json(findings, found);
  else
    print_text(findings, found);
  return complete && !found.trouble.refused ? success : failed;
}

} // namespace

subcommand add_doctor(CLI::App& app) {
  const auto options = std::make_shared<doctor_options>();
  CLI::App* parser = app.add_subcommand("doctor", "Check what this system supports");
  parser->footer(
      "Exit codes: 0 success, 1 something that Paddock needs is missing, 2 unusable options.");
  parser
      ->add_option("-w,--workspace", options->workspace,
                   "Check the file system of this directory (default: the current directory)")
      ->type_name("DIR")
      ->check(existing_directory(), "");
  CLI::Option* json =
      parser->add_flag("--json", options->json, "Print one JSON object instead of text");
  parser
      ->add_flag("--fix", options->fix,
                 "Show the commands that allow user namespaces here, and run them if you agree")
      ->excludes(json);
  return {parser, [options] { return run_doctor(*options); }};
}

} // namespace paddock::cli
