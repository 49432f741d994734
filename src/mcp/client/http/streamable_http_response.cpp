// SPDX-License-Identifier: MIT
#include "mcp/client/http/streamable_http.hpp"
#include "mcp/client/refusal_text.hpp"

#include <paddock/mcp/json.hpp>

#include <algorithm>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::int64_t retry_ms_min = 100;
/// After its answer a stream has nothing more to say; a server that does not end it is not waited
/// for.
constexpr std::int64_t after_answer_ms = 1'000;
constexpr error missing_answer{error_code::io, 0, "http"};
constexpr error answer_too_large{error_code::too_large, 0, "http"};

bool is_encoded(const http_head& head) {
  const std::string_view encoding = head.header("content-encoding");
  return !encoding.empty() && encoding != "identity";
}

} // namespace

streamable_http::response::response(streamable_http& owner, role r, std::shared_ptr<job> j,
                                    stream_position from)
    : owner_(owner), role_(r), job_(std::move(j)), from_(std::move(from)),
      events_(owner.message_bytes_max_) {}

streamable_http::response::~response() {
  if (role_ != role::session_end) return;
  const std::lock_guard lock(owner_.guard_);
  owner_.session_ended_ = true;
  owner_.changed_.notify_all();
}

bool streamable_http::response::refuse(const error& reason, std::string_view why) {
  if (job_) owner_.refuse(*job_, status_, body_, reason, why);
  return false;
}

void streamable_http::response::on_connected() {
  if (expects_answer() && !owner_.closing_) owner_.sink_.on_connected(*job_->message.id);
}

bool streamable_http::response::on_head(const http_head& head) {
  status_ = head.status;
  if (role_ == role::session_end) return true;
  if (status_ >= 200 && status_ < 300) return on_success(head);
  if (role_ == role::listening) return false; // not every server has this stream
  if (role_ == role::message && job_->redirects < redirects_max)
    if (auto target = owner_.redirected(job_->target, head)) return on_redirect(*std::move(target));
  report_ = report_of(owner_.loop_->server(), head);
  content_ = content::refusal;
  return true;
}

bool streamable_http::response::on_redirect(std::string target) {
  ++job_->redirects;
  job_->target = std::move(target);
  if (owner_.holding_ && !job_->message.id) owner_.holding_ = false;
  owner_.submit(job_);
  return false;
}

bool streamable_http::response::on_success(const http_head& head) {
  if (role_ == role::message) {
    const std::string_view session = head.header("mcp-session-id");
    if (job_->message.method == "initialize") {
      owner_.target_ = job_->target;
      if (is_session_id(session)) owner_.session_ = session;
    }
    if (!job_->message.id) return on_accepted(head);
    if (status_ == 202 || status_ == 204)
      return refuse(missing_answer, "the server accepted the request, but gave no answer");
  }
  if (is_encoded(head))
    return refuse(missing_answer, "the response has a content encoding that was not requested");
  const std::string type = media_type_of(head);
  if (type == "text/event-stream")
    content_ = content::events;
  else if (type == "application/json" && role_ == role::message)
    content_ = content::json;
  else
    return refuse(missing_answer,
                  "the answer is of type \"" + type +
                      "\" and not JSON or a stream of events; is this the URL of an MCP "
                      "server?");
  return true;
}

/// A notification arrived; whatever the server has to say about it is of no interest.
bool streamable_http::response::on_accepted(const http_head& head) {
  release_held();
  return media_type_of(head) != "text/event-stream";
}

bool streamable_http::response::on_body(std::string_view piece) {
  switch (content_) {
  case content::ignored:
    ignored_bytes_ += piece.size();
    return ignored_bytes_ < refusal_bytes_max;
  case content::refusal:
    body_ += piece.substr(0, refusal_bytes_max - body_.size());
    if (body_.size() < refusal_bytes_max) return true;
    on_refusal();
    return false;
  case content::json:
    if (piece.size() > owner_.message_bytes_max_ - body_.size())
      return body_.clear(), refuse(answer_too_large, "the answer is larger than a message may be");
    body_ += piece;
    return true;
  case content::events:
    break;
  }
  if (events_.feed(piece, [this](const sse_event& event) { on_event(event); })) return true;
  return refuse(answer_too_large, "an event of the answer is larger than a message may be");
}

void streamable_http::response::on_event(const sse_event& event) {
  heard_something_ = true;
  if (event.data.empty() || event.name != "message") return;
  if (expects_answer() && !answered_ && answers(event.data, *job_->message.id)) {
    answered_ = true;
    const auto found = owner_.waiting_.find(job_->message.id->json());
    if (found == owner_.waiting_.end()) return; // nobody waits any more
    owner_.loop_->limit(found->second.transfer, after_answer_ms);
    owner_.waiting_.erase(found);
  }
  owner_.deliver(event.data);
}

streamable_http::stream_position streamable_http::response::position() const {
  const std::int64_t retry_ms = events_.retry_ms().value_or(from_.retry_ms);
  return {.last_event_id =
              events_.last_event_id().empty() ? from_.last_event_id : events_.last_event_id(),
          .retry_ms = std::max(retry_ms, retry_ms_min),
          .session = from_.session};
}

void streamable_http::response::on_end(const http_failure* failed) {
  if (role_ == role::session_end) return;
  if (content_ == content::events) return on_stream_end(failed);
  if (failed != nullptr) return on_failure(*failed);
  if (content_ == content::refusal) return on_refusal();
  if (content_ == content::json) on_json();
  release_held();
}

void streamable_http::response::on_failure(const http_failure& failed) {
  if (role_ == role::listening) return owner_.listen_again(position(), false);
  if (role_ == role::resumption && status_ == 0) return owner_.resume(job_, position());
  if (expects_answer() || status_ == 0) (void)refuse(failed.reason, failed.why);
  release_held();
}

void streamable_http::response::on_refusal() {
  if (role_ == role::message)
    owner_.on_refusal(job_, {.status = status_,
                             .body = std::move(body_),
                             .reason = report_.reason,
                             .why = report_.why});
  else
    (void)refuse(report_.reason, report_.why);
  release_held();
}

void streamable_http::response::on_json() {
  body_.reserve(body_.size() + json_padding);
  const bool is_answer = answers(body_, *job_->message.id);
  if (is_answer) owner_.waiting_.erase(job_->message.id->json());
  owner_.deliver(body_);
  if (!is_answer) (void)refuse(missing_answer, "the server's response does not answer the request");
}

/// The handshake is over, whatever became of the last message of it.
void streamable_http::response::release_held() {
  if (job_ && job_->message.method == "notifications/initialized") owner_.release_held();
}

void streamable_http::response::on_stream_end(const http_failure* failed) {
  if (role_ == role::listening) return owner_.listen_again(position(), heard_something_);
  if (answered_) return;
  if (!position().last_event_id.empty() && !job_->message.modern) {
    const auto found = owner_.waiting_.find(job_->message.id->json());
    if (found != owner_.waiting_.end() && heard_something_) found->second.resumptions = 0;
    return owner_.resume(job_, position());
  }
  if (failed != nullptr)
    (void)refuse(failed->reason, failed->why);
  else
    (void)refuse(missing_answer, "the stream of the answer ended without the answer");
}

} // namespace paddock::mcp
