// SPDX-License-Identifier: MIT
#pragma once

// What calls do to the workspace, in its history: the one place where it is put down, for all tools
// that change something and for commands.

#include "mcp/tools/tools.hpp"

#include <paddock/history/history.hpp>

#include <string>
#include <string_view>

namespace paddock::mcp {

/// One call, from before it changes anything until `finish`. Does nothing where there is no
/// history, or the call changes nothing.
class recorded_call {
public:
  recorded_call(workspace_state& state, call& c, const tool_row& row);
  /// Puts down what became of the workspace. Where it can no longer be undone, the result says why.
  /// Where the call was about another content than is there, it shows what changed since, if the
  /// history knows that one.
  void finish(tool_result& result);

private:
  void show_difference(tool_result& result) const;

  workspace_state& state_;
  const call& call_;
  history::recording recording_;
};

/// Before a command runs: what becomes of the workspace until `finish` is put down to it. `run` gets
/// the lock that lasts as long. Does nothing where there is no history.
[[nodiscard]] history::recording record_command(workspace_state& state, call& c,
                                                std::string_view tool, const work_bounds& bounds,
                                                command& run);

/// Says in a result what can no longer be undone, if that is anything.
void say_lost(tool_result& in, std::string_view lost);

/// A path as the history has it: resolved, relative to the root. It need not exist, nor what is
/// above it. Nothing where it cannot be one of the workspace.
[[nodiscard]] std::optional<std::string> path_in_history(const root& workspace,
                                                         std::string_view path, final_link last);

/// Whether what is changed can be taken back, for healthCheck.
[[nodiscard]] std::string undo_words(const workspace_state& state);

/// What a call runs, as one line for people: a script or a program, and arguments, cut where it is
/// long.
[[nodiscard]] std::string command_line_of(const call& c);

} // namespace paddock::mcp
