// SPDX-License-Identifier: MIT
#include "mcp/client/http/http_with_sse.hpp"

#include "mcp/client/refusal_text.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::int64_t post_ms = 30'000;
constexpr error broken{error_code::io, 0, "http"};

http_headers with(http_headers headers, std::string_view name, std::string_view value) {
  headers.emplace_back(name, value);
  return headers;
}

} // namespace

/// The GET whose answer goes on until the connection is closed.
class http_with_sse::stream final : public response_handler {
public:
  stream(http_with_sse& owner, int redirects)
      : owner_(owner), redirects_(redirects), events_(owner.message_bytes_max_) {}

  bool on_head(const http_head& head) override {
    if (head.status == 200 && media_type_of(head) == "text/event-stream" &&
        head.header("content-encoding").empty())
      return true;
    if (head.status == 200) {
      owner_.on_stream_gone({broken, "the answer is no stream of events; is this the URL of an MCP "
                                     "server that speaks HTTP with SSE?"});
      return false;
    }
    const auto target = same_origin_target(owner_.stream_url(), head);
    if (target && redirects_ < redirects_max) {
      owner_.open_stream(*target, redirects_ + 1);
      return false;
    }
    refusal_ = report_of(owner_.loop_->server(), head);
    return true;
  }

  bool on_body(std::string_view piece) override {
    if (refusal_) {
      body_ += piece.substr(0, shown_bytes_max - body_.size());
      if (body_.size() < shown_bytes_max) return true;
      on_end(nullptr);
      return false;
    }
    const bool good = events_.feed(piece, [this](const sse_event& event) {
      if (event.name == "endpoint")
        owner_.on_endpoint(event.data);
      else if (event.name == "message" && !event.data.empty())
        owner_.sink_.on_message(event.data);
    });
    if (const auto asked_ms = events_.retry_ms()) owner_.retry_ms_.store(*asked_ms);
    if (!good)
      owner_.on_stream_gone({{error_code::too_large, 0, "sse"},
                             "the server sent an event that is larger than a message may be"});
    return good;
  }

  void on_end(const http_failure* failed) override {
    if (refusal_) {
      const std::string said = refusal_text(body_);
      owner_.on_stream_gone(
          {refusal_->reason, refusal_->why + (said.empty() ? "" : "; it says: " + said)});
    } else if (failed != nullptr)
      owner_.on_stream_gone({failed->reason, failed->why});
    else
      owner_.on_stream_gone({broken, "the server ended the stream of events"});
  }

private:
  static constexpr std::size_t shown_bytes_max = std::size_t{16} * 1024;

  http_with_sse& owner_;
  const int redirects_;
  sse_parser events_;
  std::optional<status_report> refusal_;
  std::string body_;
};

/// A POST; what it brings is on the stream, so only a refusal is of interest.
class http_with_sse::post final : public response_handler {
public:
  post(http_with_sse& owner, http_message m, in_flight counted)
      : owner_(owner), message_(std::move(m)), counted_(std::move(counted)) {}

  bool on_head(const http_head& head) override {
    status_ = head.status;
    refused_ = status_ < 200 || status_ >= 300;
    if (refused_) report_ = report_of(owner_.loop_->server(), head);
    return true;
  }
  bool on_body(std::string_view piece) override {
    body_ += piece.substr(0, refusal_bytes_max - body_.size());
    if (body_.size() < refusal_bytes_max) return true;
    on_end(nullptr);
    return false;
  }
  void on_end(const http_failure* failed) override {
    // Once the head said that the message was accepted, the answer comes elsewhere.
    if (failed != nullptr && status_ == 0)
      refuse(failed->reason, failed->why);
    else if (refused_)
      refuse(report_.reason, report_.why);
  }

private:
  void refuse(const error& reason, const std::string& why) {
    if (message_.id)
      owner_.sink_.on_refused(*message_.id, status_, body_, reason, why);
    else
      owner_.sink_.on_log(why + " (" + message_.method + ")");
  }

