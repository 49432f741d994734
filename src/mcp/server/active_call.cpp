// SPDX-License-Identifier: MIT
#include "mcp/server/active_call.hpp"

#include "mcp/protocol/guarded.hpp"
#include "mcp/protocol/handler_json.hpp"
#include "mcp/protocol/input_round.hpp"

#include <gsl/assert>

#include <algorithm>
#include <chrono>
#include <utility>

namespace paddock::mcp {

active_call::active_call(call_events& events, const server::core& core, call_request request)
    : events_(events), core_(core), request_(std::move(request)) {
  arguments_ = request_.arguments;
}

void active_call::on_cancel(std::function<void()> f) {
  const std::lock_guard lock(guard);
  on_cancel_ = std::move(f);
  if (on_cancel_ && cancelled_.load(std::memory_order_relaxed)) on_cancel_();
}

void active_call::cancel(canceller who) {
  if (who == canceller::client) silenced_.store(true, std::memory_order_release);
  if (!cancelled_.exchange(true) && on_cancel_) guarded(on_cancel_);
}

namespace {

/// What every message that a task sends says of itself.
void add_related_task(json_writer& params, std::string_view task) {
  if (task.empty()) return;
  params.key("_meta").begin_object().key(meta_related_task);
  params.begin_object().member("taskId", task).end_object().end_object();
}

} // namespace

void active_call::progress(double progress, std::string_view message) {
  if (silenced()) return;
  if (on_progress_) on_progress_(message);
  if (!request_.progress_token) return;
  json_writer out;
  out.begin_object().member("jsonrpc", "2.0").member("method", "notifications/progress");
  out.key("params").begin_object();
  out.key("progressToken").raw(request_.progress_token->json());
  out.key("progress").number(progress);
  if (!message.empty()) out.member("message", message);
  add_related_task(out, request_.task_id);
  out.end_object().end_object().end_line();
  if (out.str().size() - 1 > message_bytes_max()) return;
  const std::lock_guard lock(
      progress_guard_); // held while sending, so that two threads cannot swap values
  if (!(progress > last_progress_)) return;
  last_progress_ = progress;
  events_.offer(out.str());
}

std::size_t active_call::message_bytes_max() const noexcept {
  return static_cast<std::size_t>(core_.options.limits.message_out_bytes_max);
}

void active_call::log(log_level level, std::string_view message) {
  if (!request_.log_from || level < *request_.log_from || silenced()) return;
  json_writer out;
  out.begin_object().member("jsonrpc", "2.0").member("method", "notifications/message");
  out.key("params").begin_object().member("level", name_of(level));
  out.member("logger", request_.name()).member("data", message);
  add_related_task(out, request_.task_id);
  out.end_object().end_object().end_line();
  if (out.str().size() - 1 <= message_bytes_max()) events_.offer(out.str());
}

namespace {

/// Members that the modern revision adds to results by itself.
constexpr std::string_view added_members[] = {"resultType", "_meta", "ttlMs", "cacheScope"};

/// Of an error's data: any JSON value.
std::string problem_of_data(std::string_view json) {
  if (json.empty()) return {};
  json_document document;
  const auto parsed = document.parse(json);
  if (json.starts_with('\xEF')) return "the data begins with a byte order mark";
  return parsed ? std::string() : std::string("the data is ") + parsed.error().operation;
}

/// Of a method's result, which is an object.
std::string problem_of_members(std::string_view json) {
  json_document document;
  const auto parsed = document.parse(json);
  for (const std::string_view added : added_members)
    if (parsed && (*parsed)[added].exists())
      return "the result has \"" + std::string(added) + "\", which the server adds itself";
  return {};
}

std::int64_t now_s() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

rpc_failure rpc_refusal(rpc_error code, std::string_view message, std::string data = {}) {
  return {.code = code, .message = std::string(message), .data = std::move(data)};
}

} // namespace

call_answer active_call::run(std::uint64_t token) {
  token_ = token;
  constexpr std::string_view ending = "the connection is ending";
  if (cancelled_.load(std::memory_order_relaxed)) {
    if (request_.method != nullptr) return rpc_refusal(rpc_error::internal_error, ending);
    return tool_result::failure(error_code::cancelled, ending);
  }
  if (request_.revision == revision::r2026_07_28 && !take_answers())
    return rpc_refusal(
        rpc_error::invalid_params,
        "Invalid params: inputResponses must be an object, and requestState what this "
        "server gave for the same call within the last hour; call again without them");
  auto answer =
      guarded([&] { return request_.method != nullptr ? run_method() : run_handler(); }, trouble_);
  if (answer) return *std::move(answer);
  on_cancel({}); // it may refer to what is gone
  return broken("did not finish");
}

/// The handler has an error of its own. What it is stays here: it may tell what clients must not
/// know.
rpc_failure active_call::broken(std::string_view what) const {
  return rpc_refusal(rpc_error::internal_error,
                     "Internal error: " + request_.name() + " " + std::string(what) +
                         "; that is a fault of the server, so do without it, or report it to the "
                         "server's operator");
}

call_answer active_call::run_handler() {
  if (request_.tasks != nullptr)
    if (auto answer = request_.tasks->run(*this)) return *std::move(answer);
  if (const std::string problems = problems_of(*request_.tool, arguments_); !problems.empty())
    return tool_result::failure(error_code::invalid_argument, problems);
  const tool& called = *request_.tool;
  if (const auto all = called.input_schema.empty() ? with_fallbacks(called.parameters, arguments_)
                                                   : std::nullopt) {
    const auto parsed = filled_.emplace().parse(*all);
    Expects(parsed.has_value());
    arguments_ = *parsed;
  }
  return checked(request_.tool->handler(*this));
}

call_answer active_call::run_method() {
  return checked(request_.method->handler(*this));
}

/// What does not fit into a message is not looked at, as it is not sent.
call_answer active_call::checked(tool_result r) {
  if (r.needed) return ask(*std::move(r.needed));
  if (request_.tool->origin == json_origin::writer ||
      r.json.size() + r.content.size() > message_bytes_max())
    return r;
  if (!r.json.empty()) // there may be content only
    if (const std::string problem = problem_of_json(r.json, json_kind::object); !problem.empty())
      trouble_ = "the result " + problem;
  if (trouble_.empty() && !r.content.empty())
    if (const std::string problem = problem_of_json(r.content, json_kind::array); !problem.empty())
      trouble_ = "the content " + problem;
  if (!trouble_.empty()) return broken("gave no proper result");
  put_on_one_line(r.json);
  put_on_one_line(r.content);
  return r;
}

call_answer active_call::checked(method_result r) {
  if (r.error) {
    trouble_ = problem_of_data(r.error->data);
    if (!trouble_.empty()) return broken("gave no proper error");
    put_on_one_line(r.error->data);
    return *std::move(r.error);
  }
  if (r.needed) return ask(*std::move(r.needed));
  if (request_.method->origin == json_origin::writer) {
    if (!has_braces(r.json)) {
      trouble_ = "the result is not an object";
      return broken("gave no proper result");
    }
  } else if (r.json.size() <= message_bytes_max()) {
    if (const std::string problem = problem_of_json(r.json, json_kind::object); !problem.empty())
      trouble_ = "the result " + problem;
    else if (request_.revision == revision::r2026_07_28)
      trouble_ = problem_of_members(r.json);
    if (!trouble_.empty()) return broken("gave no proper result");
    put_on_one_line(r.json);
  }
  return method_output{.json = std::move(r.json), .time_to_live_ms = time_to_live_ms()};
}

/// What an earlier round of a modern call left; false when the client made it up.
bool active_call::take_answers() {
  client_capabilities_ = request_.client_capabilities;
  answers_ = request_.params["inputResponses"];
  if (answers_.exists() && !answers_.is(json_kind::object)) return false;
  const json_view state = request_.params["requestState"];
  if (!state.exists()) return true;
  auto opened = open_state(core_.options.state_key, purpose_of(request_.name(), request_.params),
                           state.string().value_or(""), now_s());
  if (!opened) return false;
  state_ = *std::move(opened);
  return true;
}

call_answer active_call::ask(input_needed needed) {
  constexpr std::string_view nobody_to_ask = "this call has to ask the client's user or model, and "
                                             "only clients of 2026-07-28 can be asked";
  if (request_.revision != revision::r2026_07_28) {
    if (request_.method != nullptr) return rpc_refusal(rpc_error::invalid_request, nobody_to_ask);
    return tool_result::failure(error_code::unsupported, nobody_to_ask);
  }
  if (request_.method != nullptr && !may_need_input(request_.name()))
    trouble_ = "this method may not need input";
  else if (!needed.requests.empty() && !are_requests(needed.requests))
    trouble_ = "the requests are not as input_needed demands";
  if (!trouble_.empty()) return broken("asked for input");
  if (std::string missing = undeclared_capabilities(needed.requests, request_.client_capabilities);
      !missing.empty())
    return rpc_refusal(rpc_error::missing_client_capability,
                       "This needs capabilities that the client did not declare",
                       std::move(missing));
  put_on_one_line(needed.requests);
  input_request asked{.requests = std::move(needed.requests), .state = {}};
  if (!needed.state.empty())
    asked.state = seal_state(core_.options.state_key, purpose_of(request_.name(), request_.params),
                             needed.state, now_s());
  return asked;
}

/// How long the client may keep a method's result. Some results have to say it in any case, and
/// what depends on answers is not kept.
std::optional<std::int64_t> active_call::time_to_live_ms() const {
  const std::optional<std::int64_t> stated = request_.method->time_to_live_ms;
  const bool depends_on_answers =
      request_.params["inputResponses"].exists() || request_.params["requestState"].exists();
  if (stated) return depends_on_answers ? 0 : std::max<std::int64_t>(*stated, 0);
  if (is_cacheable(request_.name())) return 0;
  return std::nullopt;
}

void active_call::tell_observer() const {
  if (!core_.options.observer) return;
  const call_request& q = request_;
  const bool is_sent = report.outcome != call_outcome::cancelled;
  guarded([&] {
    core_.options.observer({.tool = q.name(),
                            .id = q.id.json(),
                            .outcome = report.outcome,
                            .error = report.error,
                            .trouble = trouble_,
                            .duration_us = report.duration_us,
                            .bytes_out = is_sent ? report.bytes_out : 0,
                            .revision = name_of(q.revision),
                            .client_name = q.client_name,
                            .client_version = q.client_version,
                            .traceparent = q.traceparent});
  });
}

} // namespace paddock::mcp
