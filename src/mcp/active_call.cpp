// SPDX-License-Identifier: MIT
#include "mcp/active_call.hpp"

#include <algorithm>
#include <utility>

namespace paddock::mcp {
namespace {

/// Whitespace between tokens may contain line breaks, which would tear the line apart; inside
/// strings JSON has none.
std::string_view one_line(std::string_view json, std::string& copy) {
  // Two searches, because find_first_of looks at every byte by itself.
  if (json.find('\n') == std::string_view::npos && json.find('\r') == std::string_view::npos)
    return json;
  copy = json;
  std::ranges::replace_if(copy, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return copy;
}

} // namespace

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
  if (!cancelled_.exchange(true) && on_cancel_) on_cancel_();
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

namespace {

tool_result method_failure(rpc_error code, std::string_view message) {
  json_writer out;
  out.begin_object().key("code").integer(static_cast<int>(code));
  out.member("message", message).end_object();
  return {.json = out.take(), .failed = true, .content = {}};
}

tool_result run_method(const extension_method& method, call& c, std::optional<rpc_error>& refusal) {
  method_result r = method.handler(c);
  if (r.error == rpc_error::missing_client_capability) refusal = r.error;
  if (r.error) return method_failure(*r.error, r.message);
  return {.json = std::move(r.json), .failed = false, .content = {}};
}

} // namespace

tool_result active_call::run(std::uint64_t token) {
  token_ = token;
  constexpr std::string_view ending = "the connection is ending";
  const bool late = cancelled_.load(std::memory_order_relaxed);
  if (request_.method != nullptr)
    return late ? method_failure(rpc_error::internal_error, ending)
                : run_method(*request_.method, *this, refusal_);
  if (late) return tool_result::failure(error_code::cancelled, ending);
  if (const std::string problems = problems_of(*request_.tool, arguments_); !problems.empty())
    return tool_result::failure(error_code::invalid_argument, problems);
  return request_.tool->handler(*this);
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

/// The members that the modern revision adds to a result, as the rest of its object.
std::string modern_members(const extension_method& method, bool first, std::string_view meta) {
  json_writer out;
  out.begin_object().member("resultType", "complete");
  if (method.time_to_live_ms)
    out.key("ttlMs").integer(*method.time_to_live_ms).member("cacheScope", "private");
  out.key("_meta").raw(meta).end_object();
  std::string members = out.take();
  members.replace(0, 1, first ? "" : ",");
  return members;
}

void write_method_result(json_writer& out, const call_request& request, const tool_result& r,
                         std::string_view modern_meta) {
  std::string copy;
  const std::string_view json = one_line(r.json, copy);
  out.begin_object().member("jsonrpc", "2.0").key("id").raw(request.id.json());
  out.key(r.failed ? "error" : "result");
  if (r.failed || request.revision != revision::r2026_07_28) {
    out.raw(json);
  } else {
    std::string object(json.substr(0, json.rfind('}')));
    const bool empty = object.find('"') == std::string::npos;
    out.raw(object.append(modern_members(*request.method, empty, modern_meta)));
  }
  out.end_object();
}

} // namespace

void active_call::write(json_writer& out, const tool_result& r) const {
  if (request_.method != nullptr)
    write_method_result(out, request_, r, core_.modern_meta);
  else
    write_tool_result(out, request_, r, core_.modern_meta);
}

tool_result active_call::too_large(std::size_t needed, std::size_t room) const {
  std::string message = "the result of " + std::to_string(needed) + " bytes exceeds the " +
                        std::to_string(room) + " bytes that fit";
  if (request_.method != nullptr) return method_failure(rpc_error::internal_error, message);
  const std::string& hint = request_.tool->too_large_hint;
  message.append("; ").append(hint.empty() ? advice(error_code::too_large) : hint);
  return tool_result::failure(error_code::too_large, message);
}

call_outcome active_call::write_response(json_writer& out, const tool_result& r,
                                         std::size_t room) const {
  out.clear();
  std::size_t needed = r.json.size();
  if (needed <= room) {
    write(out, r);
    needed = out.str().size();
    if (needed <= room) return r.failed ? call_outcome::failed : call_outcome::succeeded;
  }
  out = {};
  write(out, too_large(needed, room));
  return call_outcome::too_large;
}

} // namespace paddock::mcp
