// SPDX-License-Identifier: MIT
#pragma once

// One request to an HTTP server and its answer, carried by libcurl. It never waits: the loop that
// owns it runs libcurl, which calls back. All of it belongs to one thread.

#include "mcp/client/http/transfer/http_head.hpp"
#include "mcp/client/http/transfer/libcurl.hpp"
#include "mcp/client/http/transfer/url.hpp"
#include "sys/socket.hpp"

#include <paddock/mcp/client.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::mcp {

/// How long a connection is kept that nothing uses: servers close theirs after five seconds or
/// more, and a request that crosses such an end would be lost.
inline constexpr std::int64_t idle_ms_max = 4'000;

struct http_failure {
  error reason;
  std::string why; ///< a sentence for people
};

/// Receives the answer to one request.
class response_handler {
public:
  virtual ~response_handler() = default;
  /// There is a connection, and the request goes out. May be called again: an answer that says "not
  /// yet" to a connection that was used before costs another one.
  virtual void on_connected() {}
  /// False: the rest is not wanted. The answer is given up, and nothing more is called.
  [[nodiscard]] virtual bool on_head(const http_head& head) = 0;
  [[nodiscard]] virtual bool on_body(std::string_view piece) = 0;
  /// The answer is complete, or `failed` says why there is none, or not all of it.
  virtual void on_end(const http_failure* failed) = 0;
};

/// Header lines as they are sent.
using http_headers = std::vector<std::pair<std::string, std::string>>;

struct http_request {
  std::string_view method = "POST";
  std::string target;
  http_headers headers;
  std::string body;
  std::int64_t timeout_ms = 0; ///< for the whole transfer; 0 for none
};

/// Where to connect to, the same for all requests of a client.
struct http_origin {
  url to;
  /// Tried in this order; when one does not answer at once, another in parallel.
  std::vector<sys::ip_address> addresses;
  /// Of every address that is connected to, whoever found it.
  address_policy allowed = address_policy::public_only;
  std::int64_t connect_timeout_ms = 10'000; ///< in all, with the handshake of TLS
  std::string proxy;                        ///< empty for none; the next two likewise
  std::string client_certificate;
  std::string client_key;
  /// Whom to trust, instead of what libcurl was built with; may be empty.
  std::string authorities_file;
  std::string authorities_directory;
};

struct curl_freed {
  void operator()(CURL* handle) const noexcept { libcurl().easy_cleanup(handle); }
  void operator()(curl_slist* list) const noexcept { libcurl().slist_free_all(list); }
};
/// What libcurl keeps of one request. It is large, and can be used for another one.
using curl_handle = std::unique_ptr<CURL, curl_freed>;

class http_transfer {
public:
  /// `origin` must outlive it. `handle` has no options set.
  http_transfer(http_origin& origin, std::uint64_t number, http_request request,
                std::unique_ptr<response_handler> handler, curl_handle handle);
  http_transfer(const http_transfer&) = delete;
  http_transfer& operator=(const http_transfer&) = delete;

  /// Has to be called before libcurl gets the handle; false without memory.
  [[nodiscard]] bool set_up();
  [[nodiscard]] CURL* handle() const noexcept { return handle_.get(); }
  /// The transfer is over for libcurl, too; only the destructor may follow.
  [[nodiscard]] curl_handle take_handle() noexcept;
  /// 0 once nobody wants the answer any more.
  [[nodiscard]] std::uint64_t number() const noexcept { return is_over_ ? 0 : number_; }
  /// Nothing is called any more. The handler lives on: one of its members may be running.
  void abandon() noexcept { is_over_ = true; }
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  /// Calls on_end: libcurl is done with it.
  void finish(CURLcode code);
  /// Likewise, because its time is up.
  void fail(const http_failure& failure);

  std::int64_t deadline_ms; ///< of the loop

private:
  using text_list = std::unique_ptr<curl_slist, curl_freed>;

  [[nodiscard]] bool set_up_request();
  [[nodiscard]] bool set_up_connection();
  [[nodiscard]] bool set_up_callbacks();
  [[nodiscard]] http_failure failure_of(CURLcode code) const;
  [[nodiscard]] bool is_sent_again() const;
  [[nodiscard]] long sent_bytes() const;
  void prefer(std::string_view address);

  // --- called by libcurl
  static std::size_t on_header(char* bytes, std::size_t size, std::size_t n, void* self);
  static std::size_t on_body(char* bytes, std::size_t size, std::size_t n, void* self);
  static curl_socket_t open_socket(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int on_connected(void* self, char* address, char* own_address, int port, int own_port);

  http_origin& origin_;
  const std::uint64_t number_;
  const http_request request_;
  const std::unique_ptr<response_handler> handler_;
  http_head_reader reader_;
  std::string denied_; ///< why an address was not connected to
  bool is_connected_ = false;
  long sent_before_ = 0; ///< bytes that were sent before the request
  bool is_over_ = false;
  char problem_[CURL_ERROR_SIZE] = {};

  text_list headers_;
  text_list addresses_;
  curl_handle handle_; // last: it uses all of the above
};

} // namespace paddock::mcp
