// SPDX-License-Identifier: MIT
#include "mcp/server/response.hpp"

#include "mcp/json/json_members.hpp"
#include "mcp/server/server_core.hpp"

#include <algorithm>
#include <utility>

namespace paddock::mcp {

void call_request::read(json_view from) {
  params = from;
  arguments = method != nullptr ? params : given(params, "arguments");
  const json_view meta = params["_meta"];
  progress_token = request_id::from(meta["progressToken"]);
  traceparent = meta["traceparent"].string().value_or("");
  if (revision != mcp::revision::r2026_07_28) return;
  const json_view info = meta[meta_client_info];
  client_capabilities = meta[meta_client_capabilities];
  log_from = log_level_of(meta[meta_log_level].string().value_or(""));
  client_name = info["name"].string().value_or("");
  client_version = info["version"].string().value_or("");
}

namespace {

/// What a response is written from, besides the answer.
struct response_to {
  const call_request& request;
  std::string_view modern_meta;

  [[nodiscard]] bool is_modern() const noexcept {
    return request.revision == revision::r2026_07_28;
  }
  json_writer& begin(json_writer& out) const {
    return out.begin_object().member("jsonrpc", "2.0").key("id").raw(request.id.json());
  }
};

/// The object is there twice: as text for models, and as it is for programs.
void write_result(json_writer& out, const response_to& to, const tool_result& r) {
  out.begin_object();
  if (to.is_modern()) out.member("resultType", "complete");
  out.key("content");
  if (r.content.empty())
    out.begin_array()
        .begin_object()
        .member("type", "text")
        .member("text", r.json)
        .end_object()
        .end_array();
  else
    out.raw(r.content);
  if (!r.failed() && !r.json.empty() && to.request.revision >= revision::r2025_06_18)
    out.key("structuredContent").raw(r.json);
  out.key("isError").boolean(r.failed());
  if (to.is_modern()) out.key("_meta").raw(to.modern_meta);
  out.end_object();
}

void write(json_writer& out, const response_to& to, const tool_result& r) {
  out.reserve(r.json.size() * 9 / 4 + 512); // once with its quotes escaped
  to.begin(out).key("result");
  write_result(out, to, r);
  out.end_object();
}

void write(json_writer& out, const response_to& to, const method_output& r) {
  to.begin(out).key("result").begin_object_with(r.json);
  if (to.is_modern()) {
    out.member("resultType", "complete");
    if (r.time_to_live_ms)
      out.key("ttlMs").integer(*r.time_to_live_ms).member("cacheScope", "private");
    out.key("_meta").raw(to.modern_meta);
  }
  out.end_object().end_object();
}

void write(json_writer& out, const response_to& to, const input_request& r) {
  to.begin(out).key("result").begin_object();
  if (!r.requests.empty()) out.key("inputRequests").raw(r.requests);
  if (!r.state.empty()) out.member("requestState", r.state);
  out.member("resultType", "input_required").key("_meta").raw(to.modern_meta);
  out.end_object().end_object();
}

void write(json_writer& out, const response_to& to, const rpc_failure& r) {
  write_error_response(out, to.request.id, r);
}

void write(json_writer& out, const response_to& to, const task_begun& r) {
  to.begin(out).key("result");
  if (to.is_modern())
    out.begin_object_with(r.json).member("resultType", "task").key("_meta").raw(to.modern_meta);
  else
    out.begin_object().key("task").raw(r.json);
  out.end_object().end_object();
}

/// What is in a response for certain, without the work of writing it.
std::size_t bytes_at_least(const call_answer& answer) {
  if (const auto* const r = std::get_if<tool_result>(&answer)) return r->json.size();
  if (const auto* const r = std::get_if<method_output>(&answer)) return r->json.size();
  return 0;
}

call_answer too_large(const call_request& q, std::size_t needed, std::size_t room) {
  std::string message = "the result of " + std::to_string(needed) + " bytes exceeds the " +
                        std::to_string(room) + " bytes that fit";
  if (q.method != nullptr)
    return rpc_failure{.code = rpc_error::invalid_params, .message = std::move(message)};
  const std::string& hint = q.tool->too_large_hint;
  message.append("; ").append(hint.empty() ? advice(error_code::too_large) : hint);
  return tool_result::failure(error_code::too_large, message);
}

bool is_failure(const call_answer& answer) {
  if (const auto* const r = std::get_if<tool_result>(&answer)) return r->failed();
  return std::holds_alternative<rpc_failure>(answer);
}

} // namespace

call_outcome write_response(json_writer& out, const call_request& q, const call_answer& answer,
                            std::string_view modern_meta, std::size_t room) {
  const response_to to{.request = q, .modern_meta = modern_meta};
  const auto write_to_line = [&](const auto& r) { write(out, to, r); };
  out.clear();
  std::size_t needed = bytes_at_least(answer);
  if (needed <= room) {
    std::visit(write_to_line, answer);
    needed = out.str().size();
    if (needed <= room) return is_failure(answer) ? call_outcome::failed : call_outcome::succeeded;
  }
  out = {};
  std::visit(write_to_line, too_large(q, needed, room));
  return call_outcome::too_large;
}

kept_answer keep_answer(const call_request& q, const call_answer& answer,
                        std::string_view modern_meta, std::size_t room) {
  const response_to to{.request = q, .modern_meta = modern_meta};
  kept_answer kept;
  const auto keep = [&](const call_answer& a) {
    const auto* const r = std::get_if<tool_result>(&a);
    const auto* const failed = std::get_if<rpc_failure>(&a);
    json_writer out;
    if (r != nullptr)
      write_result(out, to, *r);
    else if (failed != nullptr)
      kept.error = *failed;
    else // a task cannot take another round
      kept.error.message = "Internal error: " + q.name() + " asked for input after it had begun";
    kept.json = out.take();
    kept.outcome = r != nullptr && !r->failed() ? call_outcome::succeeded : call_outcome::failed;
  };
  const std::size_t least = bytes_at_least(answer);
  if (least <= room) keep(answer);
  const std::size_t needed = std::max(least, kept.json.size());
  if (needed <= room) return kept;
  keep(too_large(q, needed, room));
  kept.outcome = call_outcome::too_large;
  return kept;
}

std::optional<rpc_error> refusal_in(const call_answer& answer) noexcept {
  const auto* const r = std::get_if<rpc_failure>(&answer);
  if (r == nullptr || r->code != rpc_error::missing_client_capability) return std::nullopt;
  return r->code;
}

std::string_view kind_of_failure(const call_answer& answer, call_outcome outcome) {
  if (outcome == call_outcome::too_large) return wire_name(error_code::too_large);
  const auto* const r = std::get_if<tool_result>(&answer);
  return r != nullptr && outcome == call_outcome::failed ? std::string_view(r->error)
                                                         : std::string_view();
}

} // namespace paddock::mcp
