// SPDX-License-Identifier: MIT
#include "application.hpp"

#include "api.hpp"
#include "crypto/crypto.hpp"
#include "http/server/secret.hpp"

#include <optional>
#include <utility>

namespace paddock::skills_page {
namespace {

constexpr std::size_t token_bytes = 16;
constexpr unsigned threads_max = 16;

// Nothing is loaded from anywhere else, nobody may frame the page, and a description that is taken
// for a script does not run.
constexpr std::string_view guard_lines =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "
    "connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n";

constexpr http::server_options serving{
    .connections_max = 64,
    .buffered_bytes_max = 4 * body_bytes_max, // a buffer that grows has up to twice what it holds
    .body_bytes_max = body_bytes_max,
    .head_timeout_ms = 5'000,
    .body_timeout_ms = 300'000,
    .write_timeout_ms = 15'000,
    .idle_timeout_ms = 15'000,
};

http::judgement refuse_with(int status, std::string_view reason, std::string lines = {}) {
  return {.status = status, .reason = reason, .lines = std::move(lines)};
}

http::judgement refuse(http::asker_problem problem) {
  if (problem == http::asker_problem::foreign_origin || problem == http::asker_problem::two_origins)
    return refuse_with(403,
                       "Requests that change something are accepted from the page itself only.");
  return refuse_with(403, "This page is served as 127.0.0.1 and localhost only. Open the address "
                          "that paddock printed.");
}

/// The length of a body must be known before it is read, and it must be what it seems to be.
std::optional<http::judgement> refuse_body(const http::request_head& head) {
  if (head.count("transfer-encoding") > 0)
    return refuse_with(411, "The length of the body must be given beforehand.");
  if (head.count("content-encoding") > 0 ||
      http::media_type(head.header("content-type")).starts_with("multipart/"))
    return refuse_with(415, "Bodies are accepted as they are only.");
  const bool changes = head.method == "POST" || head.method == "PUT";
  if (changes && head.count("content-length") == 0)
    return refuse_with(411, "The length of the body must be given beforehand.");
  return std::nullopt;
}

} // namespace

application::application(std::shared_ptr<const skill_store> store, http::listener l,
                         std::string token, file_descriptor wake)
    : pooled_application(std::move(wake), threads_max), store_(std::move(store)),
      listener_(std::move(l)), token_(std::move(token)), page_path_("/" + token_ + "/"),
      address_(listener_.url_of(page_path_)) {
  const std::string host = std::string(*http::split_target(address_).authority);
  who_.host_rule = http::asker_rules::hosts::listed;
  who_.origin_rule = http::asker_rules::own_origin::http;
  who_.allowed_hosts = {host, "localhost" + host.substr(host.find(':'))};
}

result<std::unique_ptr<application>> application::make(std::shared_ptr<const skill_store> store,
                                                       std::uint16_t port) {
  PADDOCK_TRY(std::string token, http::new_secret(token_bytes));
  PADDOCK_TRY(file_descriptor wake, wake_event());
  PADDOCK_TRY(http::listener l, http::listener::open("127.0.0.1:" + std::to_string(port), true));
  return std::unique_ptr<application>(
      new application(std::move(store), std::move(l), std::move(token), std::move(wake)));
}

result<application::outcome> application::serve(int stop_fd) {
  return pooled_application::serve(std::move(listener_), serving, stop_fd);
}

/// A wrong header is not made good by a right path.
bool application::knows_token(const http::request_head& head, std::string_view path) const {
  if (head.count(token_header) == 1) return same_secret(head.header(token_header), token_);
  return same_secret(path.substr(0, page_path_.size()), page_path_);
}

http::judgement application::judge(const http::request_head& head) {
  const http::target_parts target = http::split_target(head.target);
  const auto problem = http::judge_asker(head, target, who_);
  if (problem != http::asker_problem::none && problem != http::asker_problem::foreign_origin &&
      problem != http::asker_problem::two_origins)
    return skills_page::refuse(problem);
  if (!knows_token(head, target.path))
    return refuse_with(403, "This is not the address that paddock printed. Open the one it printed "
                            "when it started, or start \"paddock skills ui\" again.");
  if (problem != http::asker_problem::none || (head.method != "GET" && head.count("origin") == 0))
    return skills_page::refuse(http::asker_problem::foreign_origin);
  const std::string allowed = methods_of(target.path, page_path_);
  if (allowed.empty()) return refuse_with(404, "Nothing is here.");
  if (!http::any_item(allowed, [&](auto each) { return http::trim_blanks(each) == head.method; }))
    return refuse_with(405, "This cannot be done here.", "Allow: " + allowed + "\r\n");
  if (auto refused = refuse_body(head)) return *refused;
  return {.takes_body = head.method == "POST" || head.method == "PUT"};
}

http::refusal_answer application::refuse(const http::request_head& /*head*/,
                                         std::string_view reason) {
  return {.lines = std::string(guard_lines),
          .type = "text/plain; charset=utf-8",
          .body = std::string(reason) + "\n"};
}

http::answer application::answer_to(const http::request& r) {
  http::answer out = skills_page::answer_to(r, page_path_, *store_);
  out.lines = guard_lines;
  return out;
}

} // namespace paddock::skills_page
