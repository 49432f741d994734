// SPDX-License-Identifier: MIT
#include "mcp/server/session.hpp"

#include "mcp/json/json_members.hpp"
#include "mcp/protocol/guarded.hpp"

#include <paddock/base/detail/excerpt.hpp>

#include <chrono>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::size_t batch_messages_max = 1000;
constexpr std::size_t spare_calls_max = 4;
constexpr std::size_t spare_call_bytes_max = std::size_t{256} * 1024;

bool is_list_of_strings(json_view value) {
  bool all = value.is(json_kind::array);
  value.for_each_element([&](json_view each) { all = all && each.is(json_kind::string); });
  return all;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

} // namespace

session::session(std::shared_ptr<const server::core> core, std::shared_ptr<task_runner> runner)
    : core_(std::move(core)) {
  if (!core_->has_tasks) return;
  if (runner == nullptr) runner = std::make_shared<task_runner>(core_->options.tasks.running_max);
  tasks_ = std::make_shared<task_table>(core_, std::move(runner));
  ends_tasks_ = true;
}

session::session(std::shared_ptr<const server::core> core, std::shared_ptr<task_table> tasks)
    : core_(std::move(core)), tasks_(std::move(tasks)) {}

// --- messages in -------------------------------------------------------------------------------

std::unique_ptr<transaction> session::accept(std::string_view line, call_events& events) {
  if (is_blank(line)) return nullptr;
  std::unique_ptr<transaction> t = take_spare();
  t->bytes = line.size();
  t->events = &events;
  if (const auto parsed = t->document.parse_padded(line); !parsed) {
    refuse(*t, {}, rpc_error::parse_error, std::string("Parse error: ") + parsed.error().operation);
    return t;
  }
  return accept(std::move(t));
}

std::unique_ptr<transaction> session::accept(std::unique_ptr<transaction> t) {
  if (const json_view message = t->document.root(); message.is(json_kind::array))
    dispatch_batch(*t);
  else
    dispatch(*t, classify(message));
  if (!t->calls.empty() || t->answer.is_there()) return t;
  finish(std::move(t));
  return nullptr;
}

void session::dispatch_batch(transaction& t) {
  const json_view messages = t.document.root();
  if (negotiated_ != revision::r2025_03_26)
    return refuse(t, {}, rpc_error::invalid_request,
                  "Batches exist in revision 2025-03-26 only; send one message per line");
  if (messages.size() == 0 || messages.size() > batch_messages_max)
    return refuse(t, {}, rpc_error::invalid_request, "A batch holds 1 to 1000 messages");
  t.answer.begin_batch(messages.size());
  messages.for_each_element([&](json_view m) { dispatch(t, classify(m)); });
}

void session::dispatch(transaction& t, const message& m) {
  switch (m.kind) {
  case message_kind::response:
    return; // the server asks nothing, so nobody waits for it
  case message_kind::invalid:
    return refuse(t, {}, rpc_error::invalid_request, "Invalid request: " + std::string(m.problem));
  case message_kind::notification:
    if (m.method == "notifications/cancelled")
      if (const auto id = request_id::from(m.params["requestId"])) open_.cancel(*id);
    return;
  case message_kind::request:
    break;
  }
  if (open_.contains(*m.id))
    return refuse(t, {}, rpc_error::invalid_request,
                  "Invalid request: an open request already has the id " +
                      detail::excerpt(m.id->json()));
  if (!m.params_problem.empty())
    return refuse(t, m.id, rpc_error::invalid_params,
                  "Invalid params: " + std::string(m.params_problem));
  const json_view meta = m.params["_meta"];
  if (t.modern || speaks_modern(m))
    dispatch_modern(t, m, meta);
  else
    dispatch_legacy(t, m, meta);
}

void session::dispatch_modern(transaction& t, const message& m, json_view meta) {
  const auto version = meta[meta_protocol_version].string();
  if (!version || !meta[meta_client_capabilities].is(json_kind::object))
    return refuse(t, m.id, rpc_error::invalid_params,
                  "Invalid params: _meta needs the string " + std::string(meta_protocol_version) +
                      " and the object " + std::string(meta_client_capabilities));
  if (*version != revision_modern) {
    json_writer data;
    data.begin_object().key("supported").begin_array().string(revision_modern).end_array();
    data.member("requested", detail::excerpt(*version)).end_object();
    return refuse(t, m.id, rpc_error::unsupported_protocol_version, "Unsupported protocol version",
                  data.str());
  }
  if (const json_view level = meta[meta_log_level];
      level.exists() && !log_level_of(level.string().value_or("")))
    return refuse(t, m.id, rpc_error::invalid_params, "Invalid params: unknown log level");
  if (m.method == "tools/call") return call_tool(t, m, meta, revision::r2026_07_28);
  if (m.method == "tools/list") return list_tools(t, m, revision::r2026_07_28);
  if (m.method == "server/discover") return answer(t, m, core_->discover_result());
  if (m.method == "subscriptions/listen") return listen(t, m, meta);
  if (is_about_tasks(m, revision::r2026_07_28)) return ask_task(t, m, meta);
  call_method(t, m, revision::r2026_07_28);
}

