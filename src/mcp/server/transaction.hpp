// SPDX-License-Identifier: MIT
#pragma once

// One line from its arrival to its answer: what was parsed, the calls that it asks for, and the
// line that goes back. It belongs to one thread at a time.

#include "mcp/server/active_call.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

/// The line that answers a line: one response, or those of a batch as an array.
class reply {
public:
  /// From here on the responses are those of a batch.
  void begin_batch(std::size_t messages);
  [[nodiscard]] bool is_batch() const noexcept { return messages_ > 0; }
  /// How long the next response may be in a line of `line_bytes_max`: of a batch so that the others
  /// still get at least a short one.
  [[nodiscard]] std::size_t room(std::size_t line_bytes_max) const;

  /// Where to write the next response. One that was not kept is forgotten.
  [[nodiscard]] json_writer& next() {
    response_.clear();
    return response_;
  }
  /// Makes what was written part of the line. `refused` as below.
  void keep(std::optional<rpc_error> refused = {});
  /// Whether there is a response.
  [[nodiscard]] bool is_there() const noexcept { return kept_ > 0; }
  /// Ends the line. Returns it with its newline; empty when nothing is to be sent.
  [[nodiscard]] std::string_view end();
  /// The line refuses a request for what it is (no tool or method was asked), or for what its
  /// client cannot do. For transports that say such things twice.
  [[nodiscard]] std::optional<rpc_error> refused() const noexcept { return refused_; }

  /// A measure of the memory held.
  [[nodiscard]] std::size_t bytes() const noexcept { return response_.str().size(); }
  void clear();

private:
  json_writer response_;
  std::string batch_;        ///< without its end
  std::size_t messages_ = 0; ///< of the batch
  std::size_t kept_ = 0;
  std::optional<rpc_error> refused_;
};

class subscription;
class task;

/// A subscription that its line opens, and the tasks that it is to hear of once that is answered.
struct opened_subscription {
  std::shared_ptr<subscription> to;
  std::vector<std::shared_ptr<task>> of;
};

struct transaction {
  json_document document;
  std::size_t bytes = 0;         ///< of the line, as a measure of the memory held
  call_events* events = nullptr; ///< what the calls tell while they run
  bool modern = false;           ///< the transport knows the era; else the message tells
  std::vector<std::unique_ptr<active_call>> calls;
  opened_subscription opened;
  reply answer;
};

/// A request that was understood is answered with an error.
void fail(transaction& t, const std::optional<request_id>& id, rpc_error code,
          std::string_view text);
/// What cannot be answered for what it is, whatever it asks for. `data` is JSON or empty.
void refuse(transaction& t, const std::optional<request_id>& id, rpc_error code,
            std::string_view text, std::string_view data = {});
/// Whether the `_meta` of a request of 2026-07-28 declares the extension for tasks.
[[nodiscard]] bool knows_tasks(json_view meta);
/// The refusal of what only those may ask.
void refuse_without_tasks(transaction& t, const message& m);

} // namespace paddock::mcp
