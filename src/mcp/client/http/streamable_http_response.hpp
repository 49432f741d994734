// SPDX-License-Identifier: MIT
#pragma once

// One request of Streamable HTTP and what becomes of it.

#include "mcp/client/http/streamable_http.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::mcp {

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