void session::dispatch_legacy(transaction& t, const message& m, json_view meta) {
  const revision r = negotiated_.value_or(newest_legacy);
  if (m.method == "tools/call") return call_tool(t, m, meta, r);
  if (m.method == "ping") return answer(t, m, "{}");
  if (m.method == "tools/list") return list_tools(t, m, r);
  if (m.method == "initialize") return initialize(t, m);
  if (m.method == "logging/setLevel" && core_->options.logging == client_logging::offered)
    return set_log_level(t, m);
  if (is_about_tasks(m, r)) return ask_task(t, m);
  call_method(t, m, r);
}

// --- requests ----------------------------------------------------------------------------------

void session::initialize(transaction& t, const message& m) {
  if (t.answer.is_batch())
    return fail(t, m.id, rpc_error::invalid_request,
                "Invalid request: initialize must not be part of a batch");
  const auto version = m.params["protocolVersion"].string();
  if (!version)
    return fail(t, m.id, rpc_error::invalid_params,
                "Invalid params: protocolVersion must be a string");
  negotiated_ = legacy_revision(*version).value_or(newest_legacy);
  const json_view info = m.params["clientInfo"];
  client_ = std::make_shared<const client_info>(client_info{
      .name = std::string(info["name"].string().value_or("").substr(0, id_bytes_max)),
      .version = std::string(info["version"].string().value_or("").substr(0, id_bytes_max))});
  answer(t, m, core_->initialize_result(*negotiated_));
}

void session::set_log_level(transaction& t, const message& m) {
  const auto level = log_level_of(m.params["level"].string().value_or(""));
  if (!level)
    return fail(t, m.id, rpc_error::invalid_params,
                "Invalid params: level must be one of debug, info, notice, warning, error, "
                "critical, alert, emergency");
  log_from_ = *level;
  answer(t, m, "{}");
}

void session::list_tools(transaction& t, const message& m, revision r) const {
  if (given(m.params, "cursor").exists())
    return fail(t, m.id, rpc_error::invalid_params,
                "Invalid params: unknown cursor; all tools are on the first page");
  answer(t, m, core_->list_result(r));
}

void session::call_tool(transaction& t, const message& m, json_view meta, revision r) {
  const auto name = m.params["name"].string();
  if (!name)
    return fail(t, m.id, rpc_error::invalid_params, "Invalid params: name must be a string");
  call_request request{.id = *m.id, .tool = core_->find(*name), .revision = r};
  if (request.tool == nullptr)
    return fail(t, m.id, rpc_error::invalid_params,
                "Unknown tool: " + detail::excerpt(*name) + core_->unknown_tool_hint(*name));
  request.arguments = given(m.params, "arguments");
  if (request.arguments.exists() && !request.arguments.is(json_kind::object))
    return fail(t, m.id, rpc_error::invalid_params, "Invalid params: arguments must be an object");
  if (!may_be_task(t, m, meta, request)) return;
  start(t, m, std::move(request));
}

/// What is left: methods of extensions.
void session::call_method(transaction& t, const message& m, revision r) {
  call_request request{.id = *m.id, .method = core_->find_method(m.method, r), .revision = r};
  if (request.method == nullptr)
    return refuse(t, m.id, rpc_error::method_not_found, "Method not found");
  start(t, m, std::move(request));
}

void session::start(transaction& t, const message& m, call_request request) {
  request.read(m.params);
  if (request.revision != revision::r2026_07_28 && client_) {
    request.client = client_;
    request.client_name = client_->name;
    request.client_version = client_->version;
  }
  if (request.revision != revision::r2026_07_28) request.log_from = log_from_;
  if (core_->options.logging == client_logging::off) request.log_from.reset();
  t.calls.push_back(std::make_unique<active_call>(*t.events, *core_, std::move(request)));
  open_.add(*t.calls.back());
}

