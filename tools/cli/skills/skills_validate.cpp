// SPDX-License-Identifier: MIT

// paddock skills validate: SKILL.md files against the Agent Skills specification.

#include "cli/skills/skills_cli.hpp"
#include "common/output.hpp"
#include "common/terminal.hpp"

#include <paddock/base/detail/ascii.hpp>
#include <paddock/file/file.hpp>
#include <paddock/frontmatter/frontmatter_yaml.hpp>
#include <paddock/path/lexical_path.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <utility>

namespace paddock::cli {
namespace {

constexpr std::string_view skill_file = "SKILL.md";

struct given : skills_cli {
  std::string path; ///< empty: every skill of the root
};

/// One SKILL.md and what is wrong with it; or why it could not be looked at.
struct verdict {
  std::string path;
  std::vector<frontmatter::diagnostic> diagnostics;
  std::vector<std::string> keys; ///< that each is about; empty: its text says enough
  std::optional<error> unreadable;
  std::string other_name; ///< of the file, which is SKILL.md but for its case
  std::string next{};     ///< what to do about an unreadable one

  [[nodiscard]] std::size_t errors() const {
    const auto bad = std::ranges::count_if(
        diagnostics, [](const auto& d) { return level(d.code) == frontmatter::severity::error; });
    return static_cast<std::size_t>(bad) + (unreadable ? 1 : 0);
  }
};

/// The name of the file that is there instead of SKILL.md and differs in case only; empty when
/// there is none.
std::string in_other_case(const std::filesystem::path& directory) {
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(directory, ignored), end; !ignored && at != end;
       at.increment(ignored))
    if (const std::string name = at->path().filename();
        detail::equal_ignoring_ascii_case(name, skill_file))
      return name;
  return {};
}

/// The key that the specification does not know.
std::string unknown_key(std::string_view text, const frontmatter::diagnostic& d) {
  if (d.code != frontmatter::diagnostic_code::unknown_key) return {};
  for (std::uint32_t line = 1; line < d.line && !text.empty(); ++line)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  text = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min<std::size_t>(d.column - 1, text.size()));
  return std::string(text.substr(0, text.find(':')));
}

verdict judge(const root& from, std::string_view path, std::string shown,
              std::string_view directory) {
  verdict v{.path = std::move(shown)};
  const auto file = read_file(from, path);
  if (file) {
    v.diagnostics = frontmatter::validate(file->bytes, directory, frontmatter::libyaml());
    for (const auto& d : v.diagnostics)
      v.keys.push_back(unknown_key(file->bytes, d));
  } else {
    v.unreadable = file.error();
  }
  if (!file && file.error().code == error_code::not_found && file_name(path) == skill_file)
    v.other_name = in_other_case(std::filesystem::path(from.path()) / parent(path));
  return v;
}

/// The SKILL.md, or the directory with one, at `path` of this machine.
std::vector<verdict> judge_path(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool is_directory = fs::is_directory(path, ignored);
  const std::string directory = is_directory ? path : std::string(parent(path));
  const std::string_view name = is_directory ? skill_file : file_name(path);
  const std::string shown = is_directory ? join(path, skill_file) : path;
  const auto from = root::open(directory.empty() ? "." : directory);
  verdict v{.path = shown};
  if (from)
    v = judge(*from, name, shown, file_name(from->path()));
  else
    v.unreadable = from.error();
  if (v.unreadable && v.unreadable->code == error_code::not_found)
    v.next = "; give a SKILL.md or its directory, or a workspace with --root";
  return {v};
}

std::vector<verdict> judge_all(const skill_store& store, const skill_list& list) {
  std::vector<verdict> verdicts;
  for (const skill& s : list.skills)
    verdicts.push_back(judge(*store.root_shared(), s.path, s.path, s.id));
  for (const unloaded_directory& d : list.not_loaded) {
    const std::string path = join(d.path, skill_file);
    verdicts.push_back(judge(*store.root_shared(), path, path, d.id));
  }
  std::ranges::sort(verdicts, {}, &verdict::path);
  return verdicts;
}

void print_text(const std::vector<verdict>& verdicts, std::size_t errors, std::size_t warnings) {
  for (const verdict& v : verdicts) {
    if (!v.other_name.empty())
      print_words("%s:1:1: error: the file is named %s; rename it to %s [%s]\n",
                  fit(v.path, v.path.size()).c_str(), v.other_name.c_str(), skill_file.data(),
                  wire_name(not_a_skill::wrong_case).data());
    else if (v.unreadable)
      print_words("%s:1:1: error: %s%s [%s]\n", fit(v.path, v.path.size()).c_str(),
                  text(v.unreadable->code).data(), v.next.c_str(),
                  wire_name(v.unreadable->code).data());
    for (std::size_t i = 0; i < v.diagnostics.size(); ++i)
      print_words("%s\n", line_of(v.path, v.diagnostics[i], v.keys[i]).c_str());
  }
  const auto count = [](std::size_t n, std::string_view what) {
    return std::to_string(n) + " " + std::string(what) + (n == 1 ? "" : "s");
  };
  const auto read = static_cast<std::size_t>(
      std::ranges::count_if(verdicts, [](const verdict& v) { return !v.unreadable; }));
  print_words("%s: %s, %s\n", count(read, "skill").c_str(),
              count(errors, "error").c_str(), count(warnings, "warning").c_str());
}

void print_json(const std::vector<verdict>& verdicts, std::size_t errors, std::size_t warnings) {
  mcp::json_writer out;
  out.begin_object().key("files").begin_array();
  for (const verdict& v : verdicts) {
    out.begin_object().member("path", encode_name(v.path));
    if (!v.other_name.empty())
      out.member("unreadable", wire_name(not_a_skill::wrong_case)).member("found", v.other_name);
    else if (v.unreadable)
      out.member("unreadable", wire_name(v.unreadable->code));
    write_diagnostics(out.key("diagnostics"), v.diagnostics);
    out.end_object();
  }
  out.end_array().key("errors").unsigned_integer(errors);
  out.key("warnings").unsigned_integer(warnings).end_object();
  print_line(out);
}

int run_validate(const given& options) {
  std::vector<verdict> verdicts;
  if (!options.path.empty()) {
    verdicts = judge_path(options.path);
  } else {
    const auto store = open_store(options);
    if (!store) return usage;
    const auto list = store->list();
    if (!list) return fail("the skills of " + options.root, list.error());
    verdicts = judge_all(*store, **list);
  }
  std::size_t errors = 0;
  std::size_t warnings = 0;
  for (const verdict& v : verdicts) {
    errors += v.errors();
    warnings += v.diagnostics.size() + (v.unreadable ? 1 : 0) - v.errors();
  }
  if (options.form == output::json)
    print_json(verdicts, errors, warnings);
  else if (verdicts.empty())
    print_words("There are no skills in %s to check; name one, or another --root.\n",
                fit(options.root, options.root.size()).c_str());
  else
    print_text(verdicts, errors, warnings);
  return errors > 0 ? failed : success;
}

} // namespace

subcommand add_skills_validate(CLI::App& skills) {
  const auto options = std::make_shared<given>();
  CLI::App* parser = add_skills_command(
      skills, "validate", "Check skills against the Agent Skills specification", *options);
  parser
      ->add_option("path", options->path,
                   "A skill's directory or SKILL.md (default: all skills of the root)")
      ->type_name("PATH");
  return {parser, [options] { return run_validate(*options); }};
}

} // namespace paddock::cli
