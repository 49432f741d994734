// SPDX-License-Identifier: MIT
#include "http/server/termination.hpp"
#include "mcp/http/service.hpp"

#include <paddock/mcp/http_server.hpp>

#include <gsl/assert>

#include <algorithm>
#include <utility>

namespace paddock::mcp {
namespace {

error wrong(const char* what) {
  return {error_code::invalid_argument, 0, what};
}

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

result<void> check(const http_server_options& o) {
  Expects(o.connections_max > 0 && o.calls_running_max > 0 && o.sessions_max > 0);
  if (!o.path.starts_with('/') || !is_visible(o.path) ||
      o.path.find_first_of("?#") != std::string::npos)
    return wrong("the path of the endpoint begins with / and has no ? and no #");
  if (o.path == "/healthz") return wrong("the path /healthz is that of the probe");
  if (!is_visible(o.token)) return wrong("a token is visible ASCII without blanks");
  for (const std::string& each : o.allowed_hosts)
    if (each.empty() || !is_visible(each) || each.find('/') != std::string::npos)
      return wrong("an allowed host is NAME or NAME:PORT");
  for (const std::string& each : o.allowed_origins) {
    const std::size_t scheme = each.find("://");
    if (!is_visible(each) || scheme == std::string::npos || scheme == 0 ||
        scheme + 3 == each.size() || each.find('/', scheme + 3) != std::string::npos)
      return wrong("an allowed origin is https://HOST or https://HOST:PORT, without a path");
  }
  return {};
}

} // namespace

http_server::http_server(std::unique_ptr<service> s) noexcept : service_(std::move(s)) {}
http_server::http_server(http_server&&) noexcept = default;
http_server& http_server::operator=(http_server&&) noexcept = default;
http_server::~http_server() = default;

result<http_server> http_server::make(const server& s, http_server_options options) {
  PADDOCK_CHECK(check(options));
  PADDOCK_TRY(auto made, service::make(s.shared_core(), std::move(options)));
  return http_server(std::move(made));
}

const std::string& http_server::address() const noexcept {
  return service_->address();
}

result<http_serve_outcome> http_server::run(int stop_fd) {
  return service_->run(stop_fd);
}

result<http_serve_outcome> http_server::run_until_terminated(const std::function<void()>& ready) {
  PADDOCK_TRY(const auto terminated, http::termination::redirect());
  if (ready) ready();
  return service_->run(terminated.descriptor());
}

void http_server::stop() noexcept {
  service_->stop();
}

} // namespace paddock::mcp
