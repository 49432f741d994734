// SPDX-License-Identifier: MIT
#pragma once

// Server-sent events (the HTML standard, "event stream interpretation"), in bounded memory. Pure:
// someone else reads the bytes, in pieces of any size.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace paddock::mcp {

/// Its views are valid during the callback, and `json_padding` readable bytes follow `data`.
struct sse_event {
  std::string_view name; ///< of the field `event`; "message" where there was none
  std::string_view data;
};

class sse_parser {
public:
  /// `event_bytes_max` bounds the data of one event, and each line.
  explicit sse_parser(std::size_t event_bytes_max) : event_bytes_max_(event_bytes_max) {}

  /// Calls `on_event` for each event that `bytes` completes. False when an event or a line is too
  /// large: the stream is over then, and what follows is ignored.
  [[nodiscard]] bool feed(std::string_view bytes,
                          const std::function<void(const sse_event&)>& on_event);

  /// Of the last event that was complete; empty when there was none.
  [[nodiscard]] const std::string& last_event_id() const noexcept { return last_id_; }
  /// How long the server asks to wait before the stream is opened again.
  [[nodiscard]] std::optional<std::int64_t> retry_ms() const noexcept { return retry_ms_; }

private:
  [[nodiscard]] bool append(std::string_view part);
  [[nodiscard]] bool end_line(const std::function<void(const sse_event&)>& on_event);
  [[nodiscard]] bool field(std::string_view name, std::string_view value);
  void dispatch(const std::function<void(const sse_event&)>& on_event);

  std::size_t event_bytes_max_;
  std::string line_;
  std::string data_; // each line of it followed by '\n'
  std::string name_;
  std::string id_;
  std::string last_id_;
  std::optional<std::int64_t> retry_ms_;
  bool first_line_ = true;
  bool after_cr_ = false;
  bool too_large_ = false;
};

} // namespace paddock::mcp
