// SPDX-License-Identifier: MIT
#pragma once

// Streamable HTTP: each message is the body of a POST, and its answer the body of the response, as
// JSON or as a stream of events. Up to 2025-11-25 there may be a session, a stream that the server
// speaks on by itself, and streams that are taken up again after they broke off.
//
// A server that was restarted knows no session any more. It is asked for a new one, with the same
// handshake, and what it had refused for the old one is sent again: that was not executed. Nothing
// else is ever sent twice.
//
// Everything but the constructor, `send`, `forget` and `close` runs on the loop's thread.

#include "mcp/client/client_transport.hpp"
#include "mcp/client/http/http_message.hpp"
#include "mcp/client/http/sse_parser.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace paddock::mcp {

class streamable_http final : public client_transport {
public:
  streamable_http(http_headers headers, const client_options& options, incoming& sink);
  ~streamable_http() override { close(); }
  [[nodiscard]] result<void> start(http_origin server);

  [[nodiscard]] result<void, detailed_error> send(const outgoing& message) override;
  void forget(const request_id& id) noexcept override;
  void close() noexcept override;

private:
  class response;
  class session_check;
  class session_renewal;
  struct job {
    http_message message;
    in_flight counted;
    std::string target{}; ///< empty for where the session is
    int redirects = 0;
    std::string session{};      ///< that it was sent in
    bool is_sent_again = false; ///< because its session was refused
  };
  /// What the server answered instead of an answer.
  struct refusal {
    int status = 0;
    std::string body;
    error reason{};
    std::string why;
  };
  /// A request that somebody waits for.
  struct waiting {
    std::uint64_t transfer = 0; ///< 0 while its stream waits to be taken up again
    int resumptions = 0;        ///< since the last event
  };
  /// Where a stream can be taken up.
  struct stream_position {
    std::string last_event_id{};
    std::int64_t retry_ms = 1'000;
    unsigned session = 0; ///< as in listening_in_
  };

  /// Where a session is asked for.
  struct session_begin {
    std::string target;
    int redirects = 0;        ///< that led here
    bool is_from_url = false; ///< that of the configuration, and where it led
  };

  void submit(std::shared_ptr<job> j);
  void release_held();
  void resume(std::shared_ptr<job> j, const stream_position& from);
  void listen(const stream_position& from);
  void listen_again(const stream_position& from, bool heard_something);
  void drop(const request_id& id);
  void end_session();

  // --- a new session (streamable_http_session.cpp)
  void on_refusal(const std::shared_ptr<job>& j, refusal r);
  void renew_session(std::shared_ptr<job> j);
  void send_again(std::shared_ptr<job> j);
  void begin_session(session_begin from);
  void on_session_renewed(std::string_view session, const std::string& target);
  void on_session_refused(const refusal& r, const session_begin& from);
  void on_session_not_renewed(const refusal& r);
  [[nodiscard]] http_headers headers_for(std::string_view accept,
                                         const http_message* message) const;
  [[nodiscard]] http_request get_request(const std::string& target,
                                         std::string_view last_event_id) const;
  [[nodiscard]] std::optional<std::string> redirected(const std::string& from,
                                                      const http_head& head) const;

  void deliver(std::string_view json);
  void refuse(const job& j, int status, std::string_view body, const error& reason,
              std::string_view why);

  const http_headers headers_;
  const std::size_t message_bytes_max_;
  const std::int64_t close_ms_;
  incoming& sink_;
  std::atomic<std::size_t> in_flight_{0};

  // Of the loop's thread.
  std::string target_; ///< where the server answered `initialize`: it may have led there
  std::string session_;
  std::string revision_;         ///< of the session
  std::string initialize_;       ///< the request that began the session
  std::string initialized_;      ///< the notification that ended the handshake
  bool renewing_ = false;        ///< what is sent meanwhile is held
  bool session_is_lost_ = false; ///< and has not been renewed yet
  std::unordered_map<std::string, waiting> waiting_;
  std::deque<std::shared_ptr<job>> held_; ///< until the server knows that it is initialised
  bool holding_ = false;
  bool listening_ = false;
  std::uint64_t listening_transfer_ = 0;
  unsigned listening_in_ = 0; ///< counts sessions, so that what belonged to another is known
  int listen_failures_ = 0;
  bool closing_ = false;

  std::mutex guard_;
  std::condition_variable changed_;
  bool closed_ = false;        // under guard_
  bool session_ended_ = false; // under guard_

  std::unique_ptr<http_loop> loop_; // last: its thread uses all of the above
};

/// One request and what becomes of it.
class streamable_http::response final : public response_handler {
public:
  enum class role : std::uint8_t {
    message,     ///< a POST
    resumption,  ///< a GET that goes on with a message's stream
    listening,   ///< a GET for what the server says by itself
    session_end, ///< a DELETE
  };

  /// `j` is null for listening and session_end.
  response(streamable_http& owner, role r, std::shared_ptr<job> j, stream_position from = {});
  ~response() override;

  void on_connected() override;
  [[nodiscard]] bool on_head(const http_head& head) override;
  [[nodiscard]] bool on_body(std::string_view piece) override;
  void on_end(const http_failure* failed) override;

private:
  enum class content : std::uint8_t { ignored, json, events, refusal };

  [[nodiscard]] bool on_redirect(std::string target);
  [[nodiscard]] bool on_accepted(const http_head& head);
  [[nodiscard]] bool on_success(const http_head& head);
  [[nodiscard]] bool refuse(const error& reason, std::string_view why);
  void on_event(const sse_event& event);
  void on_stream_end(const http_failure* failed);
  void on_failure(const http_failure& failed);
  void on_refusal();
  void on_json();
  void release_held();
  [[nodiscard]] stream_position position() const;
  [[nodiscard]] bool expects_answer() const { return job_ && job_->message.id; }

  streamable_http& owner_;
  const role role_;
  const std::shared_ptr<job> job_;
  const stream_position from_;
  content content_ = content::ignored;
  int status_ = 0;
  std::string body_;
  status_report report_;
  sse_parser events_;
  std::size_t ignored_bytes_ = 0;
  bool heard_something_ = false;
  bool answered_ = false;
};

} // namespace paddock::mcp
