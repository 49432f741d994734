// SPDX-License-Identifier: MIT
#pragma once

// What is served: the side of http::server that knows what requests mean. All of it is called by
// the server's one thread, and must not wait; what takes time runs elsewhere, and its answer is
// handed over in `deliver`.

#include "http/request_reader.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::http {

class connection;

/// What a head alone decides about its request.
struct judgement {
  int status = 0;          ///< of a refusal; 0: the request is read to its end
  std::string_view reason; ///< of a refusal: a sentence that says what to do
  std::string lines;       ///< of a refusal: whole header lines to add
  bool takes_body = false;
  bool is_probe = false; ///< answered at once, also when all connections are taken
  std::uint32_t tag = 0; ///< the application's own, kept in the connection until the answer
};

/// A refusal as a client gets it.
struct refusal_answer {
  std::string lines; ///< whole header lines to add
  std::string_view type;
  std::string body;
};

/// An answer that is not there yet.
class pending_answer {
public:
  /// What it means that the client closes its side of a connection over TCP.
  enum class client_loss : std::uint8_t {
    nothing,    ///< it may want the answer all the same
    gives_up,   ///< nobody waits any more, after a moment in which what is quick gets done
    ends_it_now ///< the same at once
  };
  virtual ~pending_answer() = default;
  [[nodiscard]] virtual client_loss when_client_leaves() const noexcept = 0;
  /// The server takes no more requests: what has no end by itself ends.
  virtual void finish() = 0;
  /// The server ends: whatever the answer is now, it is wanted.
  virtual void cancel() = 0;
  /// The connection is closed: nobody will read the answer.
  virtual void abandon() = 0;
};

class application {
public:
  virtual ~application() = default;

  /// Looks at a head, before any of the body is read.
  [[nodiscard]] virtual judgement judge(const request_head& head) = 0;
  /// Answers `c.reader.head()` with `c.body`: at once, or by setting `c.pending`. To be done by the
  /// functions of `server`.
  virtual void handle(connection& c) = 0;
  /// `head` may be of a request of which only a part could be read.
  [[nodiscard]] virtual refusal_answer refuse(const request_head& head,
                                              std::string_view reason) = 0;
  /// What a silent stream says from time to time, so that nobody in between takes it for dead.
  [[nodiscard]] virtual std::string_view sign_of_life() const noexcept = 0;

  /// Becomes readable when there is something to deliver.
  [[nodiscard]] virtual int wake_descriptor() const noexcept = 0;
  /// In every turn of the loop: the answers that have become ready.
  virtual void deliver() = 0;
  /// Forgets what is too old; returns when to be asked again, or `never`.
  [[nodiscard]] virtual std::int64_t expire(std::int64_t now_ms, std::int64_t never) = 0;

  /// What has been begun beside the pending answers of connections is cancelled.
  virtual void cancel_all() = 0;
  /// Whether nothing runs any more that may still have an answer.
  [[nodiscard]] virtual bool is_idle() const noexcept = 0;
};

} // namespace paddock::http
