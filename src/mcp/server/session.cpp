// SPDX-License-Identifier: MIT
#include "mcp/server/session.hpp"

#include "mcp/json/json_members.hpp"
#include "mcp/protocol/guarded.hpp"

#include <paddock/base/detail/excerpt.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::size_t batch_messages_max = 1000;
constexpr std::size_t short_reply_bytes_max = 256;
constexpr std::size_t subscriptions_max = 64;
constexpr std::size_t spares_max = 4;
constexpr std::size_t spare_bytes_max = std::size_t{256} * 1024;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

} // namespace

session::session(std::shared_ptr<const server::core> core) : core_(std::move(core)) {}

// --- messages in -------------------------------------------------------------------------------

std::unique_ptr<work> session::accept(std::string_view line, channel& out) {
  if (is_blank(line)) return nullptr;
  std::unique_ptr<work> w = take_spare();
  w->bytes = line.size();
  w->out = &out;
  if (const auto parsed = w->document.parse_padded(line); !parsed) {
    refuse(*w, {}, rpc_error::parse_error, std::string("Parse error: ") + parsed.error().operation);
    keep_spare(std::move(w));
    return nullptr;
  }
  return accept(std::move(w));
}

std::unique_ptr<work> session::accept(std::unique_ptr<work> w) {
  if (const json_view message = w->document.root(); message.is(json_kind::array))
    dispatch_batch(*w);
  else
    dispatch(*w, classify(message));
  if (!w->calls.empty()) return w;
  if (w->batch) send_batch(*w);
  keep_spare(std::move(w));
  return nullptr;
}

void session::dispatch_batch(work& w) {
  const json_view messages = w.document.root();
  if (negotiated_ != revision::r2025_03_26)
    return refuse(w, {}, rpc_error::invalid_request,
                  "Batches exist in revision 2025-03-26 only; send one message per line");
  if (messages.size() == 0 || messages.size() > batch_messages_max)
    return refuse(w, {}, rpc_error::invalid_request, "A batch holds 1 to 1000 messages");
  w.batch = true;
  w.batch_messages = messages.size();
  messages.for_each_element([&](json_view m) { dispatch(w, classify(m)); });
}

void session::dispatch(work& w, const message& m) {
  switch (m.kind) {
  case message_kind::response:
    return; // the server asks nothing, so nobody waits for it
  case message_kind::invalid:
    return refuse(w, {}, rpc_error::invalid_request, "Invalid request: " + std::string(m.problem));
  case message_kind::notification:
    if (m.method == "notifications/cancelled") cancel(m.params["requestId"]);
    return;
  case message_kind::request:
    break;
  }
  if (is_open(*m.id))
    return refuse(w, {}, rpc_error::invalid_request,
                  "Invalid request: an open request already has the id " +
                      detail::excerpt(m.id->json()));
  if (!m.params_problem.empty())
    return refuse(w, m.id, rpc_error::invalid_params,
                  "Invalid params: " + std::string(m.params_problem));
  const json_view meta = m.params["_meta"];
  if (w.modern || speaks_modern(m))
    dispatch_modern(w, m, meta);
  else
    dispatch_legacy(w, m, meta);
}

void session::dispatch_modern(work& w, const message& m, json_view meta) {
  const auto version = meta[meta_protocol_version].string();
  if (!version || !meta[meta_client_capabilities].is(json_kind::object))
    return refuse(w, m.id, rpc_error::invalid_params,
                  "Invalid params: _meta needs the string " + std::string(meta_protocol_version) +
                      " and the object " + std::string(meta_client_capabilities));
  if (*version != revision_modern) {
    json_writer data;
    data.begin_object().key("supported").begin_array().string(revision_modern).end_array();
    data.member("requested", detail::excerpt(*version)).end_object();
    return refuse(w, m.id, rpc_error::unsupported_protocol_version, "Unsupported protocol version",
                  data.str());
  }
  if (const json_view level = meta[meta_log_level];
      level.exists() && !log_level_of(level.string().value_or("")))
    return refuse(w, m.id, rpc_error::invalid_params, "Invalid params: unknown log level");
  if (m.method == "tools/call") return call_tool(w, m, meta, revision::r2026_07_28);
  if (m.method == "tools/list") return list_tools(w, m, revision::r2026_07_28);
  if (m.method == "server/discover") return reply_result(w, m, core_->discover_result());
  if (m.method == "subscriptions/listen") return listen(w, m);
  call_method(w, m, meta, revision::r2026_07_28);
}

