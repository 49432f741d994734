// SPDX-License-Identifier: MIT

// paddock skills list, show, files and prompt: what looks and changes nothing.

#include "cli/skills/skills_cli.hpp"
#include "common/option_values.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"

#include <paddock/file/file.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/skill/prompt.hpp>

#include <algorithm>

namespace paddock::cli {
namespace {

constexpr std::size_t id_width_max = 40;
constexpr std::size_t description_width = 80;

void print_text_line(std::string_view line) {
  print_words("%.*s\n", static_cast<int>(line.size()), line.data());
}

// --- list --------------------------------------------------------------------------------------

std::string reason_of(const unloaded_directory& d) {
  if (d.why == not_a_skill::invalid_frontmatter)
    for (const auto& each : d.diagnostics)
      if (level(each.code) == frontmatter::severity::error)
        return "line " + std::to_string(each.line) + ": " + std::string(text(each.code));
  std::string reason(text(d.why));
  if (d.why == not_a_skill::unreadable && d.reason)
    reason.append(": ").append(text(d.reason->code));
  return reason;
}

void print_json(const skill_list& list) {
  mcp::json_writer out;
  out.begin_object().key("skills").begin_array();
  for (const skill& s : list.skills)
    write_skill(out, s);
  out.end_array().key("notLoaded").begin_array();
  for (const unloaded_directory& d : list.not_loaded) {
    out.begin_object().member("id", d.id).member("source", name_of(d.source));
    out.member("path", d.path).member("reason", wire_name(d.why));
    out.member("message", reason_of(d));
    write_diagnostics(out.key("diagnostics"), d.diagnostics);
    out.end_object();
  }
  print_line(out.end_array().end_object());
}

void print_table(const skill_list& list, const skill_store_options& places) {
  if (list.skills.empty())
    print_text_line("There are no skills in " + places.system_directory + " and " +
                    places.user_directory + ".");
  std::size_t width = 2;
  for (const skill& s : list.skills)
    width = std::max(width, std::min(columns_of(s.id), id_width_max));
  if (!list.skills.empty())
    print_text_line(styled(column("ID", width) + "  SOURCE  DESCRIPTION", style::bold));
  for (const skill& s : list.skills) {
    const std::string about = s.name == s.id ? s.description : s.name + ": " + s.description;
    const std::string row = column(s.id, width) + "  " + column(name_of(s.source), 6) + "  " +
                            fit(about, description_width);
    print_text_line(s.diagnostics.empty() ? row : row + styled("  (see validate)", style::dim));
  }
  if (list.not_loaded.empty()) return;
  print_text_line(styled("\nNot loaded:", style::bold));
  for (const unloaded_directory& d : list.not_loaded)
    print_text_line(fit(d.path, path_bytes_max) + ": " + styled(reason_of(d), style::bad));
}

int run_list(const skills_cli& options) {
  const auto store = open_store(options);
  if (!store) return usage;
  const auto list = store->list();
  if (!list) return fail("the skills of " + options.root, list.error());
  if (options.form == output::json)
    print_json(**list);
  else
    print_table(**list, store->options());
  return success;
}

// --- show --------------------------------------------------------------------------------------

/// Why there is no such skill, when there is such a directory.
int fail_to_show(const skill_store& store, const std::string& id, const error& e) {
  if (const auto list = store.list())
    for (const unloaded_directory& d : (*list)->not_loaded)
      if (d.id == id && d.why != not_a_skill::shadowed) {
        complain(skills_program, fit(d.path, d.path.size()) + " is not a skill: " + reason_of(d) +
                                     (d.why == not_a_skill::no_skill_file ? "; add one" : ""));
        return failed;
      }
  if (const auto list = store.list(); list && e.code == error_code::not_found)
    for (const skill& s : (*list)->skills)
      if (s.name == id) {
        const std::string message = "there is no skill of the id " + id + "; the one named so is " +
                                    s.id + ", after its directory";
        complain(skills_program, fit(message, message.size()));
        return failed;
      }
  return fail_skill(id, e);
}

int run_show(const skills_cli& options, const std::string& id) {
  const auto store = open_store(options);
  if (!store) return usage;
  const auto found = store->find(id);
  if (!found) return fail_to_show(*store, id, found.error());
  const auto file = read_file(*store->root_shared(), found->path);
  if (!file) return fail(found->path, file.error());
  if (options.form == output::json) {
    mcp::json_writer out;
    out.begin_object().key("skill");
    write_skill(out, *found);
    print_line(out.member("content", file->bytes).end_object());
    return success;
  }
  const auto row = [](std::string_view name, std::string_view value) {
    print_text_line(styled(column(name, 12), style::bold) + fit(value, value.size()));
  };
  row("id", found->id);
  row("name", found->name);
  row("description", found->description);
  row("source", name_of(found->source));
  row("path", found->path);
  for (const auto& d : found->diagnostics)
    print_text_line(line_of(found->path, d));
  print_text_line("");
  print_content(file->bytes);
  if (!file->bytes.ends_with('\n')) print_text_line("");
  return success;
}

// --- files -------------------------------------------------------------------------------------

int run_files(const skills_cli& options, const std::string& id) {
  const auto store = open_store(options);
  if (!store) return usage;
  const auto files = store->files(id);
  if (!files) return fail_skill(id, files.error());
  if (options.form == output::json) {
    mcp::json_writer out;
    out.begin_object().member("id", id).key("files").begin_array();
    for (const skill_file& f : *files) {
      out.begin_object().member("path", encode_name(f.path)).member("type", name_of(f.kind));
      out.key("size").unsigned_integer(f.size).end_object();
    }
    print_line(out.end_array().end_object());
    return success;
  }
  constexpr std::size_t size_width = 12;
  for (const skill_file& f : *files)
    print_text_line(
        column(f.kind == entry_kind::file ? std::to_string(f.size) : std::string(name_of(f.kind)),
               size_width, align::right) +
        "  " + fit(f.path, f.path.size()));
  return success;
}

// --- prompt ------------------------------------------------------------------------------------

int run_prompt(const skills_cli& options, const prompt_options& how) {
  const auto store = open_store(options);
  if (!store) return usage;
  const auto list = store->list();
  if (!list) return fail("the skills of " + options.root, list.error());
  const skill_prompt prompt = make_skill_prompt((*list)->skills, how);
  if (options.form == output::text) {
    print_content(prompt.text);
    if (prompt.left_out > 0)
      complain(skills_program,
               std::to_string(prompt.left_out) + " of " + std::to_string((*list)->skills.size()) +
                   " skills are left out, because the text has " + std::to_string(how.bytes_max) +
                   " bytes at most; raise --budget, or shorten descriptions");
    return success;
  }
  mcp::json_writer out;
  out.begin_object().member("text", prompt.text);
  out.key("shortened").unsigned_integer(prompt.shortened);
  out.key("leftOut").unsigned_integer(prompt.left_out).end_object();
  print_line(out);
  return success;
}

} // namespace

subcommand add_skills_list(CLI::App& skills) {
  const auto options = std::make_shared<skills_cli>();
  CLI::App* parser = add_skills_command(
      skills, "list", "List skills, and directories that could not be loaded and why", *options);
  return {parser, [options] { return run_list(*options); }};
}

subcommand add_skills_show(CLI::App& skills) {
  struct given : skills_cli {
    std::string id;
  };
  const auto options = std::make_shared<given>();
  CLI::App* parser =
      add_skills_command(skills, "show", "Show one skill with its SKILL.md", *options);
  parser->add_option("id", options->id, "The skill's directory name")->required()->type_name("ID");
  return {parser, [options] { return run_show(*options, options->id); }};
}

subcommand add_skills_files(CLI::App& skills) {
  struct given : skills_cli {
    std::string id;
  };
  const auto options = std::make_shared<given>();
  CLI::App* parser = add_skills_command(skills, "files", "List the files of one skill", *options);
  parser->add_option("id", options->id, "The skill's directory name")->required()->type_name("ID");
  return {parser, [options] { return run_files(*options, options->id); }};
}

subcommand add_skills_prompt(CLI::App& skills) {
  struct given : skills_cli {
    prompt_options how;
  };
  const auto options = std::make_shared<given>();
  CLI::App* parser = add_skills_command(
      skills, "prompt", "Print the text that tells a model which skills there are", *options);
  const std::map<std::string, prompt_format> formats = {{"seed", prompt_format::seed},
                                                        {"xml", prompt_format::xml}};
  parser->add_option("--format", options->how.format, "Print the seed format (default), or xml")
      ->transform(word_of(formats))
      ->type_name("FORMAT");
  parser
      ->add_option("--budget", options->how.bytes_max,
                   "Print at most this many bytes (default 16000)")
      ->transform(byte_count(std::numeric_limits<std::int64_t>::max()))
      ->type_name("BYTES");
  return {parser, [options] { return run_prompt(*options, options->how); }};
}

} // namespace paddock::cli
