// SPDX-License-Identifier: MIT
#include "server.hpp"

#include "connection.hpp"

#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace paddock::skills_page {
namespace {

constexpr std::size_t token_bytes = 16;
constexpr std::size_t threads = 16;

// Nothing is loaded from anywhere else, nobody may frame the page, and a description that is taken
// for a script does not run.
constexpr const char* content_security_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

constexpr const char* wrong_token =
    "This is not the address that paddock printed. Open the one it printed when it started, or "
    "start \"paddock skills ui\" again.\n";
constexpr const char* wrong_host =
    "This page is served as 127.0.0.1 and localhost only. Open the address that paddock printed.\n";
constexpr const char* wrong_origin =
    "Requests that change something are accepted from the page itself only.\n";

result<std::string> random_token() {
  std::array<unsigned char, token_bytes> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return error{.code = error_code::io, .os_errno = errno, .operation = "getrandom"};
  std::string hex;
  for (const unsigned byte : bytes)
    hex.append(1, "0123456789abcdef"[byte >> 4U]).append(1, "0123456789abcdef"[byte & 15U]);
  return hex;
}

/// In a time that does not tell how much of it is right.
bool same_secret(std::string_view given, std::string_view secret) {
  if (given.size() != secret.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < given.size(); ++i)
    difference |= static_cast<unsigned>(static_cast<unsigned char>(given[i])) ^
                  static_cast<unsigned>(static_cast<unsigned char>(secret[i]));
  return difference == 0;
}

std::optional<std::string> only_value(const httplib::Request& request, const char* header) {
  if (request.get_header_value_count(header) != 1) return std::nullopt;
  return request.get_header_value(header);
}

/// The length of the body must be known before it is read, and it must be what it seems to be.
std::optional<int> body_refusal(const httplib::Request& request) {
  if (request.has_header("Transfer-Encoding")) return 411;
  if (request.has_header("Content-Encoding")) return 415;
  if (request.get_header_value("Content-Type").starts_with("multipart/")) return 415;
  const bool may_have_one = request.method == "POST" || request.method == "PUT";
  if (!may_have_one && !request.has_header("Content-Length")) return std::nullopt;
  const auto length = only_value(request, "Content-Length");
  if (!length || length->empty() ||
      !std::ranges::all_of(*length, [](char c) { return c >= '0' && c <= '9'; }))
    return 411;
  if (!may_have_one) return *length == "0" ? std::nullopt : std::optional(400);
  const bool fits = length->size() <= 9 && std::stoull(*length) <= body_bytes_max;
  return fits ? std::nullopt : std::optional(413);
}

void explain(httplib::Response& response, int status) {
  switch (status) {
  case 411:
    return answer_plainly(response, status, "The length of the body must be given beforehand.\n");
  case 413:
    return answer_plainly(response, status, "More than 64 MiB are not accepted at once.\n");
  case 415:
    return answer_plainly(response, status, "Bodies are accepted as they are only.\n");
  default:
    return answer_plainly(response, status, "This request is not acceptable.\n");
  }
}

} // namespace

void answer_plainly(httplib::Response& response, int status, std::string_view text) {
  response.status = status;
  response.set_content(std::string(text), "text/plain; charset=utf-8");
}

result<std::unique_ptr<server>> server::make() {
  auto token = random_token();
  if (!token) return token.error();
  file_descriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!event) return error{.code = error_code::io, .os_errno = errno, .operation = "eventfd"};
  return std::unique_ptr<server>(new server(*std::move(token), std::move(event)));
}

server::server(std::string token, file_descriptor stop_event)
    : token_(std::move(token)), stop_event_(std::move(stop_event)) {
  new_task_queue = [] { return new httplib::ThreadPool(threads); };
  // Without SO_REUSEPORT, which is the library's choice: a port that is taken is an error.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  set_payload_max_length(body_bytes_max);
  set_default_headers({{"Content-Security-Policy", content_security_policy},
                       {"Cache-Control", "no-store"},
                       {"X-Content-Type-Options", "nosniff"},
                       {"X-Frame-Options", "DENY"},
                       {"Referrer-Policy", "no-referrer"},
                       {"Cross-Origin-Opener-Policy", "same-origin"},
                       {"Cross-Origin-Resource-Policy", "same-origin"}});
  set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
    return refuse(request, response) ? HandlerResponse::Handled : HandlerResponse::Unhandled;
  });
  set_exception_handler(
      [](const httplib::Request&, httplib::Response& response, const std::exception_ptr&) {
        answer_plainly(response, 500, "This request needs more memory than there is.\n");
      });
}

bool server::bind(std::uint16_t port) {
  int bound = port;
  if (port == 0)
    bound = bind_to_any_port("127.0.0.1");
  else if (!bind_to_port("127.0.0.1", port))
    return false;
  if (bound <= 0) return false;
  hosts_[0] = "127.0.0.1:" + std::to_string(bound);
  hosts_[1] = "localhost:" + std::to_string(bound);
  return true;
}

bool server::serve() {
  return listen_after_bind() || ending_;
}

void server::end() {
  ending_ = true;
  const std::uint64_t one = 1;
  // An event counter that is already set is as good.
  [[maybe_unused]] const ssize_t written = ::write(stop_event_.get(), &one, sizeof(one));
  // Unlike the library's stop() this also ends a `serve` that has not quite begun.
  ::shutdown(svr_sock_, SHUT_RDWR);
}

std::string server::address() const {
  return "http://" + hosts_[0] + page_path();
}

bool server::process_and_close_socket(socket_t socket) {
  const file_descriptor owned(socket);
  try {
    connection client(socket, stop_event_.get());
    bool closed = false;
    // One request for each connection: on one machine a new one costs nothing, and what a refused
    // request leaves unread can never be taken for the next one.
    const bool done = client.read_head() && process_request(client, true, closed, nullptr);
    if (done) client.linger();
    return done;
  } catch (const std::exception&) { // out of memory: the client sees the connection end
    return false;
  }
}

bool server::knows_token(const httplib::Request& request) const {
  const auto given = only_value(request, token_header);
  return given ? same_secret(*given, token_)
               : same_secret(std::string_view(request.path).substr(0, token_.size() + 2),
                             page_path());
}

/// Answers a request that must go no further.
bool server::refuse(const httplib::Request& request, httplib::Response& response) const {
  const auto host = only_value(request, "Host");
  if (!host || std::ranges::find(hosts_, *host) == std::end(hosts_)) {
    answer_plainly(response, 403, wrong_host);
    return true;
  }
  if (!knows_token(request)) {
    answer_plainly(response, 403, wrong_token);
    return true;
  }
  const bool changes = request.method != "GET";
  const bool same_origin = only_value(request, "Origin") == "http://" + *host;
  if (!same_origin && (changes || request.has_header("Origin"))) {
    answer_plainly(response, 403, wrong_origin);
    return true;
  }
  if (const auto status = body_refusal(request)) {
    explain(response, *status);
    return true;
  }
  return false;
}

} // namespace paddock::skills_page
