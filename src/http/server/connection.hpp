// SPDX-License-Identifier: MIT
#pragma once

// One accepted connection: its socket, what was read and is not used yet, what is to be written. It
// never waits. Belongs to one thread.

#include "http/request_reader.hpp"
#include "http/response.hpp"
#include "http/server/application.hpp"
#include "sys/socket.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace paddock::http {

class connection {
public:
  enum class phase : std::uint8_t {
    idle,      ///< between requests
    head,      ///< a part of a head came
    body,      ///< the head is accepted, the body is not complete
    open,      ///< the request is being answered
    lingering, ///< all is written; what still comes is dropped, so that the answer arrives
  };

  connection(file_descriptor socket, std::uint64_t number, request_reader::limits l,
             std::int64_t now_ms);

  enum class received : std::uint8_t { some, nothing, ended, broken };
  /// Appends to `unused`, or drops it when lingering.
  [[nodiscard]] received receive(std::span<char> buffer);
  /// Adds to the output and writes what the socket takes.
  void write(std::string_view bytes, std::int64_t now_ms);
  void flush(std::int64_t now_ms);
  [[nodiscard]] std::size_t unwritten() const noexcept { return out_.size() - out_done_; }
  /// What to wait for now.
  [[nodiscard]] sys::readiness wanted() const noexcept;
  void enter(phase p, std::int64_t now_ms) noexcept;
  /// Memory held for this client.
  [[nodiscard]] std::size_t bytes_held() const noexcept;
  [[nodiscard]] framing stream_framing() const noexcept;

  const file_descriptor socket;
  const std::uint64_t number;
  request_reader reader;
  std::string unused; ///< bytes read beyond the request that is open
  std::string body;
  std::uint32_t tag = 0; ///< of the request being read: what its head's judgement says
  /// Of a request in the phase `open` whose answer is not there yet.
  std::shared_ptr<pending_answer> pending;
  phase in = phase::idle;
  bool streaming = false;      ///< the head of a stream is written
  bool last = false;           ///< no further request is taken
  bool peer_done = false;      ///< the client sends no more
  bool gone = false;           ///< nothing can be written any more
  bool reserved = false;       ///< beyond the places for all: for a probe only
  bool watched = true;         ///< its socket is waited for
  std::int64_t since_ms;       ///< when the phase began
  std::int64_t written_ms = 0; ///< when the client last took a byte, or the output began
  /// When what is pending is given up, because its client went away.
  std::optional<std::int64_t> cancel_ms;
  sys::readiness registered;
  std::size_t counted = 0; ///< of bytes_held, in the server's sum

private:
  std::string out_;
  std::size_t out_done_ = 0;
};

} // namespace paddock::http
