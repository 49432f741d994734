// SPDX-License-Identifier: MIT
#pragma once

// One POST with a JSON-RPC message, and how what its call says on any thread gets to the thread
// that owns the connection.

#include "mcp/server/session.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

class exchange;
struct legacy_session;

struct letter {
  enum class kind : std::uint8_t {
    event,   ///< a message before the response
    answer,  ///< the response
    refusal, ///< the response, which `code` decides the status of
    done,    ///< the call has returned; there may have been no response
  };
  std::shared_ptr<exchange> from;
  kind what = kind::done;
  rpc_error code{};
  std::string text;
};

/// Letters in the order in which they were posted.
class mailbox {
public:
  explicit mailbox(file_descriptor wake) : wake_(std::move(wake)) {}
  void post(letter l);
  [[nodiscard]] std::vector<letter> take();
  /// Nobody takes letters any more; they would keep each other alive through their senders.
  void close();
  /// Readable while there may be letters.
  [[nodiscard]] int descriptor() const noexcept { return wake_.get(); }

private:
  const file_descriptor wake_;
  std::mutex guard_;
  std::vector<letter> letters_;
  bool closed_ = false;
};

enum class era : std::uint8_t { legacy, modern };

class exchange final : public channel, public std::enable_shared_from_this<exchange> {
public:
  exchange(std::shared_ptr<mailbox> to, std::uint64_t connection_number)
      : connection(connection_number), to_(std::move(to)) {}

  void send(std::string_view line) override;
  void offer(std::string_view line) override;
  void refuse(std::string_view line, rpc_error code) override;
  void may_block(std::uint64_t) override {} // calls never run on the thread that reads
  void done();
  /// An event of that many bytes was taken out of the mailbox.
  void event_taken(std::size_t bytes) noexcept { events_waiting_.fetch_sub(bytes); }

  const std::uint64_t connection;

  // Of the thread that owns the connection.
  era speaks = era::legacy;
  std::shared_ptr<session> talk;
  std::shared_ptr<legacy_session> owner; ///< in the legacy era
  std::string new_session;               ///< the id to announce
  bool accepts_json = true;
  bool accepts_events = true;
  bool listening = false; ///< an open subscription: messages are events until the end
  bool streaming = false; ///< the head of an event stream is written
  bool replied = false;   ///< a response was posted during `session::accept`

private:
  void post(letter::kind what, std::string_view line, rpc_error code = {});

  const std::shared_ptr<mailbox> to_;
  std::atomic<std::size_t> events_waiting_{0};
};

} // namespace paddock::mcp