void session::dispatch_legacy(work& w, const message& m, json_view meta) {
  const revision r = negotiated_.value_or(newest_legacy);
  if (m.method == "tools/call") return call_tool(w, m, meta, r);
  if (m.method == "ping") return reply_result(w, m, "{}");
  if (m.method == "tools/list") return list_tools(w, m, r);
  if (m.method == "initialize") return initialize(w, m);
  if (m.method == "logging/setLevel" && core_->options.logging == client_logging::offered)
    return set_log_level(w, m);
  call_method(w, m, meta, r);
}

// --- requests ----------------------------------------------------------------------------------

void session::initialize(work& w, const message& m) {
  if (w.batch)
    return reply_error(w, m.id, rpc_error::invalid_request,
                       "Invalid request: initialize must not be part of a batch");
  const auto version = m.params["protocolVersion"].string();
  if (!version)
    return reply_error(w, m.id, rpc_error::invalid_params,
                       "Invalid params: protocolVersion must be a string");
  negotiated_ = legacy_revision(*version).value_or(newest_legacy);
  const json_view info = m.params["clientInfo"];
  client_ = std::make_shared<const client_info>(client_info{
      .name = std::string(info["name"].string().value_or("").substr(0, id_bytes_max)),
      .version = std::string(info["version"].string().value_or("").substr(0, id_bytes_max))});
  reply_result(w, m, core_->initialize_result(*negotiated_));
}

void session::set_log_level(work& w, const message& m) {
  const auto level = log_level_of(m.params["level"].string().value_or(""));
  if (!level)
    return reply_error(w, m.id, rpc_error::invalid_params,
                       "Invalid params: level must be one of debug, info, notice, warning, error, "
                       "critical, alert, emergency");
  log_from_ = *level;
  reply_result(w, m, "{}");
}

void session::list_tools(work& w, const message& m, revision r) {
  if (given(m.params, "cursor").exists())
    return reply_error(w, m.id, rpc_error::invalid_params,
                       "Invalid params: unknown cursor; all tools are on the first page");
  reply_result(w, m, core_->list_results[static_cast<std::size_t>(r)]);
}

void session::call_tool(work& w, const message& m, json_view meta, revision r) {
  const auto name = m.params["name"].string();
  if (!name)
    return reply_error(w, m.id, rpc_error::invalid_params, "Invalid params: name must be a string");
  call_request request{.id = *m.id, .tool = core_->find(*name), .revision = r};
  if (request.tool == nullptr)
    return reply_error(w, m.id, rpc_error::invalid_params,
                       "Unknown tool: " + detail::excerpt(*name));
  request.arguments = given(m.params, "arguments");
  if (request.arguments.exists() && !request.arguments.is(json_kind::object))
    return reply_error(w, m.id, rpc_error::invalid_params,
                       "Invalid params: arguments must be an object");
  start(w, m, std::move(request), meta);
}

/// What is left: methods of extensions.
void session::call_method(work& w, const message& m, json_view meta, revision r) {
  call_request request{.id = *m.id, .method = core_->find_method(m.method, r), .revision = r};
  if (request.method == nullptr)
    return refuse(w, m.id, rpc_error::method_not_found, "Method not found");
  request.arguments = m.params;
  start(w, m, std::move(request), meta);
}

void session::start(work& w, const message& m, call_request request, json_view meta) {
  request.params = m.params;
  request.progress_token = request_id::from(meta["progressToken"]);
  request.traceparent = meta["traceparent"].string().value_or("");
  if (const json_view info = meta[meta_client_info]; request.revision == revision::r2026_07_28) {
    request.client_capabilities = meta[meta_client_capabilities];
    request.log_from = log_level_of(meta[meta_log_level].string().value_or(""));
    request.client_name = info["name"].string().value_or("");
    request.client_version = info["version"].string().value_or("");
  } else if (client_) {
    request.client = client_;
    request.client_name = client_->name;
    request.client_version = client_->version;
  }
  if (request.revision != revision::r2026_07_28) request.log_from = log_from_;
  if (core_->options.logging == client_logging::off) request.log_from.reset();
  w.calls.push_back(std::make_unique<active_call>(*w.out, *core_, std::move(request)));
  const std::lock_guard lock(guard_);
  calls_.push_back(w.calls.back().get());
  if (ending_) w.calls.back()->cancel(*ending_);
}