void session::listen(transaction& t, const message& m, json_view meta) {
  if (t.answer.is_batch())
    return fail(t, m.id, rpc_error::invalid_request,
                "Invalid request: subscriptions/listen must not be part of a batch");
  const json_view wished = m.params["notifications"];
  if (!wished.is(json_kind::object))
    return fail(t, m.id, rpc_error::invalid_params,
                "Invalid params: notifications must be an object");
  if (wished["taskIds"].exists() && tasks_ && !knows_tasks(meta)) return refuse_without_tasks(t, m);
  const json_view ids = given(wished, "taskIds");
  if (ids.exists() && !is_list_of_strings(ids))
    return fail(t, m.id, rpc_error::invalid_params,
                "Invalid params: taskIds must be an array of strings");
  const auto made = std::make_shared<subscription>(*m.id, t.events->while_subscribed());
  if (!open_.subscribe(made))
    return fail(t, m.id, rpc_error::invalid_params,
                "Invalid params: too many open subscriptions; cancel one first");
  t.opened = {.to = made,
              .of = made->is_heard() ? tasks_among(ids) : std::vector<std::shared_ptr<task>>()};
  json_writer& out = t.answer.next(); // no other kind of notification is ever sent
  out.begin_object().member("jsonrpc", "2.0");
  out.member("method", "notifications/subscriptions/acknowledged").key("params").begin_object();
  out.key("notifications").begin_object();
  if (!t.opened.of.empty()) {
    out.key("taskIds").begin_array();
    for (const auto& each : t.opened.of)
      out.string(each->id());
    out.end_array();
  }
  out.end_object().key("_meta").begin_object();
  out.key(meta_subscription_id).raw(m.id->json()).end_object();
  out.end_object().end_object();
  t.answer.keep();
}

/// `result` is what was asked for, as JSON.
void session::answer(transaction& t, const message& m, std::string_view result) const {
  json_writer& out = t.answer.next();
  out.reserve(result.size() + m.id->json().size() + 64);
  out.begin_object().member("jsonrpc", "2.0").key("id").raw(m.id->json());
  out.key("result").raw(result).end_object();
  if (t.answer.is_batch() && out.str().size() > t.answer.room(line_bytes_max()))
    return fail(t, m.id, rpc_error::invalid_request,
                "The result does not fit into the batch's line; ask for it in a line of its own");
  t.answer.keep();
}

// --- running -----------------------------------------------------------------------------------

void session::run(transaction& t, std::uint64_t token) {
  for (const auto& c : t.calls)
    run_one(t, *c, token);
}

void session::run_one(transaction& t, active_call& c, std::uint64_t token) {
  using clock = std::chrono::steady_clock;
  const bool observed = core_->options.observer != nullptr;
  const auto begin = observed ? clock::now() : clock::time_point{};
  const call_answer answer = c.silenced() ? tool_result{} : c.run(token);
  json_writer& out = t.answer.next();
  c.report.outcome =
      write_response(out, c.request(), answer, core_->modern_meta, t.answer.room(line_bytes_max()));
  c.report.bytes_out = out.str().size();
  open_.close(c);
  const auto* const begun = std::get_if<task_begun>(&answer);
  c.report.goes_on = begun != nullptr;
  if (begun != nullptr && c.silenced()) cancel_task(begun->id); // nobody knows of it
  if (c.silenced())
    c.report.outcome = call_outcome::cancelled;
  else
    t.answer.keep(refusal_in(answer));
  if (!observed) return;
  c.report.error = kind_of_failure(answer, c.report.outcome);
  c.report.duration_us = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - begin).count());
}

void session::finish(std::unique_ptr<transaction> t) {
  for (const auto& each : t->opened.of)
    each->follow(t->opened.to);
  t->opened = {};
  if (core_->options.observer)
    for (const auto& c : t->calls)
      if (!c->report.goes_on) c->tell_observer();
  if (t->answer.is_batch() || t->bytes > spare_call_bytes_max ||
      t->answer.bytes() > spare_call_bytes_max)
    return;
  t->calls.clear();
  t->answer.clear();
  t->events = nullptr;
  t->modern = false;
  const std::lock_guard lock(spare_guard_);
  if (spare_.size() < spare_calls_max) spare_.push_back(std::move(t));
}

std::unique_ptr<transaction> session::take_spare() {
  const std::lock_guard lock(spare_guard_);
  if (spare_.empty()) return std::make_unique<transaction>();
  std::unique_ptr<transaction> t = std::move(spare_.back());
  spare_.pop_back();
  return t;
}

// --- the end -----------------------------------------------------------------------------------

std::vector<std::string> session::end() {
  if (ends_tasks_) tasks_->close();
  std::vector<std::string> lines;
  for (const request_id& id : open_.cancel_all(active_call::canceller::end_of_connection)) {
    json_writer out;
    out.begin_object().member("jsonrpc", "2.0").key("id").raw(id.json());
    out.key("result").begin_object().member("resultType", "complete");
    out.key("_meta").begin_object().key(meta_server_info).raw(core_->server_info);
    out.key(meta_subscription_id).raw(id.json());
    out.end_object().end_object().end_object().end_line();
    lines.push_back(out.take());
  }
  return lines;
}

void session::abandon() {
  if (ends_tasks_) tasks_->close();
  (void)open_.cancel_all(active_call::canceller::client);
}

std::string session::refusal_of_long_line() const {
  return error_response({}, rpc_error::invalid_request,
                        "Invalid request: the line is longer than " +
                            std::to_string(core_->options.limits.message_in_bytes_max) + " bytes") +
         "\n";
}

std::size_t session::line_bytes_max() const noexcept {
  return static_cast<std::size_t>(core_->options.limits.message_out_bytes_max);
}

} // namespace paddock::mcp
