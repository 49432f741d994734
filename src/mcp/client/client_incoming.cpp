// SPDX-License-Identifier: MIT

// What arrives from a server, and which request it belongs to.

#include "base/later.hpp"
#include "mcp/client/client_core.hpp"
#include "mcp/client/open_request.hpp"
#include "mcp/client/refusal_text.hpp"
#include "sys/syscall.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace paddock::mcp {

void client_core::on_message(std::string_view json) {
  if (json.find_first_not_of(" \t\r\n") == std::string_view::npos) return;
  std::unique_ptr<json_document> document = take_document();
  const auto parsed = document->parse(json);
  if (parsed && parsed->is(json_kind::array))
    parsed->for_each_element([this](json_view m) { take(m); });
  else if (parsed && parsed->is(json_kind::object))
    take(*parsed);
  else
    on_log(json.substr(0, log_bytes_max));
  keep_document(std::move(document), json.size());
}

void client_core::take(json_view value) {
  const message m = classify(value);
  switch (m.kind) {
  case message_kind::response:
    return take_response(value);
  case message_kind::request:
    return take_request(m);
  case message_kind::notification:
    if (m.method == "notifications/progress") return take_progress(m.params);
    if (m.method == "notifications/tools/list_changed" && options.on_tools_changed)
      options.on_tools_changed();
    return;
  case message_kind::invalid:
    return;
  }
}

void client_core::take_response(json_view response) {
  const json_view id = response["id"];
  if (id.is(json_kind::integer)) return finish(*id.integer(), read_response(response));
  if (const auto text = response["error"]["message"].string())
    on_log(text->substr(0, log_bytes_max));
}

answer client_core::read_response(json_view response) const {
  if (const json_view failure = response["error"]; failure.exists()) {
    const std::int64_t code = failure["code"].integer().value_or(0);
    std::string text = "the server refused the request: ";
    text += failure["message"].string().value_or("no reason given").substr(0, text_bytes_max);
    text += " (" + std::to_string(code) + ")";
    return {.what = answer::outcome::rpc_error,
            .json = failure.text(),
            .code = static_cast<int>(std::clamp<std::int64_t>(code, std::numeric_limits<int>::min(),
                                                              std::numeric_limits<int>::max())),
            .reason = {error_code::invalid_argument, 0, "server"},
            .text = std::move(text)};
  }
  const json_view value = response["result"];
  if (!value.is(json_kind::object))
    return no_answer(error_code::io, "the server's answer holds no result object");
  if (speaks_modern()) {
    const std::string_view kind = value["resultType"].string().value_or("complete");
    if (kind == "input_required" && options.on_input)
      return {.what = answer::outcome::result, .json = value.text(), .wants_input = true};
    if (kind == "input_required")
      return no_answer(error_code::unsupported, "the server asks for input, which is not offered");
    if (kind != "complete" || (value["resultType"].exists() && !value["resultType"].string()))
      return no_answer(error_code::unsupported, "the server's answer has an unknown resultType");
  }
  return {.what = answer::outcome::result,
          .json = value.text(),
          .failed = value["isError"].boolean().value_or(false)};
}

void client_core::take_request(const message& m) {
  client_transport* const transport = transport_.load();
  if (transport == nullptr) return;
  std::string reply;
  if (m.method == "ping")
    reply = R"({"jsonrpc":"2.0","id":)" + m.id->json() + R"(,"result":{}})";
  else
    reply = error_response(m.id, rpc_error::method_not_found, "Method not found");
  // A server that does not read its answers gets none.
  (void)transport
      ->send({.json = reply, .revision = name_of(speaking_.load()), .modern = speaks_modern()})
      .has_value();
}

void client_core::take_progress(json_view params) {
  const json_view token = params["progressToken"];
  if (!token.is(json_kind::integer)) return;
  std::unique_lock lock(guard_);
  const auto found = std::ranges::find(open_, *token.integer(), &open_request::id);
  if (found == open_.end()) return;
  open_request& r = **found;
  const std::lock_guard call_lock(r.guard);
  lock.unlock();
  const std::int64_t now_ms = sys::monotonic_ms();
  r.wait.set_deadline_ms(std::min(r.latest_ms, later(now_ms, r.options.timeout_ms)));
  if (r.options.on_progress)
    r.options.on_progress(params["progress"].number().value_or(0),
                          params["total"].number().value_or(0),
                          params["message"].string().value_or(""));
}

void client_core::finish(std::int64_t id, answer a) {
  const std::lock_guard lock(guard_);
  const auto found = std::ranges::find(open_, id, &open_request::id);
  if (found == open_.end()) return; // late, unknown, or the second one
  open_request& r = **found;
  if (r.wait.is_finished()) return;
  r.reply = std::move(a);
  r.reply.unreached = is_http() && !r.went_out;
  r.wait.finish();
}

void client_core::on_connected(const request_id& id) {
  json_document document;
  const auto number = document.parse(id.json());
  if (!number || !number->is(json_kind::integer)) return;
  const std::lock_guard lock(guard_);
  const auto found = std::ranges::find(open_, *number->integer(), &open_request::id);
  if (found == open_.end()) return;
  open_request& r = **found;
  r.went_out = true;
  if (r.answer_ms == 0) return;
  r.wait.set_deadline_ms(std::min(r.latest_ms, later(sys::monotonic_ms(), r.answer_ms)));
  r.wait.wake();
}

void client_core::on_refused(const request_id& id, int status, std::string_view body,
                             paddock::error reason, std::string_view why) {
  json_document document;
  const auto number = document.parse(id.json());
  if (!number || !number->is(json_kind::integer)) return;
  std::string text(why);
  if (const std::string said = refusal_text(body); !said.empty()) text += "; it says: " + said;
  finish(*number->integer(),
         {.what = status == 0 ? answer::outcome::none : answer::outcome::http_refusal,
          .json = std::string(body.substr(0, refusal_bytes_max)),
          .code = status,
          .reason = reason,
          .text = std::move(text)});
}

void client_core::on_log(std::string_view line) {
  if (!options.on_log) return;
  const std::lock_guard lock(log_guard_);
  options.on_log(line);
}

void client_core::on_lost(paddock::error reason, std::string_view why) {
  bool tell = false;
  {
    const std::lock_guard lock(guard_);
    if (lost_ || closing_) return;
    lost_ = detailed_error(reason, std::string(why));
    tell = connected_;
    for (open_request* r : open_) {
      if (r->wait.is_finished()) continue;
      r->reply = {.reason = reason, .text = lost_->detail};
      r->wait.finish();
    }
  }
  if (tell && options.on_lost) options.on_lost(why);
}

} // namespace paddock::mcp