  http_with_sse& owner_;
  const http_message message_;
  const in_flight counted_;
  int status_ = 0;
  bool refused_ = false;
  status_report report_;
  std::string body_;
};

http_with_sse::http_with_sse(http_headers headers, const client_options& options, incoming& sink)
    : headers_(std::move(headers)), message_bytes_max_(options.message_bytes_max), sink_(sink) {}

result<void, detailed_error> http_with_sse::start(http_origin server, std::int64_t timeout_ms) {
  PADDOCK_TRY(loop_, http_loop::start(std::move(server)));
  loop_->post([this] { open_stream(loop_->server().target, 0); });
  std::unique_lock lock(guard_);
  if (!changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms),
                         [this] { return start_result_.has_value(); }))
    return detailed_error({error_code::timed_out, 0, "sse"},
                          "the server did not say in time where messages go");
  return *start_result_;
}

url http_with_sse::stream_url() const {
  url out = loop_->server();
  out.target = stream_target_;
  return out;
}

void http_with_sse::open_stream(const std::string& target, int redirects) {
  stream_target_ = target;
  http_request request{
      .method = "GET",
      .target = target,
      .headers = with(with(headers_, "Accept", "text/event-stream"), "Accept-Encoding", "identity"),
      .body = {}};
  loop_->send(std::move(request), std::make_unique<stream>(*this, redirects));
}

void http_with_sse::settle(result<void, detailed_error> how) {
  const std::lock_guard lock(guard_);
  if (start_result_) return;
  start_result_ = std::move(how);
  changed_.notify_all();
}

void http_with_sse::on_endpoint(std::string_view reference) {
  const url server = stream_url();
  const auto to = resolve_reference(server, reference);
  if (!to || !same_origin(server, *to))
    return settle(detailed_error({error_code::denied_by_policy, 0, "sse"},
                                 "the server asks for messages to be sent to another server"));
  // Only the first one counts, and nothing was posted before it.
  if (post_target_.empty()) post_target_ = to->target;
  settle({});
}

void http_with_sse::on_stream_gone(detailed_error reason) {
  {
    const std::lock_guard lock(guard_);
    if (std::exchange(gone_, true)) return;
    if (!start_result_ || !*start_result_) {
      if (!start_result_) {
        start_result_ = std::move(reason);
        changed_.notify_all();
      }
      return;
    }
  }
  sink_.on_lost(reason, explain(reason));
}

result<void, detailed_error> http_with_sse::send(const outgoing& message) {
  {
    const std::lock_guard lock(guard_);
    if (gone_)
      return detailed_error(broken, "the server ended the stream of events; connect again");
  }
  PADDOCK_TRY(const auto counted, in_flight::begin(in_flight_));
  loop_->post([this, m = http_message(message), counted] { submit(m, counted); });
  return {};
}

void http_with_sse::submit(const http_message& m, const in_flight& counted) {
  http_request request{.method = "POST",
                       .target = post_target_,
                       .headers = with(with(headers_, "Content-Type", "application/json"),
                                       "Accept-Encoding", "identity"),
                       .body = m.json,
                       .timeout_ms = post_ms};
  loop_->send(std::move(request), std::make_unique<post>(*this, m, counted));
}

std::optional<std::int64_t> http_with_sse::retry_ms() const noexcept {
  const std::int64_t asked_ms = retry_ms_.load();
  return asked_ms < 0 ? std::nullopt : std::optional(asked_ms);
}

void http_with_sse::close() noexcept {
  {
    const std::lock_guard lock(guard_);
    if (std::exchange(closed_, true)) return;
  }
  if (loop_) loop_->stop();
}

opened_transport open_http_with_sse(http_origin server, http_headers headers,
                                    const client_options& options, incoming& sink) {
  auto transport = std::make_unique<http_with_sse>(std::move(headers), options, sink);
  PADDOCK_CHECK(transport->start(std::move(server), options.connect_timeout_ms));
  return std::unique_ptr<client_transport>(std::move(transport));
}

} // namespace paddock::mcp
