// SPDX-License-Identifier: MIT

// How a session that the server has forgotten is begun anew. A status of 404 says that it is
// forgotten; one of 400 may say that, or that the request is wrong, so a ping in the same session
// tells the two apart.
//
// It is begun where the old one was. A redirect may have led there, to a node that is no more: then
// it is begun at the URL of the configuration, which leads to one that is.

#include "mcp/client/http/streamable_http.hpp"
#include "mcp/client/refusal_text.hpp"

#include <paddock/mcp/json.hpp>

#include <algorithm>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::int64_t handshake_ms = 30'000;
constexpr int status_bad_request = 400;
constexpr int status_not_found = 404;
// No number: those belong to whoever sends requests through the transport.
constexpr std::string_view ping = R"({"jsonrpc":"2.0","id":"session-check","method":"ping"})";
constexpr std::string_view tools_changed =
    R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";

http_message handshake_message(std::string json, std::string_view method,
                               std::string_view revision) {
  http_message made({.json = {}, .method = method, .name = {}, .revision = revision});
  made.json = std::move(json);
  return made;
}

} // namespace

/// Asks whether the server still knows the session in which it refused a request.
class streamable_http::session_check final : public response_handler {
public:
  session_check(streamable_http& owner, std::shared_ptr<job> j, refusal r)
      : owner_(owner), job_(std::move(j)), refusal_(std::move(r)) {}

  bool on_head(const http_head& head) override {
    if (head.status == status_bad_request || head.status == status_not_found)
      owner_.send_again(job_);
    else
      owner_.refuse(*job_, refusal_.status, refusal_.body, refusal_.reason, refusal_.why);
    return false;
  }
  bool on_body(std::string_view) override { return false; }
  void on_end(const http_failure*) override {
    owner_.refuse(*job_, refusal_.status, refusal_.body, refusal_.reason, refusal_.why);
  }

private:
  streamable_http& owner_;
  const std::shared_ptr<job> job_;
  const refusal refusal_;
};

/// The same `initialize` as before, whose answer nobody else waits for.
class streamable_http::session_renewal final : public response_handler {
public:
  session_renewal(streamable_http& owner, session_begin from)
      : owner_(owner), from_(std::move(from)), events_(owner.message_bytes_max_) {}

  bool on_head(const http_head& head) override {
    if (from_.redirects < redirects_max)
      if (const auto target = owner_.redirected(from_.target, head)) {
        owner_.begin_session({.target = *target,
                              .redirects = from_.redirects + 1,
                              .is_from_url = from_.is_from_url});
        return false;
      }
    is_refused_ = head.status < 200 || head.status >= 300;
    if (is_refused_) {
      const status_report report = report_of(owner_.loop_->server(), head);
      refusal_ = {.status = head.status, .body = {}, .reason = report.reason, .why = report.why};
      return true;
    }
    if (const auto id = head.header("mcp-session-id"); is_session_id(id)) session_ = id;
    is_stream_ = media_type_of(head) == "text/event-stream";
    return true;
  }
  bool on_body(std::string_view piece) override {
    if (!is_refused_ && is_stream_) {
      const bool good = events_.feed(piece, [this](const sse_event& event) {
        if (!is_answered_ && event.name == "message" && !event.data.empty()) take(event.data);
      });
      if (!good) fail("an event of its answer is larger than a message may be");
      return good && !is_answered_;
    }
    const std::size_t bytes_max = is_refused_ ? refusal_bytes_max : owner_.message_bytes_max_;
    body_ += piece.substr(0, bytes_max - body_.size());
    if (body_.size() < bytes_max) return true;
    on_end(nullptr);
    return false;
  }
  void on_end(const http_failure* failed) override {
    if (is_answered_) return;
    if (is_refused_) {
      refusal_.body = std::move(body_);
      return owner_.on_session_refused(refusal_, from_);
    }
    if (failed != nullptr)
      return owner_.on_session_refused(
          {.status = 0, .body = {}, .reason = failed->reason, .why = failed->why}, from_);
    if (!is_stream_) take(body_);
    if (!is_answered_) fail("its answer to initialize is none");
  }

private:
  void take(std::string_view json) {
    json_document document;
    const auto root = document.parse(json);
    if (!root || !(*root)["result"].is(json_kind::object)) return;
    is_answered_ = true;
    // What was agreed with the old one is in every header and message from here on.
    if ((*root)["result"]["protocolVersion"].string() != owner_.revision_)
      return fail("it speaks another revision now; connect again");
    owner_.on_session_renewed(session_, from_.target);
  }
  void fail(std::string_view why) {
    is_answered_ = true;
    owner_.on_session_not_renewed(
        {.status = 0, .body = {}, .reason = {error_code::io, 0, "http"}, .why = std::string(why)});
  }

