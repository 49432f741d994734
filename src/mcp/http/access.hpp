// SPDX-License-Identifier: MIT
#pragma once

// Who may ask, and for what: everything about a request that its head tells. Pure.

#include "http/server/request_reader.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

struct access_rules {
  enum class hosts : std::uint8_t {
    local, ///< loopback names and `allowed_hosts`
    any,   ///< a token, or the mode of a socket file, keeps strangers out
  };
  std::string path;
  std::string token;
  hosts host_rule = hosts::local;
  std::vector<std::string> allowed_hosts;   ///< in lower case
  std::vector<std::string> allowed_origins; ///< in lower case
};

enum class route : std::uint8_t {
  refused,
  message,     ///< POST to the endpoint
  end_session, ///< DELETE
  health,
  preflight, ///< a browser asks on behalf of an allowed origin
};

struct verdict {
  route to = route::refused;
  int status = 0;          ///< of a refusal
  std::string_view reason; ///< of a refusal: a sentence that says what to do
  std::string_view header; ///< whole lines to add to the answer
  std::string origin;      ///< an allowed foreign one, which wants to be named in the answer
  bool accepts_json = true;
  bool accepts_events = true;
};

[[nodiscard]] verdict judge(const http::request_head& head, const access_rules& rules);

/// The foreign origin that `head` names, when its pages may read answers; else empty. For heads of
/// which only a part was read, too.
[[nodiscard]] std::string_view allowed_origin(const http::request_head& head,
                                              const access_rules& rules);
/// The header lines of the answer to a preflight.
[[nodiscard]] std::string preflight_lines(const http::request_head& head);

} // namespace paddock::mcp
