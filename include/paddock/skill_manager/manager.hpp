// SPDX-License-Identifier: MIT
#pragma once

/// What gives an agent its tools: skill managers, all with one interface, and the set of them that
/// one expert uses.
///
/// A manager is connected by `init`, tells its tools, runs calls, and is closed. Tools of a
/// connected program answer at once. Tools that need a person (interactive) or another expert
/// (delegate) do not: their call returns what the application has to do, and the application goes
/// on when it has the answer. The library never asks a person and never starts an expert by itself.
///
/// Thread-safety: a manager's and a set's members may be called from any number of threads at once.
/// Event callbacks may come from several threads; all skills that one make_managers made tell
/// theirs one at a time. An observer may ask every manager and set for its state and its tools. It
/// must not wait for a server, which may be waiting for it: from inside an observer the tools of an
/// MCP skill are those last known, its `init` and `call_tool` fail with `conflict`, a set starts no
/// lazy skill, and nothing may be closed or destroyed.

#include <paddock/base/detailed_error.hpp>
#include <paddock/base/result.hpp>
#include <paddock/mcp/client.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace paddock::skill_manager {

enum class skill_type : std::uint8_t { base, mcp, interactive, delegate };
/// In the order in which they are started.
inline constexpr skill_type skill_types[] = {skill_type::base, skill_type::mcp,
                                             skill_type::interactive, skill_type::delegate};
enum class state : std::uint8_t {
  idle,
  starting,
  ready,
  failed,
  closed,
  unresponsive, ///< a call was not answered in time; checked, and started anew, by the next use
  reconnecting, ///< the server was lost, and will be started or reached again
};

struct tool_definition {
  std::string skill;
  std::string name;
  std::string description;
  std::string input_schema; ///< JSON text
  skill_type type = skill_type::mcp;
};

/// The tool ran.
struct tool_reply {
  std::string content; ///< a JSON array of MCP content blocks, never empty
  std::string result;  ///< the whole result as JSON text
  bool failed = false; ///< the tool reported an error

  /// The texts of its content, one below the other.
  [[nodiscard]] std::string text() const;
  /// Its structured content, as JSON; empty: it has none.
  [[nodiscard]] std::string structured() const;
};
/// A person has to answer; the run is suspended until the application has the text.
struct interactive_call {
  std::string skill;
  std::string tool;
  std::string description;
  std::string input_schema; ///< JSON text
  std::string arguments;    ///< JSON text
};
/// Another expert has to run with this query.
struct delegate_call {
  std::string expert;
  std::string tool;
  std::string query;
};
using call_outcome = std::variant<tool_reply, interactive_call, delegate_call>;

namespace event {
struct starting {
  std::string_view skill;
  std::string_view target; ///< the command line or the URL
};
struct connected {
  std::string_view skill;
  const mcp::server_identity& server;
  mcp::connect_times times;
  std::size_t tools = 0;
};
struct log_line {
  std::string_view skill;
  std::string_view text;
};
struct disconnected {
  std::string_view skill;
  std::string_view why; ///< empty: it was closed
};
/// The server was lost and is tried again after a pause.
struct reconnecting {
  std::string_view skill;
  std::string_view why;
  unsigned attempt = 1; ///< since it was lost
  std::int64_t pause_ms = 0;
};
/// Something in the configuration has no effect; told once.
struct warning {
  std::string_view skill;
  std::string_view text;
};
struct interactive {
  const interactive_call& call;
};
struct delegated {
  const delegate_call& call;
};
} // namespace event
using any_event =
    std::variant<event::starting, event::connected, event::log_line, event::disconnected,
                 event::reconnecting, event::warning, event::interactive, event::delegated>;
using observer = std::function<void(const any_event&)>;

/// What went wrong, and in which skill.
struct skill_error : detailed_error {
  std::string skill; ///< may be empty: of none in particular, or not known

  skill_error(detailed_error reason) noexcept : detailed_error(std::move(reason)) {}
  skill_error(const error& reason) noexcept : detailed_error(reason) {}
  skill_error(std::string_view of, const error& reason, std::string text)
      : detailed_error(reason, std::move(text)), skill(of) {}
};

/// One skill: it is started, offers tools, runs calls and is closed.
class manager {
public:
  manager() = default;
  manager(const manager&) = delete;
  manager& operator=(const manager&) = delete;
  virtual ~manager() = default; ///< closes

  /// As the configuration names the skill; unique in its expert.
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
  /// Which of the four kinds it is.
  [[nodiscard]] virtual skill_type type() const noexcept = 0;
  /// Where it is between init and close.
  [[nodiscard]] virtual skill_manager::state state() const noexcept = 0;
  /// Errors: conflict (it was called before), and those of connecting.
  [[nodiscard]] virtual result<void, skill_error> init() = 0;
  /// Ends what the skill has started and waits for it; calls in flight fail with `cancelled`. May
  /// be repeated.
  virtual void close() noexcept = 0;
  /// The tools that `pick` and `omit` leave. A lazy skill is started by this. Errors: those of
  /// init.
  [[nodiscard]] virtual result<std::vector<tool_definition>, skill_error> tool_definitions() = 0;
  /// `arguments` is JSON text, an object. Errors: not_found (no such tool, or not one that `pick`
  /// and `omit` leave), invalid_argument, and those of client::call_tool.
  [[nodiscard]] virtual result<call_outcome, skill_error>
  call_tool(std::string_view tool, std::string_view arguments,
            const mcp::call_options& options = {}) = 0;
};

} // namespace paddock::skill_manager
