// SPDX-License-Identifier: MIT
#include "mcp/http/access.hpp"

#include "base/same_secret.hpp"
#include "mcp/http/message_rules.hpp"

#include <algorithm>
#include <optional>

namespace paddock::mcp {
namespace {

constexpr std::string_view allow_endpoint = "Allow: POST, DELETE\r\n";
constexpr std::string_view allow_post = "Allow: POST\r\n";
constexpr std::string_view allow_health = "Allow: GET, HEAD\r\n";
constexpr std::string_view ask_for_token = "WWW-Authenticate: Bearer\r\n";
constexpr std::string_view health_path = "/healthz";
constexpr std::string_view parameter_header_prefix = "mcp-param-";

verdict refuse(int status, std::string_view reason, std::string_view header = {}) {
  return {.to = route::refused, .status = status, .reason = reason, .header = header, .origin = {}};
}

/// The name in "name", "name:port" or "[address]:port"; nothing when it is none of these.
std::optional<std::string_view> name_in(std::string_view authority) {
  std::size_t end = authority.find(':');
  if (authority.starts_with('[')) {
    end = authority.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    ++end;
  }
  end = std::min(end, authority.size());
  const std::string_view name = authority.substr(0, end);
  const std::string_view port = authority.substr(end);
  if (name.empty() || name.find_first_of("/?#@\\ ,") != std::string_view::npos) return std::nullopt;
  if (!port.empty() && port != ":" &&
      (port.front() != ':' || port.size() > 6 || !http::whole_number(port.substr(1), 10)))
    return std::nullopt;
  return name;
}

bool contains(const std::vector<std::string>& list, std::string_view wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

bool host_allowed(const std::string& host, std::string_view name, const access_rules& rules) {
  return rules.host_rule == access_rules::hosts::any || name == "localhost" ||
         name == "127.0.0.1" || name == "[::1]" || contains(rules.allowed_hosts, host) ||
         contains(rules.allowed_hosts, name);
}

/// That of a page which this very server would have served.
bool is_own_origin(std::string_view origin, std::string_view host) {
  if (host.empty()) return false;
  for (const std::string_view scheme : {"http://", "https://"})
    if (origin.starts_with(scheme) && origin.substr(scheme.size()) == host) return true;
  return false;
}

struct target_parts {
  std::optional<std::string> authority; ///< of the absolute form
  std::string_view path;
};

target_parts parts_of(std::string_view target) {
  target_parts out;
  for (const std::string_view scheme : {"http://", "https://"})
    if (http::ascii_lower(target.substr(0, scheme.size())) == scheme) {
      target.remove_prefix(scheme.size());
      const std::size_t end = std::min(target.find_first_of("/?"), target.size());
      out.authority = http::ascii_lower(target.substr(0, end));
      target.remove_prefix(end);
      break;
    }
  out.path = target.substr(0, target.find('?'));
  if (out.path.empty()) out.path = "/";
  return out;
}

bool accepts(std::string_view accept, std::string_view type) {
  if (accept.empty()) return true;
  const std::string family = std::string(type.substr(0, type.find('/'))) + "/*";
  return http::any_item(accept, [&](std::string_view item) {
    const std::string range = http::media_type(item);
    return range == type || range == "*/*" || range == family;
  });
}

bool has_token(const http::request_head& head, std::string_view token) {
  constexpr std::string_view scheme = "bearer ";
  const std::string_view given = head.header("authorization");
  return head.count("authorization") == 1 &&
         http::ascii_lower(given.substr(0, scheme.size())) == scheme &&
         same_secret(http::trim_blanks(given.substr(scheme.size())), token);
}

verdict judge_message(const http::request_head& head) {
  if (head.count("content-type") != 1 ||
      http::media_type(head.header("content-type")) != "application/json")
    return refuse(415, "send the message as Content-Type: application/json");
  if (const std::string_view coding = head.header("content-encoding");
      !coding.empty() && http::ascii_lower(coding) != "identity")
    return refuse(415, "send the message without Content-Encoding");
  std::string accept;
  for (const auto& [name, value] : head.headers)
    if (name == "accept") accept.append(accept.empty() ? "" : ",").append(value);
  verdict v{.to = route::message,
            .accepts_json = accepts(accept, "application/json"),
            .accepts_events = accepts(accept, "text/event-stream")};
  if (!v.accepts_json && !v.accepts_events)
    return refuse(406, "accept application/json and text/event-stream");
  return v;
}

verdict judge_method(const http::request_head& head) {
  if (head.method == "POST") return judge_message(head);
  const bool modern = names_modern(head.header("mcp-protocol-version"));
  if (head.method == "DELETE" && !modern) return {.to = route::end_session};
  return refuse(405, "send messages with POST; there are no streams to GET",
                modern ? allow_post : allow_endpoint);
}

verdict judge_request(const http::request_head& head, const access_rules& rules) {
  const target_parts target = parts_of(head.target);
  const bool probe = target.path == health_path;
  const std::string host = http::ascii_lower(head.header("host"));
  const std::size_t hosts = head.count("host");
  if (hosts > 1 || (hosts == 0 && !probe)) return refuse(400, "send exactly one Host header");
  const auto name = name_in(host);
  if (!name && !(probe && host.empty()))
    return refuse(400, "the Host header is not a host with or without a port");
  if (target.authority && hosts == 1 && *target.authority != host)
    return refuse(400, "the target and the Host header name different hosts");
  if (head.count("origin") > 1) return refuse(400, "send one Origin header at most");
  const bool has_origin = head.count("origin") == 1;
  const bool foreign_allowed = !allowed_origin(head, rules).empty();
  if (has_origin && !foreign_allowed &&
      !is_own_origin(http::ascii_lower(head.header("origin")), host))
    return refuse(403, "pages of this origin may not use this server; see --http-allow-origin");
  if (probe) {
    if (head.method == "GET" || head.method == "HEAD") return {.to = route::health};
    return refuse(405, "use GET", allow_health);
  }
  if (!host_allowed(host, *name, rules))
    return refuse(403, "this name is not one of the server's; see --http-allow-host");
  if (foreign_allowed && head.method == "OPTIONS" &&
      head.count("access-control-request-method") > 0)
    return {.to = route::preflight};
  if (!rules.token.empty() && !has_token(head, rules.token))
    return refuse(401, "send the server's token as Authorization: Bearer", ask_for_token);
  if (target.path != rules.path) return refuse(404, "nothing is here; check the path of the URL");
  return judge_method(head);
}

} // namespace

std::string_view allowed_origin(const http::request_head& head, const access_rules& rules) {
  if (head.count("origin") != 1) return {};
  const std::string_view origin = head.header("origin");
  return contains(rules.allowed_origins, http::ascii_lower(origin)) ? origin : std::string_view();
}

/// Tools choose the names of the headers Mcp-Param-…, and a wildcard does not stand for them in
/// requests with credentials; so those that the browser asks for are repeated.
std::string preflight_lines(const http::request_head& head) {
  std::string out = "Access-Control-Allow-Methods: POST, DELETE\r\n"
                    "Access-Control-Allow-Headers: Authorization, Content-Type, Mcp-Method, "
                    "Mcp-Name, MCP-Protocol-Version, Mcp-Session-Id";
  for (const auto& [name, value] : head.headers) {
    if (name != "access-control-request-headers") continue;
    (void)http::any_item(value, [&](std::string_view item) {
      const std::string_view wanted = http::trim_blanks(item);
      if (http::is_token(wanted) && http::ascii_lower(wanted).starts_with(parameter_header_prefix))
        out.append(", ").append(wanted);
      return false;
    });
  }
  return out.append("\r\n");
}

verdict judge(const http::request_head& head, const access_rules& rules) {
  verdict v = judge_request(head, rules);
  v.origin = allowed_origin(head, rules);
  return v;
}

} // namespace paddock::mcp
