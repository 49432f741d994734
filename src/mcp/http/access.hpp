// SPDX-License-Identifier: MIT
#pragma once

// Who may ask, and for what: everything about a request that its head tells. Pure.

#include "http/server/access.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace paddock::mcp {

struct access_rules {
  std::string path;
  std::string token;
  http::asker_rules who;
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
  bool accepts_json = true;
  bool accepts_events = true;
};

[[nodiscard]] verdict judge(const http::request_head& head, const access_rules& rules);

/// The header lines that let the pages of an allowed foreign origin read the answer to `head`; else
/// empty. For heads of which only a part was read, too.
[[nodiscard]] std::string origin_lines(const http::request_head& head,
                                       const http::asker_rules& rules);
/// The header lines of the answer to a preflight.
[[nodiscard]] std::string preflight_lines(const http::request_head& head);

} // namespace paddock::mcp
