// SPDX-License-Identifier: MIT
#include "mcp/client/http/http_message.hpp"

#include "http/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

namespace paddock::mcp {
namespace {

/// Those that the transport writes itself.
constexpr std::string_view own_headers[] = {
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-session-id",
    "mcp-protocol-version",
    "te",
    "transfer-encoding",
    "upgrade",
};

/// What is wrong with a header of the configuration; empty if nothing.
std::string problem_of(const std::string& name, const std::string& value) {
  if (!http::is_token(name)) return "\"" + name + "\" is no name of a header";
  if (http::has_control_characters(value))
    return "the header " + name + " has control characters in its value";
  if (std::find(std::begin(own_headers), std::end(own_headers), http::ascii_lower(name)) !=
      std::end(own_headers))
    return "the header " + name + " is written by the client itself; leave it out";
  return {};
}

/// What is connected to is the proxy then.
result<void, detailed_error> use_proxy(const http_endpoint& to, http_origin& server) {
  if (const auto good = check_proxy(to.proxy); !good)
    return detailed_error(good.error(),
                          std::string("the proxy can't be used: ") + good.error().operation);
  const auto as_written = [](const std::string& host) -> result<std::vector<sys::ip_address>> {
    // A name is the proxy's business, so that any public address stands for it here.
    return std::vector{sys::inet_pton(host).value_or(sys::ip_address{.bytes = {1, 1, 1, 1}})};
  };
  PADDOCK_CHECK(allowed_addresses(server.to, to.addresses, as_written));
  server.proxy = to.proxy;
  server.allowed = address_policy::any;
  return {};
}

bool is_answer(const json_view& message, const request_id& id) {
  if (message["method"].exists()) return false;
  const auto answered = request_id::from(message["id"]);
  return answered && *answered == id;
}

} // namespace

http_message::http_message(const outgoing& from)
    : json(from.json), method(from.method), name(from.name), revision(from.revision),
      modern(from.modern), parameters(from.parameters.begin(), from.parameters.end()) {
  if (from.id != nullptr) id = *from.id;
}

result<in_flight, detailed_error> in_flight::begin(std::atomic<std::size_t>& count) {
  std::shared_ptr<void> held(nullptr, [&count](void*) { count.fetch_sub(1); });
  if (count.fetch_add(1) >= max)
    return detailed_error({error_code::too_many, 0, "http"},
                          "too many requests are under way; wait until some have ended");
  return in_flight(std::move(held));
}

result<http_origin, detailed_error> origin_of(const http_endpoint& to, std::int64_t timeout_ms,
                                              const host_resolver& resolve) {
  const auto parsed = parse_url(to.url);
  if (!parsed) {
    const bool is_of_url = parsed.error().code != error_code::unsupported; // else of libcurl
    return detailed_error(parsed.error(), std::string(is_of_url ? "the URL can't be used: " : "") +
                                              parsed.error().operation);
  }
  for (const auto& [name, value] : to.headers)
    if (std::string problem = problem_of(name, value); !problem.empty())
      return detailed_error({error_code::invalid_argument, 0, "headers"}, std::move(problem));
  http_origin server;
  server.to = *parsed;
  if (to.proxy.empty()) {
    PADDOCK_TRY(server.addresses, allowed_addresses(server.to, to.addresses, resolve));
    server.allowed = to.addresses;
  } else {
    PADDOCK_CHECK(use_proxy(to, server));
  }
  server.client_certificate = to.client_certificate;
  server.client_key = to.client_key;
  // As OpenSSL's own programs do, which many systems rely on.
  if (const char* const file = std::getenv("SSL_CERT_FILE")) server.authorities_file = file;
  if (const char* const folder = std::getenv("SSL_CERT_DIR")) server.authorities_directory = folder;
  server.connect_timeout_ms = std::min(server.connect_timeout_ms, timeout_ms);
  return server;
}

bool is_session_id(std::string_view text) {
  constexpr std::size_t bytes_max = 1024;
  return !text.empty() && text.size() <= bytes_max &&
         std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
}

std::string media_type_of(const http_head& head) {
  return http::media_type(head.header("content-type"));
}

std::optional<std::string> same_origin_target(const url& from, const http_head& head) {
  if (head.status != 307 && head.status != 308) return std::nullopt;
  const auto to = resolve_reference(from, head.header("location"));
  if (!to || !same_origin(from, *to)) return std::nullopt;
  return to->target;
}

status_report report_of(const url& from, const http_head& head) {
  const std::string status = "the server answered with HTTP status " + std::to_string(head.status);
  error reason{error_code::io, 0, "http"};
  if (head.status == 401 || head.status == 403) {
    reason.code = error_code::permission_denied;
    return {reason, status + "; check the credentials in the headers of its configuration"};
  }
  if (head.status == 404 || head.status == 405)
    return {reason, status + "; check the path of the URL"};
  if (head.status == 429 || head.status >= 500) return {reason, status + "; try again later"};
  if (head.status >= 300 && head.status < 400) {
    const auto to = resolve_reference(from, head.header("location"));
    return {reason, status + ", a redirect" + (to ? " to " + to->origin() + to->target : "") +
                        ", which is not followed; put the right URL into its configuration"};
  }
  return {reason, status};
}

bool answers(std::string_view json, const request_id& id) {
  json_document document;
  const auto root = document.parse_padded(json);
  if (!root) return false;
  bool found = is_answer(*root, id);
  root->for_each_element([&](const json_view& part) { found = found || is_answer(part, id); });
  return found;
}

} // namespace paddock::mcp
