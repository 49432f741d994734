// SPDX-License-Identifier: MIT

// paddock skills add, edit, delete and import: what changes the user's skills.

#include "cli/skills/skills_cli.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "common/text_forms.hpp"

#include <paddock/path/lexical_path.hpp>

#include <CLI/CLI.hpp>

namespace paddock::cli {
namespace {

void print_done(const skills_cli& options, const skill& s, std::string_view done) {
  if (options.form == output::json) {
    mcp::json_writer out;
    write_skill(out, s);
    print_line(out);
    return;
  }
  print_words("%.*s %s\n", static_cast<int>(done.size()), done.data(),
              fit(s.path, s.path.size()).c_str());
  for (const auto& d : s.diagnostics)
    print_problem("%s\n", line_of(s.path, d).c_str());
  if (s.name != s.id)
    complain(skills_program,
             "warning: " + std::string(text(frontmatter::diagnostic_code::name_not_directory)));
}

// --- add, edit, delete -------------------------------------------------------------------------

struct fields_given : skills_cli {
  std::string id;
  std::optional<std::string> name;
  std::optional<std::string> description;
};

int run_add(const fields_given& options) {
  const auto store = open_store(options);
  if (!store) return usage;
  const auto added = store->add(options.id, *options.name, *options.description);
  if (!added) return fail_skill(options.id, added.error());
  print_done(options, *added, "added");
  return success;
}

int run_edit(const fields_given& options) {
  if (!options.name && !options.description) {
    complain(skills_program, "edit: give --name or --description or both");
    return usage;
  }
  const auto store = open_store(options);
  if (!store) return usage;
  const auto edited =
      store->edit(options.id, {.name = options.name, .description = options.description});
  if (!edited) {
    const std::string_view field = edited.error().operation;
    const bool is_not_given =
        (field == "name" && !options.name) || (field == "description" && !options.description);
    if (edited.error().code == error_code::invalid_argument && is_not_given) {
      const std::string message = "the SKILL.md of " + options.id + " has no " +
                                  std::string(field) + " that can be read; give --" +
                                  std::string(field) + " too";
      complain(skills_program, fit(message, message.size()));
      return failed;
    }
    return fail_skill(options.id, edited.error());
  }
  print_done(options, *edited, "changed");
  return success;
}

int run_delete(const fields_given& options) {
  const auto store = open_store(options);
  if (!store) return usage;
  const auto done = store->remove(options.id);
  if (!done && done.error().code == error_code::not_a_directory) {
    complain(skills_program, fit(options.id, options.id.size()) +
                                 " is a file among the skills and no skill; nothing was deleted");
    return failed;
  }
  if (!done) return fail_skill(options.id, done.error());
  if (options.form == output::json) {
    mcp::json_writer out;
    print_line(out.begin_object().member("deleted", options.id).end_object());
  } else {
    print_words("deleted %s\n", fit(options.id, options.id.size()).c_str());
  }
  return success;
}

// --- import ------------------------------------------------------------------------------------

struct import_given : skills_cli {
  std::string source;
  import_options how;
};

void write_report(mcp::json_writer& out, const import_report& report) {
  out.begin_object().member("id", report.id);
  if (report.refusal != import_refusal::none) {
    out.member("refused", wire_name(report.refusal)).member("message", text(report.refusal));
    if (!report.entry.empty()) out.member("entry", encode_name(report.entry));
  }
  out.key("files").unsigned_integer(report.files).key("bytes").unsigned_integer(report.bytes);
  out.key("replaced").boolean(report.replaced);
  write_names(out, "leftOut", report.left_out);
  write_diagnostics(out.key("diagnostics"), report.diagnostics);
  out.end_object();
}

int refused(const import_given& options, const import_error& e) {
  const import_report& report = e.report;
  if (options.form == output::json) {
    mcp::json_writer out;
    write_report(out, report);
    print_line(out);
  }
  if (report.refusal == import_refusal::none) return fail(options.source, e);
  std::string_view told = text(report.refusal);
  const bool is_taken = report.refusal == import_refusal::id_exists;
  if (is_taken) told = told.substr(0, told.find(';')); // what can be done has options here
  std::string message = options.source + ": " + std::string(told);
  if (!report.entry.empty()) message += " (" + encode_name(report.entry) + ")";
  if (is_taken) message += "; choose another id, or overwrite it: --id or --overwrite";
  complain(skills_program, fit(message, message.size()));
  return failed;
}

int run_import(const import_given& options) {
  if (const auto scheme = options.source.find("://");
      scheme != std::string::npos && scheme > 0 && options.source.find('/') == scheme + 1) {
    const std::string message = options.source + " is a URL, and nothing is downloaded here; fetch "
                                                 "it first (curl -LO URL), look into it, and "
                                                 "import the file";
    complain(skills_program, fit(message, message.size()));
    return failed;
  }
  const auto store = open_store(options);
  if (!store) return usage;
  const auto imported = store->import(options.source, options.how);
  if (!imported) return refused(options, imported.error());
  const import_report& report = imported->report;
  if (options.form == output::json) {
    mcp::json_writer out;
    write_report(out, report);
    print_line(out);
    return success;
  }
  print_words("%s %s: %llu %s, %llu bytes\n", report.replaced ? "replaced" : "imported",
              fit(imported->path, imported->path.size()).c_str(),
              static_cast<unsigned long long>(report.files), report.files == 1 ? "file" : "files",
              static_cast<unsigned long long>(report.bytes));
  for (const std::string& each : report.left_out)
    print_words("left out %s\n", fit(each, each.size()).c_str());
  bool listed = true;
  for (const auto& d : report.diagnostics) {
    listed = listed && level(d.code) != frontmatter::severity::error;
    print_problem("%s\n", line_of(imported->path, d).c_str());
  }
  if (!listed) complain(skills_program, "the files are there, but this is not a skill yet");
  return success;
}

} // namespace

subcommand add_skills_add(CLI::App& skills) {
  const auto options = std::make_shared<fields_given>();
  CLI::App* parser = add_skills_command(skills, "add", "Create a user skill", *options);
  parser->add_option("id", options->id, "The skill's directory name")->required()->type_name("ID");
  parser->add_option("--name", options->name, "Give it this name")->required()->type_name("TEXT");
  parser->add_option("--description", options->description, "Say what it does and when to use it")
      ->required()
      ->type_name("TEXT");
  return {parser, [options] { return run_add(*options); }};
}

subcommand add_skills_edit(CLI::App& skills) {
  const auto options = std::make_shared<fields_given>();
  CLI::App* parser =
      add_skills_command(skills, "edit", "Change a user skill's name or description", *options);
  parser->add_option("id", options->id, "The skill's directory name")->required()->type_name("ID");
  parser->add_option("--name", options->name, "Give it this name")->type_name("TEXT");
  parser->add_option("--description", options->description, "Give it this description")
      ->type_name("TEXT");
  return {parser, [options] { return run_edit(*options); }};
}

subcommand add_skills_delete(CLI::App& skills) {
  const auto options = std::make_shared<fields_given>();
  CLI::App* parser =
      add_skills_command(skills, "delete", "Delete a user skill with all its files", *options);
  parser->add_option("id", options->id, "The skill's directory name")->required()->type_name("ID");
  return {parser, [options] { return run_delete(*options); }};
}

subcommand add_skills_import(CLI::App& skills) {
  const auto options = std::make_shared<import_given>();
  CLI::App* parser = add_skills_command(
      skills, "import", "Copy a skill from a folder, a .zip or a .skill archive", *options);
  parser->add_option("source", options->source, "The folder or archive")
      ->required()
      ->type_name("SOURCE");
  parser->add_option("--id", options->how.id, "Use this directory name (default: the source's)")
      ->type_name("ID");
  parser->add_flag_callback(
      "--overwrite", [options] { options->how.overwrite = overwrite::replace; },
      "Replace a user skill with this id");
  return {parser, [options] { return run_import(*options); }};
}

} // namespace paddock::cli
