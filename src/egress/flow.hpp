// SPDX-License-Identifier: MIT
#pragma once

// One connection of a command: checks the greeting, connects outside, relays both ways. Never
// blocks; the gateway calls it when a side is ready.

#include "egress/client_hello.hpp"
#include "egress/http_guard.hpp"
#include "exec/protocol/egress_protocol.hpp"
#include "sys/gateway_socket.hpp"

#include <paddock/base/file_descriptor.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::egress {

/// Where a connection goes, known before its first byte.
struct destination {
  std::string host; ///< a name, or an address that is listed
  std::uint16_t port = 0;
  /// How the client must prove that it means the host.
  enum class proof : std::uint8_t { none, tls, http };
  proof wanted = proof::none;
  bool or_ssh = false; ///< SSH names no host: then the address is all that counts
};

class flow {
public:
  enum class stage : std::uint8_t { greeting, resolving, connecting, asking_proxy, relaying, over };
  /// Events to wait for at a side.
  struct interest {
    bool read = false;
    bool write = false;
    friend bool operator==(const interest&, const interest&) = default;
  };

  flow(file_descriptor inside, destination to, std::int64_t now_ms);

  /// The side of the command, or the other, is ready.
  void inside_ready(const sys::readiness& what, std::span<char> scratch);
  void outside_ready(const sys::readiness& what, std::span<char> scratch);
  /// Addresses to try in order: of the host, or of the proxy.
  void connect_to(std::vector<sys::endpoint> places, bool by_proxy);
  void time_passed(std::int64_t now_ms);
  /// Resets both sides; `why` is the outcome.
  void refuse(sys::egress_kind why, std::string detail = {});

  /// Bytes that the command has sent, and that are not yet sent on.
  [[nodiscard]] bool has_rest() const;
  [[nodiscard]] stage now() const noexcept { return stage_; }
  [[nodiscard]] const destination& to() const noexcept { return to_; }
  [[nodiscard]] int inside() const noexcept { return inside_.get(); }
  [[nodiscard]] int outside() const noexcept { return outside_.get(); }
  [[nodiscard]] interest inside_interest() const;
  [[nodiscard]] interest outside_interest() const;
  /// Valid once it is relaying or over.
  [[nodiscard]] sys::egress_kind outcome() const noexcept { return outcome_; }
  [[nodiscard]] const std::string& detail() const noexcept { return detail_; }
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
  [[nodiscard]] std::uint64_t received() const noexcept { return received_; }

private:
  void pass_on(std::string_view bytes, bool to_inside);
  void take_from_inside(std::string_view bytes);
  void judge(std::string_view bytes);
  void take_answer(std::string_view bytes);
  void refuse_second();
  void greet();
  void refuse_greeting();
  void try_next();
  void connected();
  void read_proxy_answer(std::string_view bytes);
  void read_side(bool from_inside, std::span<char> scratch);
  void write_side(bool to_inside);
  void end_if_done();

  file_descriptor inside_;
  file_descriptor outside_;
  destination to_;
  std::optional<http_guard> guard_;
  std::optional<second_hello> second_;
  stage stage_ = stage::greeting;
  std::string greeting_; ///< bytes not judged yet
  std::string to_outside_;
  std::string to_inside_;
  std::string proxy_answer_;
  std::vector<sys::endpoint> places_;
  std::size_t next_place_ = 0;
  bool by_proxy_ = false;
  bool is_greeted_ = false;  ///< it has sent something
  bool inside_done_ = false; ///< it sends no more
  bool outside_done_ = false;
  bool inside_shut_ = false; ///< the end was passed on to the command
  bool outside_shut_ = false;
  std::int64_t began_ms_ = 0;
  std::int64_t moved_ms_ = 0; ///< last progress
  std::int64_t now_ms_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t received_ = 0;
  sys::egress_kind outcome_ = sys::egress_kind::connected;
  std::string detail_;
};

} // namespace paddock::egress
