// SPDX-License-Identifier: MIT
#include "path/git_followed.hpp"

#include "path/git_configuration.hpp"
#include "path/git_names.hpp"

#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <iterator>

namespace paddock {
namespace {

/// Calls for each part that ends with `end`, or with the text.
template <class Function> bool all_parts(std::string_view text, char end, const Function& holds) {
  while (!text.empty()) {
    const std::size_t size = std::min(text.find(end), text.size());
    if (!holds(text.substr(0, size))) return false;
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return true;
}

/// Without the lines that run a program.
std::string steps_without_programs(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    const std::size_t begin = std::min(line.find_first_not_of(" \t\r"), line.size());
    const std::size_t end = std::min(line.find_first_of(" \t\r\n", begin), line.size());
    const std::string_view verb = line.substr(begin, end - begin);
    if (verb != "exec" && verb != "x") kept += line;
    text.remove_prefix(line.size());
  }
  return kept;
}

/// Without those outside of its directory.
std::string tables_of_repository(std::string_view text) {
  std::string kept;
  (void)all_parts(text, '\n', [&](std::string_view line) {
    if (line.find('/') == line.npos) kept.append(line) += '\n';
    return true;
  });
  return kept;
}

/// A shell's prompt has it expanded.
bool is_number(std::string_view text) {
  const std::size_t end = text.find_first_not_of("0123456789");
  return end == text.npos || text.substr(end) == "\n";
}

/// One of git's own: for another it runs `git merge-NAME`, which may write any file.
bool is_strategy(std::string_view text) {
  constexpr std::string_view known[] = {"ort",     "recursive", "resolve",
                                        "octopus", "ours",      "subtree"};
  return std::ranges::find(known, text.substr(0, text.find_last_not_of('\n') + 1)) !=
         std::end(known);
}

/// Options of `git cherry-pick`, as a configuration.
bool has_strategies(std::string_view text) {
  git_settings settings(text);
  bool all = true;
  while (const auto each = settings.next())
    all = all && (each->key != "strategy" || is_strategy(each->value.value_or("")));
  return all && !settings.broken();
}

/// Options of `git am` for `git apply`, quoted for a shell: others write a file, or lead elsewhere.
bool has_usual_options(std::string_view text) {
  constexpr std::string_view usual[] = {
      "'--whitespace=",        "'-C",        "'-p",         "'--ignore-space-change'",
      "'--ignore-whitespace'", "'--reject'", "'--exclude=", "'--include=",
      "'--directory="};
  return all_parts(text, '\n', [&](std::string_view line) {
    return all_parts(line, ' ', [&](std::string_view each) {
      return each.empty() || std::ranges::any_of(usual, [&](std::string_view known) {
               return each.starts_with(known) && each.find('\'', 1) == each.size() - 1 &&
                      each.find("..") == each.npos && each.find("=/") == each.npos;
             });
    });
  });
}

/// Records of a conflict and, behind a tab, the file that it is in.
bool has_files_of_worktree(const followed_file& conflicts) {
  return all_parts(conflicts.bytes, '\0', [&](std::string_view each) {
    const std::size_t tab = each.find('\t');
    return each.empty() || (tab != each.npos && is_path_inside(each.substr(tab + 1)) &&
                            conflicts.leads_inside(each.substr(tab + 1)));
  });
}

/// As `git check-ref-format` says. Git itself follows others, out of the repository too.
bool is_reference_name(std::string_view name) {
  constexpr std::string_view begin = "refs/", refused = " ~^:?*[\\\x7f";
  return name.starts_with(begin) && !name.ends_with('/') && !name.ends_with('.') &&
         name.find("@{") == name.npos && name.find("..") == name.npos &&
         name.find_first_of(refused) == name.npos &&
         std::ranges::all_of(name, [](char c) { return static_cast<unsigned char>(c) >= ' '; }) &&
         all_parts(name, '/', [](std::string_view part) {
           return !part.empty() && !part.starts_with('.') && !part.ends_with(".lock");
         });
}

/// The name of a commit, or of another reference; or what git writes where tables have them.
bool leads_to_reference(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\v\f\r";
  if (!text.starts_with(git_reference_begin)) return true;
  text.remove_prefix(
      std::min(text.find_first_not_of(blanks, git_reference_begin.size()), text.size()));
  const std::string_view name = text.substr(0, text.find_last_not_of(blanks) + 1);
  return is_reference_name(name) || name == "refs/heads/.invalid";
}

} // namespace

bool is_git_reference(std::string_view name) {
  const auto is_large = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_' || c == '-'; };
  return first_component(name) == git_references ||
         (name.ends_with(git_marks[0]) && std::ranges::all_of(name, is_large)) ||
         std::ranges::find(git_other_heads, name) != std::end(git_other_heads);
}

bool is_git_followed(std::string_view name) {
  return is_git_reference(name) ||
         (file_name(name) == git_worktree_file && parent(parent(name)) == git_worktrees) ||
         std::ranges::find(git_followed, name) != std::end(git_followed) ||
         std::ranges::any_of(git_followed_in, [&](const auto& each) {
           return parent(name) == each.directory && file_name(name).starts_with(each.prefix);
         });
}

std::optional<std::string> harmless_rest(const followed_file& of) {
  bool is_harmless = true;
  if (of.name.ends_with("todo")) {
    std::string kept = steps_without_programs(of.bytes);
    return kept.size() == of.bytes.size() ? std::nullopt : std::optional(std::move(kept));
  }
  if (of.name == git_reference_tables) {
    if (of.bytes.find('/') == of.bytes.npos) return std::nullopt;
    return tables_of_repository(of.bytes);
  }
  const auto index_leads = [&](std::size_t bytes) { return paths_of_index(of.bytes, bytes); };
  const bool is_part = of.name.starts_with(git_index_part);
  if ((is_part || of.name == "index") && of.object_bytes == 0)
    is_harmless = index_leads(git_sha1_bytes) == index_paths::inside ||
                  index_leads(git_sha256_bytes) == index_paths::inside;
  else if (is_part)
    is_harmless = index_leads(of.object_bytes) == index_paths::inside;
  else if (of.name == "index")
    is_harmless = index_leads(of.object_bytes) != index_paths::elsewhere;
  else if (is_git_reference(of.name))
    is_harmless = leads_to_reference(of.bytes);
  else if (of.name == "MERGE_RR")
    is_harmless = has_files_of_worktree(of);
  else if (of.name.ends_with("alternates"))
    is_harmless = all_parts(of.bytes, '\n', [&](std::string_view each) {
      return each.empty() || each.starts_with('#') || of.leads_inside(each);
    });
  else if (file_name(of.name) == git_worktree_file)
    is_harmless = of.leads_inside(of.bytes.substr(0, of.bytes.find_last_not_of("\r\n") + 1));
  else if (of.name.ends_with("apply-opt"))
    is_harmless = has_usual_options(of.bytes);
  else if (of.name.ends_with("strategy"))
    is_harmless = is_strategy(of.bytes);
  else if (of.name.ends_with("opts"))
    is_harmless = has_strategies(of.bytes);
  else if (of.name.starts_with("rebase-"))
    is_harmless = is_number(of.bytes);
  else
    is_harmless = false; // no git of today writes it, or nobody needs it
  return is_harmless ? std::nullopt : std::optional<std::string>("");
}

} // namespace paddock
