// SPDX-License-Identifier: MIT
#include "page.hpp"

#include <paddock/mcp/json.hpp>

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

} // namespace paddock::page