  streamable_http& owner_;
  const session_begin from_;
  std::string session_;
  std::string body_;
  sse_parser events_;
  refusal refusal_;
  bool is_refused_ = false;
  bool is_stream_ = false;
  bool is_answered_ = false;
};

/// A request was refused in HTTP, possibly for its session.
void streamable_http::on_refusal(const std::shared_ptr<job>& j, refusal r) {
  const http_message& m = j->message;
  const bool may_be_session = (r.status == status_not_found || r.status == status_bad_request) &&
                              m.id && !j->session.empty() && !j->is_sent_again &&
                              !initialized_.empty();
  if (!may_be_session || closing_) return refuse(*j, r.status, r.body, r.reason, r.why);
  if (r.status == status_not_found || j->session != session_) return send_again(j);
  http_headers headers = headers_for("application/json, text/event-stream", nullptr);
  headers.emplace_back("Content-Type", "application/json");
  http_request request{.method = "POST",
                       .target = j->target,
                       .headers = std::move(headers),
                       .body = std::string(ping),
                       .timeout_ms = handshake_ms};
  loop_->send(std::move(request), std::make_unique<session_check>(*this, j, std::move(r)));
}

/// Once, in another session than before.
void streamable_http::send_again(std::shared_ptr<job> j) {
  if (closing_ || !waiting_.contains(j->message.id->json())) return; // nobody waits any more
  j->is_sent_again = true;
  j->target.clear();
  j->redirects = 0;
  if (renewing_ || j->session == session_) return renew_session(std::move(j));
  submit(std::move(j)); // somebody else has renewed it
}

void streamable_http::renew_session(std::shared_ptr<job> j) {
  held_.push_back(std::move(j));
  if (std::exchange(renewing_, true)) return;
  holding_ = true;
  session_is_lost_ = true;
  session_.clear();
  ++listening_in_;
  loop_->abandon(std::exchange(listening_transfer_, 0));
  listening_ = false;
  listen_failures_ = 0;
  begin_session({.target = target_, .is_from_url = target_ == loop_->server().target});
}

void streamable_http::begin_session(session_begin from) {
  const http_message message = handshake_message(initialize_, "initialize", {});
  http_request request{.method = "POST",
                       .target = from.target,
                       .headers = headers_for("application/json, text/event-stream", &message),
                       .body = message.json,
                       .timeout_ms = handshake_ms};
  loop_->send(std::move(request), std::make_unique<session_renewal>(*this, std::move(from)));
}

void streamable_http::on_session_renewed(std::string_view session, const std::string& target) {
  renewing_ = false;
  holding_ = false;
  session_is_lost_ = false;
  session_ = session;
  target_ = target;
  if (closing_) return;
  sink_.on_log("the server had forgotten the session; a new one was begun");
  auto end = std::make_shared<job>(
      job{handshake_message(initialized_, "notifications/initialized", revision_), in_flight()});
  // The held ones follow when the server has accepted it.
  submit(std::move(end));
  sink_.on_message(tools_changed); // it may be another version of itself
}

/// There may be none where the last one was.
void streamable_http::on_session_refused(const refusal& r, const session_begin& from) {
  if (from.is_from_url || closing_) return on_session_not_renewed(r);
  begin_session({.target = loop_->server().target, .is_from_url = true});
}

void streamable_http::on_session_not_renewed(const refusal& r) {
  renewing_ = false;
  holding_ = false;
  const std::string why = "the server has forgotten the session, and no new one can be begun: ";
  for (const auto& j : std::exchange(held_, {}))
    refuse(*j, r.status, r.body, r.reason, why + r.why);
}

} // namespace paddock::mcp
