// SPDX-License-Identifier: MIT
#include "application.hpp"

#include "common/workspace_cli.hpp"
#include "crypto/crypto.hpp"
#include "http/server/secret.hpp"
#include "http/server/termination.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

namespace paddock::page {
namespace {

constexpr std::size_t token_bytes = 16;
constexpr unsigned threads_max = 16;

// Nothing is loaded from anywhere else, nobody may frame the page, and a description that is taken
// for a script does not run.
std::string guard_lines(std::string_view image_sources) {
  return std::string("Content-Security-Policy: default-src 'none'; script-src 'self'; "
                     "style-src 'self'; connect-src 'self'; img-src ")
      .append(image_sources)
      .append("; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
              "require-trusted-types-for 'script'; trusted-types 'none'\r\n"
              "X-Frame-Options: DENY\r\n"
              "Referrer-Policy: no-referrer\r\n"
              "Cross-Origin-Opener-Policy: same-origin\r\n"
              "Cross-Origin-Resource-Policy: same-origin\r\n");
}

std::string wrong_address(std::string_view command) {
  return std::string("This is not the address that paddock printed. Open the one it printed when "
                     "it started, or start \"")
      .append(command)
      .append("\" again.");
}

http::server_options serving(std::size_t body_bytes_max) {
  return {
      .connections_max = 64,
      // a buffer that grows has up to twice what it holds
      .buffered_bytes_max = 4 * body_bytes_max,
      .body_bytes_max = body_bytes_max,
      .head_timeout_ms = 5'000,
      .body_timeout_ms = 300'000,
      .write_timeout_ms = 15'000,
      .idle_timeout_ms = 15'000,
  };
}

http::judgement refuse_with(int status, std::string_view reason, std::string lines = {}) {
  return {.status = status, .reason = reason, .lines = std::move(lines)};
}

http::judgement refuse_asker(http::asker_problem problem) {
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

application::application(definition what, http::listener l, std::string token, file_descriptor wake)
    : pooled_application(std::move(wake), threads_max), what_(std::move(what)),
      guard_lines_(guard_lines(what_.image_sources)), wrong_address_(wrong_address(what_.command)),
      listener_(std::move(l)), token_(std::move(token)), page_path_("/" + token_ + "/"),
      address_(listener_.url_of(page_path_)) {
  const std::string host = std::string(*http::split_target(address_).authority);
  who_.host_rule = http::asker_rules::hosts::listed;
  who_.origin_rule = http::asker_rules::own_origin::http;
  who_.allowed_hosts = {host, "localhost" + host.substr(host.find(':'))};
}

result<std::unique_ptr<application>> application::make(definition what, std::uint16_t port) {
  PADDOCK_TRY(std::string token, http::new_secret(token_bytes));
  PADDOCK_TRY(file_descriptor wake, wake_event());
  PADDOCK_TRY(http::listener l, http::listener::open("127.0.0.1:" + std::to_string(port), true));
  return std::unique_ptr<application>(
      new application(std::move(what), std::move(l), std::move(token), std::move(wake)));
}

result<application::outcome> application::serve(int stop_fd) {
  return pooled_application::serve(std::move(listener_), serving(what_.body_bytes_max), stop_fd);
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
    return refuse_asker(problem);
  if (!knows_token(head, target.path)) return refuse_with(403, wrong_address_);
  if (problem != http::asker_problem::none || (head.method != "GET" && head.count("origin") == 0))
    return refuse_asker(http::asker_problem::foreign_origin);
  const std::string allowed = methods_of(target.path);
  if (allowed.empty()) return refuse_with(404, "Nothing is here.");
  if (!http::any_item(allowed, [&](auto each) { return http::trim_blanks(each) == head.method; }))
    return refuse_with(405, "This cannot be done here.", "Allow: " + allowed + "\r\n");
  if (auto refused = refuse_body(head)) return *refused;
  return {.takes_body = head.method == "POST" || head.method == "PUT"};
}

http::refusal_answer application::refuse(const http::request_head& /*head*/,
                                         std::string_view reason) {
  return {.lines = guard_lines_,
          .type = "text/plain; charset=utf-8",
          .body = std::string(reason) + "\n"};
}

const asset* application::asset_at(std::string_view path) const {
  if (!path.starts_with(page_path_)) return nullptr;
  path.remove_prefix(page_path_.size());
  if (path.empty()) path = "page.html";
  const auto found =
      std::ranges::find_if(what_.assets, [&](const asset& each) { return each.name == path; });
  return found == what_.assets.end() ? nullptr : &*found;
}

std::string application::methods_of(std::string_view path) const {
  if (asset_at(path) != nullptr) return "GET, HEAD";
  std::string out;
  for (const operation& each : what_.operations)
    if (each.path == path) {
      out.append(out.empty() ? "" : ", ").append(each.method);
      if (each.method == "GET") out.append(", HEAD");
    }
  return out;
}

http::answer application::answer_to(const http::request& r) {
  const http::target_parts target = http::split_target(r.head.target);
  http::answer out = say(error{.code = error_code::not_found, .os_errno = 0, .operation = "page"});
  const std::string_view method = r.head.method == "HEAD" ? "GET" : std::string_view(r.head.method);
  if (const asset* file = asset_at(target.path))
    out = {
        .status = 200, .type = std::string(file->content_type), .body = std::string(file->bytes)};
  else
    for (const operation& each : what_.operations)
      if (each.path == target.path && each.method == method)
        out = each.run({.request = r, .query = target.query});
  out.lines = guard_lines_;
  return out;
}

int serve(definition what, std::uint16_t port) {
  const std::string program(what.command);
  const auto unusable = [&](const error& failure) {
    cli::complain(program, "this system cannot be used: " + sentence(failure.code));
    return cli::usage;
  };
  auto page = application::make(std::move(what), port);
  if (!page && page.error().operation == std::string_view("getrandom"))
    return unusable(page.error());
  if (!page) {
    cli::complain(program, "port " + std::to_string(port) +
                               " cannot be used; choose another one, or leave out --port");
    return cli::usage;
  }
  const auto terminated = http::termination::redirect();
  if (!terminated) return unusable(terminated.error());
  std::printf("%s\n", (*page)->address().c_str());
  std::fflush(stdout);
  cli::complain(program, "open the address above in a browser on this machine; Ctrl-C ends it");
  const auto served = (*page)->serve(terminated->descriptor());
  const bool good = served && !served->failure;
  if (!good) cli::complain(program, "the network connection was lost; start it again");
  const int code = good ? cli::success : cli::failed;
  // A request that did not end in time still runs; what it uses must not be destroyed under it.
  if (served && served->abandoned > 0) std::quick_exit(code);
  return code;
}

} // namespace paddock::page
