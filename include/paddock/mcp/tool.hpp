// SPDX-License-Identifier: MIT
#pragma once

/// What a tool is: a name, texts for people and models, a table of parameters, hints, and a
/// handler.
///
/// A handler only sees arguments that fit the table of parameters (parameter.hpp): required ones
/// exist, types and bounds hold, there are no others, and fallbacks stand for what was not given.
/// Handlers should not throw: one that does fails its call with an internal error, as does one
/// whose result is no JSON. What it threw is told to the server's observer, not to the client.
///
/// Thread-safety: a tool is immutable once registered; its handler may be called from several
/// threads at once.

#include <paddock/base/error.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/mcp/parameter.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

/// The four hints of MCP.
struct annotations {
  bool read_only = false;
  bool destructive = true;
  bool idempotent = false;
  bool open_world = false;
};

/// How much tools/list says of a tool.
enum class tool_listing : std::uint8_t {
  full,
  brief, ///< without hints that say what is the case anyway, or a title that only spells the name
};

/// Whether a call may become a task (server.hpp, task_options).
enum class task_support : std::uint8_t {
  none,
  optional, ///< where the client knows tasks
};

/// What a call has to ask the client's user or model before it can go on. A client of 2026-07-28
/// that declared the capabilities repeats the call, with the answers; others get an error instead.
struct input_needed {
  /// A JSON object: a name for each request → {"method", "params"}, where the method is
  /// elicitation/create, sampling/createMessage or roots/list. May be empty when `state` is not.
  std::string requests{};
  /// Comes back as `call::state`, within the hour and for the same call only. The client can read
  /// it, but not change it.
  std::string state{};
};

/// What the handler leaves behind: `json` is one JSON object. On success it becomes both the text
/// block and the structured content; a failure is {"error", "message", …} and is marked as a tool
/// error.
struct tool_result {
  std::string json{};
  std::string error{};   ///< the kind of a failure, which `json` has as "error"; empty: none
  std::string content{}; ///< a JSON array of MCP content blocks to send instead of the text block
                         ///< (content.hpp); usually empty
  std::optional<input_needed> needed{}; ///< instead of everything else

  /// Whether it is marked as a tool error.
  [[nodiscard]] bool failed() const noexcept { return !error.empty(); }
  /// {"error": wire name, "message": message}.
  static tool_result failure(error_code code, std::string_view message);
};

/// In the order of severity.
enum class log_level : std::uint8_t {
  debug,
  info,
  notice,
  warning,
  error,
  critical,
  alert,
  emergency,
};

/// One call in progress, as its handler sees it.
class call {
public:
  virtual ~call() = default;
  /// The object of arguments, which fit the table; valid until the handler returns.
  [[nodiscard]] json_view arguments() const noexcept { return arguments_; }
  /// Set when the client cancelled the call (nothing is sent for it any more), or the connection
  /// ends.
  [[nodiscard]] const std::atomic<bool>& cancelled() const noexcept { return cancelled_; }
  /// Runs `f` when the call is cancelled (at once if it already is); one function at a time, empty
  /// to forget it. When this returns, a function set before has finished or will never run. `f`
  /// runs on another thread, must be quick and must not call on_cancel itself.
  virtual void on_cancel(std::function<void()> f) = 0;
  /// Tells the server that this call may take long, so that another thread reads on. A call that
  /// does not say so is noticed after some milliseconds anyway. Cheap, may be repeated.
  virtual void may_block() = 0;
  /// Tells, too, that from here on the call only waits, for what others do or for its turn: the
  /// server runs another call beside it. To be said by the thread that runs the handler.
  virtual void only_waits() { may_block(); }
  /// Whether the client asked for progress.
  [[nodiscard]] virtual bool wants_progress() const noexcept = 0;
  /// Sends progress, when asked for. `progress` must grow; smaller values are dropped.
  virtual void progress(double progress, std::string_view message) = 0;
  /// Sends a message for the client's log, when the server offers that and the client wants this
  /// level. No secrets: it leaves the machine.
  virtual void log(log_level level, std::string_view message) = 0;
  /// The object of what this client can be asked for (`input_needed`): the members "elicitation",
  /// "sampling" and "roots" exist or not. Missing for clients that cannot be asked at all.
  [[nodiscard]] json_view client_capabilities() const noexcept { return client_capabilities_; }
  /// The client's answer to the request of this name: an object, not to be trusted; or missing.
  [[nodiscard]] json_view answer(std::string_view name) const noexcept {
    const json_view given = answers_[name];
    return given.is(json_kind::object) ? given : json_view();
  }
  /// What an earlier round of this call left in `input_needed::state`; empty in the first round.
  [[nodiscard]] std::string_view state() const noexcept { return state_; }
  /// How long a response line may be, in bytes; a handler that can cut its result may look at this.
  [[nodiscard]] virtual std::size_t message_bytes_max() const noexcept = 0;

protected:
  json_view arguments_;
  json_view client_capabilities_;
  json_view answers_;
  std::string state_;
  std::atomic<bool> cancelled_{false};
};

using handler = std::function<tool_result(call&)>;

/// Who made the JSON of results.
enum class json_origin : std::uint8_t {
  unknown, ///< whoever wrote the handler, in any way: it is checked before it is sent
  writer,  ///< `json_writer` and what it was right to hand to `raw`, on one line: it is sent unseen
};

struct tool;
/// What is wrong with `arguments` (an object, or missing) for `t`: every problem and its remedy in
/// one text; empty when nothing is.
[[nodiscard]] std::string problems_of(const tool& t, json_view arguments);
/// The JSON Schema 2020-12 of the tool's arguments, as sent to clients.
[[nodiscard]] std::string input_schema_of(const tool& t);

struct tool {
  std::string name{};
  std::string title{};
  std::string description{};           ///< written for a model
  std::vector<parameter> parameters{}; ///< texts must outlive the tool
  std::string output_schema{};         ///< a JSON Schema 2020-12 object, as text; empty for none
  /// What to do when the result exceeds a line: "read a part with from and to".
  std::string too_large_hint{};
  /// A JSON Schema to send instead of the one made of `parameters`; arguments are then not checked.
  /// Usually empty.
  std::string input_schema{};
  std::string example{}; ///< arguments of a typical call for people to see, as JSON; may be empty
  paddock::mcp::annotations annotations{};
  tool_listing listing = tool_listing::full;
  task_support tasks = task_support::none;
  json_origin origin = json_origin::unknown; ///< of results; the check costs about as much as
                                             ///< writing the response
  paddock::mcp::handler handler{};
};

} // namespace paddock::mcp
