// SPDX-License-Identifier: MIT
#pragma once

// What a call comes to, and the response that says so. Pure.

#include "mcp/protocol/revision.hpp"

#include <paddock/mcp/extension.hpp>
#include <paddock/mcp/json_rpc.hpp>
#include <paddock/mcp/server.hpp>
#include <paddock/mcp/tool.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace paddock::mcp {

/// What a call asks for, as its message says it.
struct client_info {
  std::string name;
  std::string version;
};

class call_host;

/// One tools/call, or one call of an extension's method. Views refer to the parsed message.
struct call_request {
  request_id id;
  const paddock::mcp::tool* tool = nullptr; ///< this,
  const extension_method* method = nullptr; ///< or this
  json_view arguments;
  json_view params; ///< all of the request
  paddock::mcp::revision revision = newest_legacy;
  std::optional<request_id> progress_token;
  std::optional<log_level> log_from; ///< nothing: the client hears no log
  json_view client_capabilities;     ///< of a modern client
  std::string_view traceparent;
  std::string_view client_name;
  std::string_view client_version;
  call_host* tasks = nullptr;                ///< the call may become one of these
  std::optional<std::int64_t> task_kept_ms;  ///< what the client wants
  std::string task_id;                       ///< of the task that the call is
  std::shared_ptr<const client_info> client; ///< keeps the two views above alive in the legacy era

  /// Takes from the params, and their _meta, what calls of all kinds have there. After `revision`
  /// and `method` are known.
  void read(json_view from);
  [[nodiscard]] const std::string& name() const noexcept {
    return method != nullptr ? method->name : tool->name;
  }
};

/// The result of an extension's method.
struct method_output {
  std::string json;                            ///< an object, on one line
  std::optional<std::int64_t> time_to_live_ms; ///< nothing: the result does not say
};

/// What the client is to find out before it calls again.
struct input_request {
  std::string requests; ///< an object, on one line; or empty
  std::string state;    ///< sealed; or empty
};

/// The call goes on as a task.
struct task_begun {
  std::string id;
  std::string json; ///< what is to be said of it: an object, on one line
};

/// One of these is a call's response. What handlers have written in them is on one line.
using call_answer =
    std::variant<tool_result, method_output, input_request, rpc_failure, task_begun>;

/// Makes `out` the response to `q`, or a failure when that would exceed `room` bytes. Says which.
call_outcome write_response(json_writer& out, const call_request& q, const call_answer& answer,
                            std::string_view modern_meta, std::size_t room);

/// The answer to a call of a tool, for later: the result of its response, or the error.
struct kept_answer {
  call_outcome outcome = call_outcome::succeeded;
  std::string json; ///< of the result, an object; empty: `error`
  rpc_failure error;
};
/// `room` is what write_response would have.
[[nodiscard]] kept_answer keep_answer(const call_request& q, const call_answer& answer,
                                      std::string_view modern_meta, std::size_t room);

/// The error that transports say in a way of their own too: the client cannot do what it takes.
[[nodiscard]] std::optional<rpc_error> refusal_in(const call_answer& answer) noexcept;
/// How an audit calls the failure of a tool; empty for other answers.
[[nodiscard]] std::string_view kind_of_failure(const call_answer& answer, call_outcome outcome);

} // namespace paddock::mcp
