// SPDX-License-Identifier: MIT
#pragma once

/// The MCP server: a fixed set of tools and extensions, spoken to in every revision from 2024-11-05
/// to 2026-07-28.
///
/// The revision is decided per message, so one connection may mix them. The server itself does no
/// input or output: give it to `serve` (stdio_transport.hpp) or an `http_server`, or feed it lines
/// with `handle_line`. Resources, prompts and completion are left to extensions. Tools may ask the
/// client's user or model (input_needed), which only clients of 2026-07-28 can be; to older ones no
/// request is sent.
///
/// Thread-safety: `handle_line` from one thread at a time; everything else is immutable. Any number
/// of transports may serve one server at the same time; each connection has its own state.

#include <paddock/base/detailed_error.hpp>
#include <paddock/base/limits.hpp>
#include <paddock/base/result.hpp>
#include <paddock/mcp/extension.hpp>
#include <paddock/mcp/revision.hpp>
#include <paddock/mcp/tool.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

enum class call_outcome : std::uint8_t {
  succeeded,
  failed,    ///< the tool reported an error, or its arguments did not fit
  too_large, ///< the tool succeeded, but its result exceeds a line; an error was sent instead
  cancelled, ///< by the client; nothing was sent
};

/// One finished call of a tool or of an extension's method, for an audit log. The views are valid
/// during the observer's call only.
struct call_record {
  std::string_view tool; ///< or method
  std::string_view id;   ///< as JSON text
  call_outcome outcome = call_outcome::succeeded;
  std::string_view error; ///< the `error` member of a failure, else empty
  /// What is wrong with a handler that threw, or gave no JSON; else empty. For logs: clients do not
  /// get to see it.
  std::string_view trouble;
  std::uint64_t duration_us = 0;
  std::uint64_t bytes_out = 0; ///< length of the response line
  std::string_view revision;   ///< the protocol revision this call was answered in
  std::string_view client_name;
  std::string_view client_version;
  std::string_view
      traceparent; ///< W3C trace context from the request's _meta, unchecked; may be empty
};

enum class client_logging : std::uint8_t {
  off,
  offered, ///< `call::log` reaches clients that want it
};

/// Tasks: calls that go on after their request was answered, of tools that allow it (tool::tasks).
///
/// A client of 2025-11-25 asks for one (`task` in tools/call) and gets it at once; it asks further
/// with tasks/get, tasks/result, tasks/list and tasks/cancel. A client of 2026-07-28 that declared
/// the extension io.modelcontextprotocol/tasks is given one by the server when the call takes long,
/// and has tasks/get, tasks/update and tasks/cancel. Others see nothing of all this.
///
/// A task belongs to the connection or HTTP session that began it, and ends with it. Over HTTP,
/// those of 2026-07-28, which has no sessions, belong to whoever knows their unguessable id, and
/// end with the server.
struct task_options {
  unsigned running_max = 16; ///< of one connection, or of all clients of an HTTP server
  /// Of one connection or session, those that are over included: the oldest of them make room.
  unsigned kept_max = 64;
  std::int64_t kept_ms = 600'000;        ///< after the end, when the client does not say
  std::int64_t kept_ms_max = 3'600'000;  ///< whatever the client says
  std::int64_t poll_interval_ms = 1'000; ///< what clients are told to wait between two questions
  /// A call that is over by then is answered with its result, not with a task (2026-07-28).
  std::int64_t prompt_ms = 1'000;
};

struct server_options {
  std::string name = "paddock";
  std::string version = "0";
  std::string title{};        ///< for people; may be empty
  std::string instructions{}; ///< for models; may be empty
  /// Called whenever a client asks for the instructions; what it returns is added to them. Must be
  /// quick and may be called from several threads at once.
  std::function<std::string()> current_instructions{};
  client_logging logging = client_logging::off;
  /// Signs input_needed::state. Servers that take turns behind one address need the same secret
  /// bytes here; when empty, random ones are made for each server.
  std::string state_key{};
  paddock::limits limits{}; ///< message_in_bytes_max and message_out_bytes_max are used
  task_options tasks{};
  /// What is said behind "Unknown tool: NAME"; may be empty. Must be quick and may be called from
  /// several threads at once.
  std::function<std::string(std::string_view name)> unknown_tool_hint{};
  /// Called after each call, on the thread that ran it; may be called from several threads at
  /// once. What it throws is lost.
  std::function<void(const call_record&)> observer{};
};

/// The tools and what is said of them; any number of connections may be served by one.
class server {
public:
  /// Errors: invalid_argument, when the parts do not fit together: a tool or a method without
  /// handler, two of one name, a method that is the server's own, a schema or settings that are no
  /// JSON object, two extensions of one name that contradict each other. The detail says which.
  [[nodiscard]] static result<server, detailed_error>
  make(server_options options, std::vector<tool> tools, std::vector<extension> extensions = {});
  /// The same for parts that are known to fit. Precondition: `make` has nothing against them.
  server(server_options options, std::vector<tool> tools, std::vector<extension> extensions = {});
  server(server&&) noexcept;
  server& operator=(server&&) noexcept;
  ~server();

  /// As given when it was made.
  [[nodiscard]] const server_options& options() const noexcept;
  /// In the order of registration, which is also the order clients see.
  [[nodiscard]] const std::vector<tool>& tools() const noexcept;
  /// The JSON array of tool definitions that clients of the newest revision receive.
  [[nodiscard]] std::string_view tools_json() const noexcept;

  /// Handles one line as on a connection of its own that lives as long as the server, runs tools on
  /// this thread, and returns the lines to send (without newlines), in order.
  [[nodiscard]] std::vector<std::string> handle_line(std::string_view line);

  struct core; // shared with the transports, which may outlive this object
  /// For transports: keeps the tools alive as long as a call runs.
  [[nodiscard]] const std::shared_ptr<const core>& shared_core() const noexcept { return core_; }

private:
  struct in_process;
  std::shared_ptr<const core> core_;
  std::unique_ptr<in_process> in_process_;
};

} // namespace paddock::mcp
