// SPDX-License-Identifier: MIT
#include "http/server/access.hpp"

#include "crypto/crypto.hpp"

#include <algorithm>

namespace paddock::http {
namespace {

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
      (port.front() != ':' || port.size() > 6 || !whole_number(port.substr(1), 10)))
    return std::nullopt;
  return name;
}

bool contains(const std::vector<std::string>& list, std::string_view wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

bool host_allowed(const std::string& host, std::string_view name, const asker_rules& rules) {
  using hosts = asker_rules::hosts;
  if (rules.host_rule == hosts::any || contains(rules.allowed_hosts, host)) return true;
  if (rules.host_rule == hosts::listed) return false;
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]" ||
         contains(rules.allowed_hosts, name);
}

/// That of a page which this very server would have served.
bool is_own_origin(std::string_view origin, std::string_view host, const asker_rules& rules) {
  if (host.empty()) return false;
  const auto is = [&](std::string_view scheme) {
    return origin.starts_with(scheme) && origin.substr(scheme.size()) == host;
  };
  return is("http://") ||
         (rules.origin_rule == asker_rules::own_origin::or_https && is("https://"));
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto code = text[i] == '%' && i + 2 < text.size()
                          ? whole_number(text.substr(i + 1, 2), 16)
                          : std::nullopt;
    if (code) i += 2;
    out += code ? static_cast<char>(*code) : text[i] == '+' ? ' ' : text[i];
  }
  return out;
}

} // namespace

target_parts split_target(std::string_view target) {
  target_parts out;
  for (const std::string_view scheme : {"http://", "https://"})
    if (ascii_lower(target.substr(0, scheme.size())) == scheme) {
      target.remove_prefix(scheme.size());
      const std::size_t end = std::min(target.find_first_of("/?"), target.size());
      out.authority = ascii_lower(target.substr(0, end));
      target.remove_prefix(end);
      break;
    }
  const std::size_t mark = std::min(target.find('?'), target.size());
  out.path = target.substr(0, mark);
  if (out.path.empty()) out.path = "/";
  if (mark < target.size()) out.query = target.substr(mark + 1);
  return out;
}

asker_problem judge_asker(const request_head& head, const target_parts& target,
                          const asker_rules& rules, purpose p) {
  const bool probe = p == purpose::probe;
  const std::string host = ascii_lower(head.header("host"));
  const std::size_t hosts = head.count("host");
  if (hosts > 1 || (hosts == 0 && !probe)) return asker_problem::no_single_host;
  const auto name = name_in(host);
  if (!name && !(probe && host.empty())) return asker_problem::malformed_host;
  if (target.authority && hosts == 1 && *target.authority != host) return asker_problem::two_hosts;
  const std::size_t origins = head.count("origin");
  if (origins > 1) return asker_problem::two_origins;
  if (origins == 1 && allowed_origin(head, rules).empty() &&
      !is_own_origin(ascii_lower(head.header("origin")), host, rules))
    return asker_problem::foreign_origin;
  if (!probe && !host_allowed(host, *name, rules)) return asker_problem::foreign_host;
  return asker_problem::none;
}

std::string_view allowed_origin(const request_head& head, const asker_rules& rules) {
  if (rules.allowed_origins.empty() || head.count("origin") != 1) return {};
  const std::string_view origin = head.header("origin");
  return contains(rules.allowed_origins, ascii_lower(origin)) ? origin : std::string_view();
}

bool has_bearer_token(const request_head& head, std::string_view token) {
  constexpr std::string_view scheme = "bearer ";
  const std::string_view given = head.header("authorization");
  return head.count("authorization") == 1 &&
         ascii_lower(given.substr(0, scheme.size())) == scheme &&
         same_secret(trim_blanks(given.substr(scheme.size())), token);
}

std::string query_parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(pair.size() + 1, query.size()));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (decoded(pair.substr(0, equals)) == name)
      return decoded(pair.substr(std::min(equals + 1, pair.size())));
  }
  return {};
}

} // namespace paddock::http
