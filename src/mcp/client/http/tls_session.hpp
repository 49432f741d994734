// SPDX-License-Identifier: MIT
#pragma once

// TLS as a translation of bytes: what comes from the network goes in, what has to be sent comes
// out, and nothing here touches a socket. The server's certificate is always verified, against the
// system's authorities (or those that the environment variables SSL_CERT_FILE and SSL_CERT_DIR
// name) and the host of the URL.

#include "mcp/client/http/url.hpp"

#include <paddock/base/result.hpp>

#include <memory>
#include <string>
#include <string_view>

namespace paddock::mcp {

/// What all sessions of a client share; immutable.
class tls_context {
public:
  /// Error: io, when the library or the authorities can't be loaded.
  [[nodiscard]] static result<tls_context> create();
  tls_context(tls_context&&) noexcept;
  tls_context& operator=(tls_context&&) noexcept;
  ~tls_context();

private:
  friend class tls_session;
  struct state;
  explicit tls_context(std::unique_ptr<state> s) noexcept;
  std::unique_ptr<state> state_;
};

class tls_session {
public:
  [[nodiscard]] static result<tls_session> start(const tls_context& context, const url& to);
  tls_session(tls_session&&) noexcept;
  tls_session& operator=(tls_session&&) noexcept;
  ~tls_session();

  /// Bytes from the network. What they say is appended to `plain`. Errors: io; `problem` says what
  /// is wrong, for people.
  [[nodiscard]] result<void> receive(std::string_view from_network, std::string& plain,
                                     std::string& problem);
  /// Goes on with the handshake; true once it is done.
  [[nodiscard]] result<bool> handshake(std::string& problem);
  /// Precondition: the handshake is done.
  [[nodiscard]] result<void> send(std::string_view plain, std::string& problem);
  /// Says that nothing more will be sent.
  void say_goodbye() noexcept;
  /// Appends what has to go to the network now.
  void take_output(std::string& to_network);
  /// Whether the server said that nothing more will come; an end without this is a truncation.
  [[nodiscard]] bool ended() const noexcept;

private:
  struct state;
  explicit tls_session(std::unique_ptr<state> s) noexcept;
  std::unique_ptr<state> state_;
};

} // namespace paddock::mcp
