// SPDX-License-Identifier: MIT
#include "mcp/server/active_call.hpp"

#include "mcp/protocol/guarded.hpp"
#include "mcp/protocol/handler_json.hpp"
#include "mcp/protocol/input_round.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace paddock::mcp {
active_call::active_call(channel& c, const server::core& core, call_request request)
    : channel_(c), core_(core), request_(std::move(request)) {
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

void active_call::progress(double progress, std::string_view message) {
  if (!wants_progress() || silenced()) return;
  json_writer out;
  out.begin_object().member("jsonrpc", "2.0").member("method", "notifications/progress");
  out.key("params").begin_object();
  out.key("progressToken").raw(request_.progress_token->json());
  out.key("progress").number(progress);
  if (!message.empty()) out.member("message", message);
  out.end_object().end_object().end_line();
  if (out.str().size() - 1 > message_bytes_max()) return;
  const std::lock_guard lock(
      progress_guard_); // held while sending, so that two threads cannot swap values
  if (!(progress > last_progress_)) return;
  last_progress_ = progress;
  channel_.offer(out.str());
}

std::size_t active_call::message_bytes_max() const noexcept {
  return static_cast<std::size_t>(core_.options.limits.message_out_bytes_max);
}

void active_call::log(log_level level, std::string_view message) {
  if (!request_.log_from || level < *request_.log_from || silenced()) return;
  json_writer out;
  out.begin_object().member("jsonrpc", "2.0").member("method", "notifications/message");
  out.key("params").begin_object().member("level", name_of(level));
  out.member("logger", name()).member("data", message);
  out.end_object().end_object().end_line();
  if (out.str().size() - 1 <= message_bytes_max()) channel_.offer(out.str());
}

namespace {

/// Members that the modern revision adds to results by itself.
constexpr std::string_view added_members[] = {"resultType", "_meta", "ttlMs", "cacheScope"};

tool_result error_object(rpc_error code, std::string_view message, std::string_view data = {}) {
  json_writer out;
  out.begin_object().key("code").integer(static_cast<int>(code)).member("message", message);
  if (!data.empty()) out.key("data").raw(data);
  out.end_object();
  return {.json = out.take(), .failed = true};
}

/// Of an error's data: any JSON value.
std::string problem_of_data(std::string_view json) {
  json_document document;
  const auto parsed = document.parse(json);
  if (json.starts_with('\xEF')) return "the data begins with a byte order mark";
  return parsed ? std::string() : std::string("the data is ") + parsed.error().operation;
}

std::int64_t now_s() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

} // namespace

tool_result active_call::refuse(rpc_error code, std::string_view message, std::string_view data) {
  shape_ = shape::error;
  if (code == rpc_error::missing_client_capability) refusal_ = code;
  return error_object(code, message, data);
}

tool_result active_call::run(std::uint64_t token) {
  token_ = token;
  constexpr std::string_view ending = "the connection is ending";
  if (cancelled_.load(std::memory_order_relaxed))
    return request_.method != nullptr ? refuse(rpc_error::internal_error, ending)
                                      : tool_result::failure(error_code::cancelled, ending);
  if (request_.revision == revision::r2026_07_28 && !take_answers())
    return refuse(rpc_error::invalid_params,
                  "Invalid params: inputResponses must be an object, and requestState what this "
                  "server gave for the same call within the last hour; call again without them");
  auto r =
      guarded([&] { return request_.method != nullptr ? run_method() : run_handler(); }, trouble_);
  if (!r) {
    on_cancel({}); // it may refer to what is gone
    return broken("did not finish");
  }
  if (shape_ == shape::error) return *std::move(r);
  if (r->needed) return ask(*r->needed);
  trouble_ = problem_of_result(*r);
  return trouble_.empty() ? *std::move(r) : broken("gave no proper result");
}

/// The handler has an error of its own. What it is stays here: it may tell what clients must not
/// know.
tool_result active_call::broken(std::string_view what) {
  return refuse(rpc_error::internal_error,
                "Internal error: " + name() + " " + std::string(what) +
                    "; that is a fault of the server, so do without it, or report it to the "
                    "server's operator");
}

/// Why the result can't go to a client; empty if it can. What does not fit into a message is not
/// looked at, as it is not sent.
std::string active_call::problem_of_result(const tool_result& r) const {
  const bool is_method = request_.method != nullptr;
  if (r.json.size() + r.content.size() > message_bytes_max()) return {};
  if ((is_method ? request_.method->origin : request_.tool->origin) == json_origin::writer)
    return {};
  if (!r.json.empty() || is_method) // a tool may have content only
    if (const std::string problem = problem_of_json(r.json, json_kind::object); !problem.empty())
      return "the result " + problem;
  if (!r.content.empty())
    if (const std::string problem = problem_of_json(r.content, json_kind::array); !problem.empty())
      return "the content " + problem;
  if (!is_method || request_.revision != revision::r2026_07_28) return {};
  json_document document;
  const auto parsed = document.parse(r.json);
  for (const std::string_view added : added_members)
    if (parsed && (*parsed)[added].exists())
      return "the result has \"" + std::string(added) + "\", which the server adds itself";
  return {};
}

tool_result active_call::run_handler() {
  if (const std::string problems = problems_of(*request_.tool, arguments_); !problems.empty())
    return tool_result::failure(error_code::invalid_argument, problems);
  return request_.tool->handler(*this);
}

tool_result active_call::run_method() {
  method_result r = request_.method->handler(*this);
  if (r.error && !r.data.empty()) {
    std::string copy;
    trouble_ = problem_of_data(r.data);
    return trouble_.empty() ? refuse(*r.error, r.message, one_line(r.data, copy))
                            : broken("gave no proper error");
  }
  if (r.error) return refuse(*r.error, r.message);
  return {.json = std::move(r.json), .needed = std::move(r.needed)};
}

/// What an earlier round of a modern call left; false when the client made it up.
bool active_call::take_answers() {
  client_capabilities_ = request_.client_capabilities;
  answers_ = request_.params["inputResponses"];
  if (answers_.exists() && !answers_.is(json_kind::object)) return false;
  const json_view state = request_.params["requestState"];
  if (!state.exists()) return true;
  auto opened = open_state(core_.options.state_key, purpose_of(name(), request_.params),
                           state.string().value_or(""), now_s());
  if (!opened) return false;
  state_ = *std::move(opened);
  return true;
}

tool_result active_call::ask(const input_needed& needed) {
  constexpr std::string_view nobody_to_ask = "this call has to ask the client's user or model, and "
                                             "only clients of 2026-07-28 can be asked";
  if (request_.revision != revision::r2026_07_28)
    return request_.method != nullptr
               ? refuse(rpc_error::invalid_request, nobody_to_ask)
               : tool_result::failure(error_code::unsupported, nobody_to_ask);
  if (request_.method != nullptr && !may_need_input(name())) {
    trouble_ = "this method may not need input";
    return broken("asked for input");
  }
  if (!needed.requests.empty() && !are_requests(needed.requests)) {
    trouble_ = "the requests are not as input_needed demands";
    return broken("asked for input");
  }
  if (const std::string missing =
          undeclared_capabilities(needed.requests, request_.client_capabilities);
      !missing.empty())
    return refuse(rpc_error::missing_client_capability,
                  "This needs capabilities that the client did not declare", missing);
  json_writer out;
  out.begin_object();
  std::string copy;
  if (!needed.requests.empty()) out.key("inputRequests").raw(one_line(needed.requests, copy));
  if (!needed.state.empty())
    out.member("requestState",
               seal_state(core_.options.state_key, purpose_of(name(), request_.params),
                          needed.state, now_s()));
  out.end_object();
  shape_ = shape::input_required;
  return {.json = out.take()};
}

namespace {

void write_tool_result(json_writer& out, const call_request& request, const tool_result& r,
                       std::string_view modern_meta) {
  std::string copy_of_json;
  std::string copy_of_content;
  const std::string_view json = one_line(r.json, copy_of_json);
  const bool modern = request.revision == revision::r2026_07_28;
  out.reserve(json.size() * 9 / 4 + 512); // the text twice, once with its quotes escaped
  out.begin_object().member("jsonrpc", "2.0").key("id").raw(request.id.json());
  out.key("result").begin_object();
  if (modern) out.member("resultType", "complete");
  out.key("content");
  if (r.content.empty())
    out.begin_array()
        .begin_object()
        .member("type", "text")
        .member("text", json)
        .end_object()
        .end_array();
  else
    out.raw(one_line(r.content, copy_of_content));
  if (!r.failed && !json.empty() && request.revision >= revision::r2025_06_18)
    out.key("structuredContent").raw(json);
  out.key("isError").boolean(r.failed);
  if (modern) out.key("_meta").raw(modern_meta);
  out.end_object().end_object();
}

/// `json`, an object, with the members that the modern revision adds to a result.
std::string with_modern_members(std::string_view json, std::string_view type,
                                std::optional<std::int64_t> time_to_live_ms,
                                std::string_view meta) {
  json_writer out;
  out.begin_object().member("resultType", type);
  if (time_to_live_ms) out.key("ttlMs").integer(*time_to_live_ms).member("cacheScope", "private");
  out.key("_meta").raw(meta).end_object();
  std::string object(json.substr(0, json.rfind('}')));
  const bool empty = object.find('"') == std::string::npos;
  return object.append(empty ? "" : ",").append(out.str(), 1);
}

} // namespace

/// How long the client may keep a method's result. Some results have to say it in any case, and
/// what depends on answers is not kept.
std::optional<std::int64_t> active_call::time_to_live_ms() const {
  const std::optional<std::int64_t> stated = request_.method->time_to_live_ms;
  const bool depends_on_answers =
      request_.params["inputResponses"].exists() || request_.params["requestState"].exists();
  if (stated) return depends_on_answers ? 0 : std::max<std::int64_t>(*stated, 0);
  if (is_cacheable(name())) return 0;
  return std::nullopt;
}

void active_call::write(json_writer& out, const tool_result& r, shape s) const {
  if (s == shape::result && request_.method == nullptr)
    return write_tool_result(out, request_, r, core_.modern_meta);
  std::string copy;
  const std::string_view json = one_line(r.json, copy);
  out.begin_object().member("jsonrpc", "2.0").key("id").raw(request_.id.json());
  out.key(s == shape::error ? "error" : "result");
  if (s == shape::input_required)
    out.raw(with_modern_members(json, "input_required", {}, core_.modern_meta));
  else if (s == shape::result && request_.revision == revision::r2026_07_28)
    out.raw(with_modern_members(json, "complete", time_to_live_ms(), core_.modern_meta));
  else
    out.raw(json);
  out.end_object();
}

tool_result active_call::too_large(std::size_t needed, std::size_t room) const {
  std::string message = "the result of " + std::to_string(needed) + " bytes exceeds the " +
                        std::to_string(room) + " bytes that fit";
  if (request_.method != nullptr) return error_object(rpc_error::internal_error, message);
  const std::string& hint = request_.tool->too_large_hint;
  message.append("; ").append(hint.empty() ? advice(error_code::too_large) : hint);
  return tool_result::failure(error_code::too_large, message);
}

call_outcome active_call::write_response(json_writer& out, const tool_result& r,
                                         std::size_t room) const {
  out.clear();
  std::size_t needed = r.json.size();
  if (needed <= room) {
    write(out, r, shape_);
    needed = out.str().size();
    if (needed <= room) return r.failed ? call_outcome::failed : call_outcome::succeeded;
  }
  out = {};
  write(out, too_large(needed, room), request_.method != nullptr ? shape::error : shape::result);
  return call_outcome::too_large;
}

} // namespace paddock::mcp
