// SPDX-License-Identifier: MIT

// paddock doctor: what this system offers, and what follows for Paddock.

#include "doctor.hpp"

#include "common/home_tools.hpp"
#include "common/option_values.hpp"
#include "common/output.hpp"
#include "common/package_caches.hpp"
#include "common/terminal.hpp"
#include "common/text_forms.hpp"
#include "common/workspace_cli.hpp"
#include "fix.hpp"
#include "system_probes.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/exec/confinement.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/mcp/workspace_tools.hpp>
#include <paddock/version.hpp>

#include <cstdio>
#include <memory>
#include <vector>

namespace paddock::cli {
namespace {

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
