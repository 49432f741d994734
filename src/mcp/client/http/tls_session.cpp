// SPDX-License-Identifier: MIT
#include "mcp/client/http/tls_session.hpp"

#include <gsl/assert>

#include <algorithm>
#include <climits>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace paddock::mcp {
namespace {

constexpr error broken{error_code::io, 0, "tls"};

/// What OpenSSL has to say about the last failure of this thread.
std::string last_reason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* const reason = code == 0 ? nullptr : ERR_reason_error_string(code);
  return reason == nullptr ? "unknown reason" : reason;
}

std::string without_last_dot(std::string host) {
  if (host.ends_with('.')) host.pop_back();
  return host;
}

bool is_address(const std::string& host) {
  ASN1_OCTET_STRING* const parsed = a2i_IPADDRESS(host.c_str());
  ASN1_OCTET_STRING_free(parsed);
  return parsed != nullptr;
}

/// Which name the certificate must have, and which one the server is asked for.
bool expect_host(SSL* ssl, const std::string& host) {
  if (is_address(host))
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set1_host(ssl, host.c_str()) == 1 &&
         // SSL_set_tlsext_host_name is a macro with an old-style cast.
         SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                  const_cast<char*>(host.c_str())) == 1;
}

} // namespace

struct tls_context::state {
  SSL_CTX* context = nullptr;

  state() = default;
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() { SSL_CTX_free(context); }
};

tls_context::tls_context(std::unique_ptr<state> s) noexcept : state_(std::move(s)) {}
tls_context::tls_context(tls_context&&) noexcept = default;
tls_context& tls_context::operator=(tls_context&&) noexcept = default;
tls_context::~tls_context() = default;

result<tls_context> tls_context::create() {
  auto s = std::make_unique<state>();
  s->context = SSL_CTX_new(TLS_client_method());
  if (s->context == nullptr || SSL_CTX_set_min_proto_version(s->context, TLS1_2_VERSION) != 1 ||
      SSL_CTX_set_default_verify_paths(s->context) != 1) {
    ERR_clear_error();
    return broken;
  }
  SSL_CTX_set_verify(s->context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_options(s->context, SSL_OP_NO_RENEGOTIATION);
  return tls_context(std::move(s));
}

struct tls_session::state {
  SSL* ssl = nullptr;
  BIO* from_network = nullptr; // both owned by ssl
  BIO* to_network = nullptr;

  state() = default;
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() { SSL_free(ssl); }

  /// Whether `status` only means that bytes from the network are missing.
  [[nodiscard]] bool waits(int status) const {
    return SSL_get_error(ssl, status) == SSL_ERROR_WANT_READ;
  }
  void explain(std::string& problem) const {
    const long verdict = SSL_get_verify_result(ssl);
    problem = verdict != X509_V_OK ? std::string("the server's certificate is not accepted: ") +
                                         X509_verify_cert_error_string(verdict)
                                   : "TLS failed: " + last_reason();
    ERR_clear_error();
  }
};

tls_session::tls_session(std::unique_ptr<state> s) noexcept : state_(std::move(s)) {}
tls_session::tls_session(tls_session&&) noexcept = default;
tls_session& tls_session::operator=(tls_session&&) noexcept = default;
tls_session::~tls_session() = default;

result<tls_session> tls_session::start(const tls_context& context, const url& to) {
  auto s = std::make_unique<state>();
  s->ssl = SSL_new(context.state_->context);
  if (s->ssl == nullptr) return broken;
  s->from_network = BIO_new(BIO_s_mem());
  s->to_network = BIO_new(BIO_s_mem());
  if (s->from_network == nullptr || s->to_network == nullptr) {
    BIO_free(s->from_network);
    BIO_free(s->to_network);
    return broken;
  }
  // Nothing to read means "not yet", not the end.
  BIO_set_mem_eof_return(s->from_network, -1);
  SSL_set_bio(s->ssl, s->from_network, s->to_network);
  SSL_set_connect_state(s->ssl);
  if (!expect_host(s->ssl, without_last_dot(to.host))) {
    ERR_clear_error();
    return broken;
  }
  return tls_session(std::move(s));
}

result<bool> tls_session::handshake(std::string& problem) {
  if (SSL_is_init_finished(state_->ssl) == 1) return true;
  ERR_clear_error();
  const int status = SSL_do_handshake(state_->ssl);
  if (status == 1) return true;
  if (state_->waits(status)) return false;
  state_->explain(problem);
  return broken;
}

result<void> tls_session::receive(std::string_view from_network, std::string& plain,
                                  std::string& problem) {
  ERR_clear_error();
  while (!from_network.empty()) {
    const auto taken = static_cast<int>(std::min<std::size_t>(from_network.size(), INT_MAX));
    if (BIO_write(state_->from_network, from_network.data(), taken) != taken) {
      problem = "TLS failed: no memory";
      return broken;
    }
    from_network.remove_prefix(static_cast<std::size_t>(taken));
  }
  PADDOCK_TRY(const bool done, handshake(problem));
  if (!done) return {};
  for (char buffer[16 * 1024];;) {
    const int n = SSL_read(state_->ssl, buffer, sizeof buffer);
    if (n <= 0) {
      if (state_->waits(n) || ended()) return {};
      state_->explain(problem);
      return broken;
    }
    plain.append(buffer, static_cast<std::size_t>(n));
  }
}

result<void> tls_session::send(std::string_view plain, std::string& problem) {
  Expects(SSL_is_init_finished(state_->ssl) == 1);
  ERR_clear_error();
  while (!plain.empty()) {
    const auto given = static_cast<int>(std::min<std::size_t>(plain.size(), INT_MAX));
    const int n = SSL_write(state_->ssl, plain.data(), given);
    if (n <= 0) {
      state_->explain(problem);
      return broken;
    }
    plain.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

void tls_session::say_goodbye() noexcept {
  if (SSL_is_init_finished(state_->ssl) == 1) (void)SSL_shutdown(state_->ssl);
  ERR_clear_error();
}

void tls_session::take_output(std::string& to_network) {
  for (char buffer[16 * 1024];;) {
    const int n = BIO_read(state_->to_network, buffer, sizeof buffer);
    if (n <= 0) return;
    to_network.append(buffer, static_cast<std::size_t>(n));
  }
}

bool tls_session::ended() const noexcept {
  return (SSL_get_shutdown(state_->ssl) & SSL_RECEIVED_SHUTDOWN) != 0;
}

} // namespace paddock::mcp