void session::listen(work& w, const message& m) {
  if (!m.params["notifications"].is(json_kind::object))
    return reply_error(w, m.id, rpc_error::invalid_params,
                       "Invalid params: notifications must be an object");
  {
    const std::lock_guard lock(guard_);
    if (subscriptions_.size() < subscriptions_max) {
      subscriptions_.push_back({*m.id, w.out});
    } else {
      return reply_error(w, m.id, rpc_error::invalid_params,
                         "Invalid params: too many open subscriptions; cancel one first");
    }
  }
  json_writer out; // no kind of notification is ever sent, so none is granted
  out.begin_object().member("jsonrpc", "2.0");
  out.member("method", "notifications/subscriptions/acknowledged").key("params").begin_object();
  out.key("notifications").raw("{}");
  out.key("_meta").begin_object().key(meta_subscription_id).raw(m.id->json()).end_object();
  out.end_object().end_object().end_line();
  w.out->send(out.str());
}

void session::cancel(json_view id) {
  const auto wanted = request_id::from(id);
  if (!wanted) return;
  std::unique_lock lock(guard_);
  std::erase_if(subscriptions_, [&](const subscription& s) { return s.id == *wanted; });
  const auto found =
      std::ranges::find(calls_, *wanted, [](const active_call* c) { return c->id(); });
  if (found == calls_.end()) return;
  active_call& c = **found;
  // Taking the call's lock before giving up the table's keeps the call alive: `close` needs both.
  const std::lock_guard call_lock(c.guard);
  lock.unlock();
  c.cancel(active_call::canceller::client);
}

// --- running -----------------------------------------------------------------------------------

void session::run(std::unique_ptr<work> w, std::uint64_t token) {
  for (const auto& c : w->calls)
    run_one(*w, *c, token);
  if (w->batch) send_batch(*w);
  keep_spare(std::move(w));
}

void session::run_one(work& w, active_call& c, std::uint64_t token) {
  using clock = std::chrono::steady_clock;
  const bool observed = core_->options.observer != nullptr;
  const auto begin = observed ? clock::now() : clock::time_point{};
  const tool_result r = c.silenced() ? tool_result{} : c.run(token);
  const std::size_t room = w.batch ? room_in_batch(w) : c.message_bytes_max();
  call_outcome outcome = c.write_response(w.response, r, room);
  const std::size_t bytes = w.response.str().size();
  close(c);
  if (c.silenced())
    outcome = call_outcome::cancelled;
  else if (w.batch)
    keep_reply(w, w.response.str());
  else if (const auto code = c.refusal())
    w.out->refuse(w.response.end_line().str(), *code);
  else
    w.out->send(w.response.end_line().str());
  if (observed) {
    const auto spent = std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - begin);
    observe(c, r, outcome, static_cast<std::uint64_t>(spent.count()), bytes);
  }
}

void session::observe(const active_call& c, const tool_result& r, call_outcome outcome,
                      std::uint64_t duration_us, std::size_t bytes) const {
  const call_request& q = c.request();
  json_document document;
  std::string_view error;
  if (outcome == call_outcome::too_large)
    error = wire_name(error_code::too_large);
  else if (outcome == call_outcome::failed)
    if (const auto parsed = document.parse(r.json))
      error = (*parsed)["error"].string().value_or("");
  guarded([&] {
    core_->options.observer({.tool = c.name(),
                             .id = q.id.json(),
                             .outcome = outcome,
                             .error = error,
                             .trouble = c.trouble(),
                             .duration_us = duration_us,
                             .bytes_out = outcome == call_outcome::cancelled ? 0 : bytes,
                             .revision = name_of(q.revision),
                             .client_name = q.client_name,
                             .client_version = q.client_version,
                             .traceparent = q.traceparent});
  });
}

bool session::is_open(const request_id& id) const {
  const std::lock_guard lock(guard_);
  return std::ranges::find(calls_, id, [](const active_call* c) { return c->id(); }) !=
             calls_.end() ||
         std::ranges::find(subscriptions_, id, &subscription::id) != subscriptions_.end();
}

/// From here on the call cannot be found, and whoever was cancelling it has finished.
void session::close(active_call& c) {
  const std::scoped_lock locks(guard_);
  const std::lock_guard call_lock(c.guard);
  std::erase(calls_, &c);
}

