// SPDX-License-Identifier: MIT
#include "mcp/protocol/input_round.hpp"

#include "crypto/crypto.hpp"
#include "mcp/protocol/handler_json.hpp"

#include <paddock/mcp/json_rpc.hpp>

#include <gsl/assert>

#include <array>
#include <charconv>
#include <map>
#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::size_t digest_digits = 64;
constexpr std::size_t date_digits = 16;

std::string date_of(std::int64_t seconds) {
  std::array<char, date_digits> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                 static_cast<std::uint64_t>(seconds), 16);
  const std::string_view written(digits.data(), end.ptr);
  return std::string(date_digits - written.size(), '0').append(written);
}

/// The parts before the last have fixed lengths, so no two triples give the same text.
std::string signature(std::string_view key, std::string_view date, std::string_view purpose,
                      std::string_view state) {
  return hmac_sha256_hex(key, std::string(date).append(sha256_hex(purpose)).append(state));
}

void write_canonical(json_writer& out, json_view value);

/// The members that `wanted` wants, by name, each once: clients may order and repeat them as they
/// like.
template <class Wanted>
void write_members(json_writer& out, json_view object, const Wanted& wanted) {
  std::map<std::string_view, json_view> members;
  object.for_each_member([&](std::string_view name, json_view value) {
    if (wanted(name)) members.insert_or_assign(name, value);
  });
  out.begin_object();
  for (const auto& [name, value] : members)
    write_canonical(out.key(name), value);
  out.end_object();
}

/// Text that is the same for values that mean the same. Recursion is bounded by json_depth_max.
void write_canonical(json_writer& out, json_view value) {
  if (value.is(json_kind::object)) {
    write_members(out, value, [](std::string_view) { return true; });
  } else if (value.is(json_kind::array)) {
    out.begin_array();
    value.for_each_element([&](json_view element) { write_canonical(out, element); });
    out.end_array();
  } else if (const auto whole = value.integer()) {
    out.integer(*whole); // 1.0 is 1
  } else {
    out.raw(value.text());
  }
}

std::string_view capability_of(std::string_view method) {
  constexpr std::pair<std::string_view, std::string_view> table[] = {
      {"elicitation/create", "elicitation"},
      {"sampling/createMessage", "sampling"},
      {"roots/list", "roots"},
  };
  for (const auto& [name, capability] : table)
    if (name == method) return capability;
  return {};
}

} // namespace

bool may_need_input(std::string_view method) noexcept {
  return method == "prompts/get" || method == "resources/read";
}

bool are_requests(std::string_view requests) {
  if (!problem_of_json(requests, json_kind::object).empty()) return false; // it goes out as it is
  json_document document;
  const auto parsed = document.parse(requests);
  if (!parsed || !parsed->is(json_kind::object)) return false;
  bool all = true;
  parsed->for_each_member([&](std::string_view, json_view request) {
    all = all && !capability_of(request["method"].string().value_or("")).empty();
  });
  return all;
}

std::string undeclared_capabilities(std::string_view requests, json_view declared) {
  if (requests.empty()) return {};
  json_document document;
  const auto parsed = document.parse(requests);
  Expects(parsed && parsed->is(json_kind::object));
  bool complete = true;
  json_writer out;
  out.begin_object().key("requiredCapabilities").begin_object();
  parsed->for_each_member([&](std::string_view, json_view request) {
    const std::string_view capability =
        capability_of(request["method"].string().value_or(std::string_view()));
    Expects(!capability.empty());
    if (declared[capability].is(json_kind::object)) return;
    if (out.str().find('"' + std::string(capability) + '"') == std::string::npos)
      out.key(capability).raw("{}");
    complete = false;
  });
  out.end_object().end_object();
  return complete ? std::string() : out.take();
}

std::string purpose_of(std::string_view name, json_view params) {
  json_writer out;
  out.begin_array().string(name);
  write_members(out, params, [](std::string_view member) {
    return member != "_meta" && member != "inputResponses" && member != "requestState";
  });
  return out.end_array().take();
}

std::string seal_state(std::string_view key, std::string_view purpose, std::string_view state,
                       std::int64_t now_s) {
  const std::string date = date_of(now_s + state_lifetime_s);
  return date + signature(key, date, purpose, state).append(state);
}

std::optional<std::string> open_state(std::string_view key, std::string_view purpose,
                                      std::string_view sealed, std::int64_t now_s) {
  if (key.empty() || sealed.size() < date_digits + digest_digits) return std::nullopt;
  const std::string_view date = sealed.substr(0, date_digits);
  const std::string_view given = sealed.substr(date_digits, digest_digits);
  const std::string_view state = sealed.substr(date_digits + digest_digits);
  if (!same_secret(given, signature(key, date, purpose, state))) return std::nullopt;
  if (date < date_of(now_s)) return std::nullopt;
  return std::string(state);
}

} // namespace paddock::mcp
