// SPDX-License-Identifier: MIT
#include "page.hpp"

#include "application.hpp"
#include "common/workspace_cli.hpp"
#include "http/server/termination.hpp"

#include <paddock/mcp/json.hpp>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace paddock::page {

int status_of(error_code code) {
  if (code == error_code::not_found) return 404;
  if (code == error_code::already_exists || code == error_code::conflict ||
      code == error_code::stale)
    return 409;
  if (code == error_code::read_only || code == error_code::permission_denied) return 403;
  if (code == error_code::too_large || code == error_code::too_many) return 413;
  if (code == error_code::not_text) return 415;
  if (code == error_code::io || code == error_code::root_gone) return 500;
  return 422;
}

std::string sentence(error_code code) {
  return std::string(text(code)).append("; ").append(advice(code));
}

http::answer say(std::string json, int status) {
  return {.status = status, .type = "application/json", .body = std::move(json)};
}

http::answer refuse(const error& failure, std::string_view message) {
  mcp::json_writer out;
  out.begin_object().member("error", wire_name(failure.code));
  if (failure.code == error_code::invalid_argument) out.member("field", failure.operation);
  out.member("message", message);
  return say(out.end_object().take(), status_of(failure.code));
}

http::answer say(const error& failure) {
  return refuse(failure, sentence(failure.code));
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
