// SPDX-License-Identifier: MIT
#include "mcp/client/client_core.hpp"

#include "base/later.hpp"
#include "mcp/client/open_request.hpp"
#include "sys/syscall.hpp"

#include <algorithm>
#include <utility>

namespace paddock::mcp {
namespace {

/// A server that asks again and again is not answered for ever.
constexpr int input_rounds_max = 16;

constexpr std::size_t spare_documents_max = 4;
constexpr std::size_t spare_document_bytes_max = std::size_t{256} * 1024;

std::string implementation(const client_options& o) {
  json_writer out;
  out.begin_object().member("name", o.name).member("version", o.version).end_object();
  return out.take();
}

} // namespace

open_request::open_request(const message_text& text, const call_options& options_,
                           std::int64_t now_ms)
    : id(text.id), answer_ms(text.answer_ms), options(options_),
      latest_ms(later(now_ms, options_.timeout_ms_max)),
      wait(std::min(latest_ms, later(now_ms, options_.timeout_ms)), options_.cancel) {}

client_core::client_core(endpoint to, client_options o)
    : options(std::move(o)), to_(std::move(to)), client_info_(implementation(options)),
      tools_(std::make_shared<const std::vector<remote_tool>>()) {}

// --- requests -----------------------------------------------------------------------------------

json_writer client_core::begin_request(std::int64_t id, std::string_view method) const {
  json_writer out;
  out.reserve(usual_request_bytes);
  out.begin_object().member("jsonrpc", "2.0").key("id").integer(id);
  out.member("method", method).key("params").begin_object();
  return out;
}

/// Ends the request as well. Of the caller's own members those that the client is responsible for
/// are left out.
void client_core::write_meta(json_writer& out, std::int64_t id, const call_options& o,
                             json_view callers) const {
  const bool modern = speaks_modern();
  if (modern || o.on_progress || callers.size() > 0) {
    out.key("_meta").begin_object();
    callers.for_each_member([&](std::string_view key, json_view value) {
      if (key == meta_protocol_version || key == meta_client_capabilities ||
          key == meta_client_info || key == "progressToken")
        return;
      out.key(key).raw(value.text());
    });
    if (modern) {
      out.member(meta_protocol_version, revision_modern);
      out.key(meta_client_capabilities).raw(options.capabilities);
      out.key(meta_client_info).raw(client_info_);
    }
    if (o.on_progress) out.key("progressToken").integer(id);
    out.end_object();
  }
  out.end_object().end_object();
}

std::optional<answer> client_core::open(open_request& r) {
  const std::lock_guard lock(guard_);
  if (closing_) return no_answer(error_code::cancelled, "the client is closed");
  if (lost_) return answer{.reason = *lost_, .text = lost_->detail};
  open_.push_back(&r);
  return std::nullopt;
}

/// From here on nobody can find the request, and whoever had found it has finished with it.
void client_core::forget(open_request& r) {
  const std::lock_guard lock(guard_);
  const std::lock_guard call_lock(r.guard);
  std::erase(open_, &r);
}

result<void, detailed_error> client_core::send(const message_text& text) {
  client_transport* const transport = transport_.load();
  if (transport == nullptr) return error{error_code::io, 0, "transport"};
  const request_id id = text.id != 0 ? request_id(text.id) : request_id();
  const bool modern = speaks_modern();
  const bool named = modern || agreed_.load(std::memory_order_relaxed);
  return transport->send({.json = text.json,
                          .id = text.id != 0 ? &id : nullptr,
                          .method = text.method,
                          .name = text.name,
                          .revision = named ? name_of(speaking_.load()) : std::string_view(),
                          .modern = modern,
                          .parameters = text.parameters});
}

answer client_core::round_trip(const message_text& text, const call_options& o) {
  open_request r(text, o, sys::monotonic_ms());
  if (auto refused = open(r)) return *std::move(refused);
  auto sent = send(text);
  if (sent) transport_.load()->wait(r.wait);
  forget(r);
  if (r.wait.is_finished()) return std::move(r.reply);
  if (!sent) return {.reason = sent.error(), .text = std::move(sent).error().detail};
  if (o.cancel != nullptr && o.cancel->requested()) {
    abandon(text, "cancelled");
    return no_answer(error_code::cancelled, "the call was cancelled");
  }
  abandon(text, "deadline");
  return no_answer(error_code::timed_out,
                   "the server did not answer " + std::string(text.method) + " in time");
}

/// Over HTTP a modern server learns it from the end of the connection. A request that belongs to
/// the handshake cannot be cancelled.
void client_core::abandon(const message_text& text, std::string_view reason) {
  client_transport* const transport = transport_.load();
  transport->forget(request_id(text.id));
  if (!agreed_.load() || (is_http() && speaks_modern())) return;
  json_writer params;
  params.begin_object().key("requestId").integer(text.id).member("reason", reason).end_object();
  notify("notifications/cancelled", params.str());
}

void client_core::notify(std::string_view method, std::string_view params) {
  json_writer out;
  out.begin_object().member("jsonrpc", "2.0").member("method", method);
  if (!params.empty()) out.key("params").raw(params);
  out.end_object();
  (void)send({.json = out.str(), .method = method}).has_value();
}

json_view refusal_in(const answer& a, json_document& document) {
  if (a.what != answer::outcome::rpc_error && a.what != answer::outcome::http_refusal) return {};
  const auto parsed = document.parse(a.json);
  if (!parsed) return {};
  return a.what == answer::outcome::http_refusal ? (*parsed)["error"] : *parsed;
}

namespace {

bool has_wrong_headers(const answer& a) {
  if (a.what == answer::outcome::result) return false;
  json_document document;
  return refusal_in(a, document)["code"].integer() == static_cast<int>(rpc_error::header_mismatch);
}

} // namespace

/// Nothing when nobody answers.
std::optional<client_core::input> client_core::ask_for_input(std::string_view wanted) const {
  json_document document;
  const auto parsed = document.parse(wanted);
  if (!parsed) return std::nullopt;
  input given{.state = (*parsed)["requestState"].text()};
  const json_view requests = (*parsed)["inputRequests"];
  if (!requests.exists()) return given;
  const auto responses = options.on_input(requests.text());
  json_document checked;
  const auto object = checked.parse(responses.value_or(""));
  if (!object || !object->is(json_kind::object)) return std::nullopt;
  given.responses = object->text();
  return given;
}

std::vector<std::pair<std::string, std::string>>
client_core::headers_of_call(std::string_view name, json_view arguments) const {
  const std::lock_guard lock(guard_);
  if (tool_headers_.empty()) return {};
  const auto found = tool_headers_.find(std::string(name));
  if (found == tool_headers_.end()) return {};
  return values_of(found->second, arguments);
}

result<answer, detailed_error> client_core::try_tool(std::string_view name,
                                                     std::string_view arguments, const input& given,
                                                     const call_options& o) {
  const std::int64_t id = next_id_.fetch_add(1, std::memory_order_relaxed);
  json_writer out = begin_request(id, "tools/call");
  out.member("name", name);
  std::vector<std::pair<std::string, std::string>> headers;
  if (!arguments.empty()) {
    std::unique_ptr<json_document> document = take_document();
    const auto parsed = document->parse(arguments);
    if (!parsed || !parsed->is(json_kind::object))
      return detailed_error({error_code::invalid_argument, 0, "arguments"},
                            "the arguments are not a JSON object");
    const bool is_line = arguments.find_first_of("\r\n") == std::string_view::npos;
    out.key("arguments");
    if (is_line)
      out.raw(arguments);
    else
      out.raw(parsed->text());
    if (is_http()) headers = headers_of_call(name, *parsed);
    keep_document(std::move(document), arguments.size());
  }
  if (!given.responses.empty()) out.key("inputResponses").raw(given.responses);
  if (!given.state.empty()) out.key("requestState").raw(given.state);
  write_meta(out, id, o, {});
  return round_trip(
      {.id = id, .json = out.str(), .method = "tools/call", .name = name, .parameters = headers},
      o);
}

result<call_reply, detailed_error>
client_core::call_tool(std::string_view name, std::string_view arguments, const call_options& o) {
  input given;
  PADDOCK_TRY(answer a, try_tool(name, arguments, given, o));
  // The tool may have got headers, or others, since its definition was fetched.
  if (is_http() && has_wrong_headers(a) && fetch_tools(o)) {
    PADDOCK_TRY(a, try_tool(name, arguments, given, o));
  }
  for (int round = 0; a.wants_input && round < input_rounds_max; ++round) {
    auto answered = ask_for_input(a.json);
    if (!answered) break;
    given = *std::move(answered);
    PADDOCK_TRY(a, try_tool(name, arguments, given, o));
  }
  if (a.wants_input)
    return detailed_error({error_code::unsupported, 0, "input"},
                          "the server asks for input, and nobody answers");
  if (a.what != answer::outcome::result) return detailed_error(a.reason, std::move(a.text));
  return call_reply{.json = std::move(a.json), .failed = a.failed};
}

result<std::string, detailed_error>
client_core::request(std::string_view method, std::string_view params, const call_options& o) {
  const std::int64_t id = next_id_.fetch_add(1, std::memory_order_relaxed);
  json_document document;
  const auto parsed = document.parse(params.empty() ? "{}" : params);
  if (!parsed || !parsed->is(json_kind::object))
    return detailed_error({error_code::invalid_argument, 0, "params"},
                          "the parameters are not a JSON object");
  json_writer out = begin_request(id, method);
  parsed->for_each_member([&](std::string_view key, json_view value) {
    if (key != "_meta") out.key(key).raw(value.text());
  });
  write_meta(out, id, o, (*parsed)["_meta"]);
  const json_view name = (*parsed)["name"].exists() ? (*parsed)["name"] : (*parsed)["uri"];
  answer a = round_trip(
      {.id = id, .json = out.str(), .method = method, .name = name.string().value_or("")}, o);
  if (a.what != answer::outcome::result) return detailed_error(a.reason, std::move(a.text));
  if (a.wants_input)
    return detailed_error({error_code::unsupported, 0, "input"},
                          "the server asks for input, which only calls of tools have");
  return std::move(a.json);
}

// --- the rest -----------------------------------------------------------------------------------

std::shared_ptr<const std::vector<remote_tool>> client_core::tools() const {
  const std::lock_guard lock(guard_);
  return tools_;
}

std::optional<std::int64_t> client_core::retry_ms() const noexcept {
  const client_transport* const transport = transport_.load();
  return transport == nullptr ? std::nullopt : transport->retry_ms();
}

bool client_core::connected() const noexcept {
  const std::lock_guard lock(guard_);
  return connected_ && !lost_ && !closing_;
}

void client_core::close() noexcept {
  {
    const std::lock_guard lock(guard_);
    closing_ = true;
    for (open_request* r : open_) {
      if (r->wait.is_finished()) continue;
      r->reply = no_answer(error_code::cancelled, "the client was closed");
      r->wait.finish();
    }
  }
  if (client_transport* const transport = transport_.load()) transport->close();
}

std::unique_ptr<json_document> client_core::take_document() {
  const std::lock_guard lock(guard_);
  if (spare_.empty()) return std::make_unique<json_document>();
  std::unique_ptr<json_document> document = std::move(spare_.back());
  spare_.pop_back();
  return document;
}

void client_core::keep_document(std::unique_ptr<json_document> document, std::size_t bytes) {
  if (bytes > spare_document_bytes_max) return;
  const std::lock_guard lock(guard_);
  if (spare_.size() < spare_documents_max) spare_.push_back(std::move(document));
}

} // namespace paddock::mcp
