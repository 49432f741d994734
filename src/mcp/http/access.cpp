// SPDX-License-Identifier: MIT
#include "mcp/http/access.hpp"

#include "mcp/http/message_rules.hpp"

namespace paddock::mcp {
namespace {

constexpr std::string_view allow_endpoint = "Allow: POST, DELETE\r\n";
constexpr std::string_view allow_post = "Allow: POST\r\n";
constexpr std::string_view allow_health = "Allow: GET, HEAD\r\n";
constexpr std::string_view ask_for_token = "WWW-Authenticate: Bearer\r\n";
constexpr std::string_view health_path = "/healthz";
constexpr std::string_view parameter_header_prefix = "mcp-param-";

verdict refuse(int status, std::string_view reason, std::string_view header = {}) {
  return {.to = route::refused, .status = status, .reason = reason, .header = header};
}

/// What to answer to who asks; nothing is wrong when the status is 0.
verdict refuse(http::asker_problem problem) {
  switch (problem) {
  case http::asker_problem::none:
    return {};
  case http::asker_problem::no_single_host:
    return refuse(400, "send exactly one Host header");
  case http::asker_problem::malformed_host:
    return refuse(400, "the Host header is not a host with or without a port");
  case http::asker_problem::two_hosts:
    return refuse(400, "the target and the Host header name different hosts");
  case http::asker_problem::two_origins:
    return refuse(400, "send one Origin header at most");
  case http::asker_problem::foreign_origin:
    return refuse(403, "pages of this origin may not use this server; see --http-allow-origin");
  case http::asker_problem::foreign_host:
    return refuse(403, "this name is not one of the server's; see --http-allow-host");
  }
  return {};
}

bool accepts(std::string_view accept, std::string_view type) {
  if (accept.empty()) return true;
  const std::string family = std::string(type.substr(0, type.find('/'))) + "/*";
  return http::any_item(accept, [&](std::string_view item) {
    const std::string range = http::media_type(item);
    return range == type || range == "*/*" || range == family;
  });
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

/// Whether a header came twice, of which others may read the second. Of a modern message the answer
/// about its version is one of the protocol (header_mismatch).
const char* doubled_header(const http::request_head& head) {
  if (head.count("mcp-session-id") > 1) return "send one Mcp-Session-Id, not several";
  const bool modern = names_modern(head.header("mcp-protocol-version"));
  return !modern && head.count("mcp-protocol-version") > 1
             ? "send one MCP-Protocol-Version, not several"
             : nullptr;
}

verdict judge_method(const http::request_head& head) {
  if (const char* const doubled = doubled_header(head)) return refuse(400, doubled);
  if (head.method == "POST") return judge_message(head);
  const bool modern = names_modern(head.header("mcp-protocol-version"));
  if (head.method == "DELETE" && !modern) return {.to = route::end_session};
  return refuse(405, "send messages with POST; there are no streams to GET",
                modern ? allow_post : allow_endpoint);
}

} // namespace

std::string origin_lines(const http::request_head& head, const http::asker_rules& rules) {
  const std::string_view origin = http::allowed_origin(head, rules);
  if (origin.empty()) return {};
  std::string out = "Access-Control-Allow-Origin: ";
  return out.append(origin).append(
      "\r\nAccess-Control-Expose-Headers: Mcp-Session-Id, Retry-After, WWW-Authenticate\r\n"
      "Vary: Origin\r\n");
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
  const http::target_parts target = http::split_target(head.target);
  const bool probe = target.path == health_path;
  const http::asker_problem problem = http::judge_asker(
      head, target, rules.who, probe ? http::purpose::probe : http::purpose::request);
  if (problem != http::asker_problem::none) return refuse(problem);
  if (probe) {
    if (head.method == "GET" || head.method == "HEAD") return {.to = route::health};
    return refuse(405, "use GET", allow_health);
  }
  if (head.method == "OPTIONS" && head.count("access-control-request-method") > 0 &&
      !http::allowed_origin(head, rules.who).empty())
    return {.to = route::preflight};
  if (!rules.token.empty() && !http::has_bearer_token(head, rules.token))
    return refuse(401, "send the server's token as Authorization: Bearer", ask_for_token);
  if (target.path != rules.path) return refuse(404, "nothing is here; check the path of the URL");
  return judge_method(head);
}

} // namespace paddock::mcp
