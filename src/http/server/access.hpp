// SPDX-License-Identifier: MIT
#pragma once

// Who asks: what the head of a request says of the name it came to and the page that sent it. So no
// web page reaches a server of this machine by having its own name point here. Pure.

#include "http/request_reader.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::http {

struct target_parts {
  std::optional<std::string> authority; ///< of the absolute form, in lower case
  std::string_view path;
  std::string_view query; ///< behind the question mark
};
[[nodiscard]] target_parts split_target(std::string_view target);

struct asker_rules {
  enum class hosts : std::uint8_t {
    listed, ///< `allowed_hosts` alone
    local,  ///< these, and the loopback names with any port
    any,    ///< a token, or the mode of a socket file, keeps strangers out
  };
  enum class own_origin : std::uint8_t {
    http,     ///< that of the very server
    or_https, ///< the same, or behind somebody who does TLS
  };
  hosts host_rule = hosts::local;
  own_origin origin_rule = own_origin::or_https;
  std::vector<std::string> allowed_hosts;   ///< "name" or "name:port", in lower case
  std::vector<std::string> allowed_origins; ///< in lower case
};

/// What is wrong with who asks.
enum class asker_problem : std::uint8_t {
  none,
  no_single_host,
  malformed_host,
  two_hosts, ///< the target names another one
  two_origins,
  foreign_origin,
  foreign_host,
};

/// `probe`: a request that harms nobody may come without Host, and to any.
enum class purpose : std::uint8_t { request, probe };
[[nodiscard]] asker_problem judge_asker(const request_head& head, const target_parts& target,
                                        const asker_rules& rules, purpose p = purpose::request);

/// The foreign origin that `head` names, when its pages may read answers; else empty. For heads of
/// which only a part was read, too.
[[nodiscard]] std::string_view allowed_origin(const request_head& head, const asker_rules& rules);

/// Whether `head` carries exactly this token, as Authorization: Bearer.
[[nodiscard]] bool has_bearer_token(const request_head& head, std::string_view token);

/// The value of a parameter in the query of a target, decoded; empty when it is not there.
/// Malformed escapes stand for themselves.
[[nodiscard]] std::string query_parameter(std::string_view query, std::string_view name);

} // namespace paddock::http