std::vector<session::subscription> session::cancel_all(active_call::canceller who) {
  std::vector<subscription> subscriptions;
  const std::lock_guard lock(guard_);
  ending_ = who;
  for (active_call* c : calls_) {
    const std::lock_guard call_lock(c->guard);
    c->cancel(who);
  }
  subscriptions.swap(subscriptions_);
  return subscriptions;
}

void session::end() {
  for (const auto& [id, channel] : cancel_all(active_call::canceller::end_of_connection)) {
    json_writer out;
    out.begin_object().member("jsonrpc", "2.0").key("id").raw(id.json());
    out.key("result").begin_object().member("resultType", "complete");
    out.key("_meta").begin_object().key(meta_server_info).raw(core_->server_info);
    out.key(meta_subscription_id).raw(id.json());
    out.end_object().end_object().end_object().end_line();
    channel->send(out.str());
  }
}

void session::abandon() {
  (void)cancel_all(active_call::canceller::client);
}

std::size_t session::calls_open() const {
  const std::lock_guard lock(guard_);
  return calls_.size();
}

bool session::is_listening() const {
  const std::lock_guard lock(guard_);
  return !subscriptions_.empty();
}

// --- replies -----------------------------------------------------------------------------------

void session::reply(work& w, std::string text) {
  if (w.batch) return keep_reply(w, std::move(text));
  text += '\n';
  w.out->send(text);
}

void session::reply_result(work& w, const message& m, std::string_view result) {
  std::string text = R"({"jsonrpc":"2.0","id":)";
  text.reserve(text.size() + m.id->json().size() + result.size() + 16);
  text.append(m.id->json()).append(R"(,"result":)").append(result).append("}");
  if (w.batch && text.size() > room_in_batch(w))
    return reply_error(w, m.id, rpc_error::internal_error,
                       "The result does not fit into the batch's line; ask for it in a line of its "
                       "own");
  reply(w, std::move(text));
}

void session::reply_error(work& w, const std::optional<request_id>& id, rpc_error code,
                          std::string_view text, std::string_view data) {
  reply(w, error_response(id, code, text, data));
}

/// What cannot be answered for what it is, whatever it asks for; transports may have a way of their
/// own to say so.
void session::refuse(work& w, const std::optional<request_id>& id, rpc_error code,
                     std::string_view text, std::string_view data) {
  if (w.batch) return reply_error(w, id, code, text, data);
  w.out->refuse(error_response(id, code, text, data) + "\n", code);
}

void session::refuse_long_line(channel& out) const {
  out.refuse(error_response({}, rpc_error::invalid_request,
                            "Invalid request: the line is longer than " +
                                std::to_string(core_->options.limits.message_in_bytes_max) +
                                " bytes") +
                 "\n",
             rpc_error::invalid_request);
}

void session::keep_reply(work& w, std::string text) {
  w.batch_bytes += text.size() + 1;
  w.batch_replies.push_back(std::move(text));
}

/// For the next reply, so that the others still get at least a short one.
std::size_t session::room_in_batch(const work& w) const {
  const std::size_t others = w.batch_messages - std::min(w.batch_messages, w.batch_replies.size());
  const std::size_t taken = w.batch_bytes + others * short_reply_bytes_max;
  const auto line = static_cast<std::size_t>(core_->options.limits.message_out_bytes_max);
  return std::max(line - std::min(line, taken), std::min(line, short_reply_bytes_max));
}

void session::send_batch(work& w) {
  if (w.batch_replies.empty()) return;
  std::string text;
  for (const std::string& each : w.batch_replies) {
    text += text.empty() ? '[' : ',';
    text += each;
  }
  text += "]\n";
  w.out->send(text);
}

// --- reuse of parsers and buffers --------------------------------------------------------------

std::unique_ptr<work> session::take_spare() {
  const std::lock_guard lock(guard_);
  if (spare_.empty()) return std::make_unique<work>();
  std::unique_ptr<work> w = std::move(spare_.back());
  spare_.pop_back();
  return w;
}

void session::keep_spare(std::unique_ptr<work> w) {
  if (w->batch || w->bytes > spare_bytes_max || w->response.str().size() > spare_bytes_max) return;
  w->calls.clear();
  w->response.clear();
  w->out = nullptr;
  w->modern = false;
  const std::lock_guard lock(guard_);
  if (spare_.size() < spares_max) spare_.push_back(std::move(w));
}

} // namespace paddock::mcp
