// SPDX-License-Identifier: MIT

// What the fence had to do about protected names while a command ran, in words.

#include <paddock/exec/command.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/path/protected_names.hpp>

#include <string>
#include <system_error>
#include <vector>

namespace paddock {
namespace {

/// What a repository's rule stands for beside hooks: files and links of git's own.
bool is_followed(const appeared_entry& entry) {
  return entry.rule.name == ".git/hooks" && file_name(entry.path) != "hooks";
}

} // namespace

std::string describe(const appeared_entry& entry) {
  const bool has_steps = file_name(entry.path) == "git-rebase-todo";
  std::string text = entry.path;
  text += is_followed(entry) ? " leads a person's git to a program or to a file that commands "
                               "cannot reach, by a file or link just put there: "
                             : " is protected and was made or changed by the command: ";
  if (entry.moved_to.empty())
    text += "it could not be moved aside (" + std::generic_category().message(entry.os_errno) +
            "), look at it before it is used";
  else
    text += "it was moved to " + entry.moved_to;
  if (has_steps && !entry.moved_to.empty())
    text += "; the steps that run no program are still there";
  if (entry.rule.mode == protection::hidden && !entry.moved_to.empty())
    text += ", which is hidden like it";
  if (entry.rule.name == git_own_name) // of a command: that git itself could do it helps nobody
    return text + "; git keeps its own there, and by that name would take the directory for a "
                  "repository; use another name";
  if (is_followed(entry))
    return text + (file_name(entry.path) == "index" ? "; `git reset` rebuilds it" : "");
  const std::string allow = how_to_allow(entry.rule);
  return allow.empty() ? text : text + "; " + allow;
}

std::vector<std::string> notices_of(const command_outcome& outcome) {
  std::vector<std::string> notices;
  for (const appeared_entry& each : outcome.moved_aside)
    notices.push_back(encode_name(describe(each)));
  if (outcome.repositories_unseen)
    notices.push_back("there are more directories than are looked at for repositories of commands: "
                      "before a person uses git here, remove those that are not needed, and run "
                      "any command");
  if (outcome.repositories_contested)
    notices.push_back("another server has been looking at the repositories of this workspace for "
                      "more than 10 seconds, and is perhaps stopped: before a person uses git "
                      "here, continue or end it, and run any command");
  for (const std::string& path : outcome.uncovered)
    notices.push_back(encode_name(path) +
                      " is protected and was replaced by somebody while the command ran, so the "
                      "command may have seen or changed the new one: look at it before it is used");
  for (const std::string& path : outcome.led_elsewhere)
    notices.push_back(encode_name(path) +
                      " is protected, and leads to something else than before the command: look at "
                      "it before it is used");
  if (!outcome.strayed.empty())
    notices.push_back("what the command made in " + encode_name(outcome.strayed) +
                      ", outside the workspace, only commands see, and it does not last: write to "
                      "the workspace what is to stay");
  for (std::string& each : notices_of(outcome.network))
    notices.push_back(std::move(each));
  for (const std::string& each : outcome.unsaved_settings)
    notices.push_back(encode_name(each));
  for (const std::string& path : outcome.emptied)
    notices.push_back(encode_name(path) +
                      " was not removed whole: its .git still holds what is protected, which no "
                      "command can remove; delete it with the tool deleteDirectory and recursive "
                      "true, or with a program that is not confined");
  return notices;
}

} // namespace paddock
