// SPDX-License-Identifier: MIT

// How a client comes to an agreement with a server: `server/discover`, which only servers of the
// modern revision know; what others make of it ranges from an error to silence to their death, and
// all of that means `initialize`.

#include "base/later.hpp"
#include "mcp/client/client_core.hpp"
#include "mcp/client/open_request.hpp"
#include "sys/syscall.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <unordered_map>
#include <utility>

namespace paddock::mcp {
namespace {

// HTTP statuses with which a server says that it does not know this way of speaking.
constexpr int bad_request = 400;
constexpr int not_found = 404;
constexpr int method_not_allowed = 405;

bool is_not_understood(const answer& a) {
  return a.what == answer::outcome::http_refusal &&
         (a.code == bad_request || a.code == not_found || a.code == method_not_allowed);
}

// --- what is known of endpoints -----------------------------------------------------------------

struct agreement {
  bool modern = false;
  http_kind kind = http_kind::streamable;
};

std::size_t key_of(const endpoint& to) {
  std::size_t key = to.index();
  const auto add = [&key](const std::string& text) {
    key = key * 31 + std::hash<std::string>()(text);
  };
  if (const auto* program = std::get_if<stdio_endpoint>(&to)) {
    std::ranges::for_each(program->argv, add);
    std::ranges::for_each(program->environment, add);
    add(program->working_directory);
  } else {
    add(std::get<http_endpoint>(to).url);
  }
  return key;
}

/// Of this process. A wrong entry costs a detour, never the connection.
class agreement_cache {
public:
  static agreement_cache& instance() {
    static agreement_cache cache;
    return cache;
  }
  std::optional<agreement> find(std::size_t key) {
    const std::lock_guard lock(guard_);
    const auto found = known_.find(key);
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(std::size_t key, agreement a) {
    const std::lock_guard lock(guard_);
    if (known_.size() >= entries_max) known_.clear();
    known_[key] = a;
  }
  void forget(std::size_t key) {
    const std::lock_guard lock(guard_);
    known_.erase(key);
  }

private:
  static constexpr std::size_t entries_max = 4096;
  std::mutex guard_;
  std::unordered_map<std::size_t, agreement> known_;
};

class stopwatch {
public:
  /// Since the last lap.
  std::int64_t lap_us() {
    const auto now = std::chrono::steady_clock::now();
    const auto spent = std::chrono::duration_cast<std::chrono::microseconds>(now - last_);
    last_ = now;
    return spent.count();
  }

private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

bool is_one_line_object(std::string_view json) {
  json_document document;
  const auto parsed = document.parse(json);
  return parsed && parsed->is(json_kind::object) &&
         json.find_first_of("\r\n") == std::string_view::npos;
}

/// Whether the server, refusing our revision, names it among those it supports.
bool was_refused_in_error(const answer& a) {
  json_document document;
  const json_view error = refusal_in(a, document);
  if (error["code"].integer() != static_cast<int>(rpc_error::unsupported_protocol_version))
    return false;
  bool supported = false;
  error["data"]["supported"].for_each_element(
      [&](json_view v) { supported = supported || v.string() == revision_modern; });
  return supported;
}

} // namespace

/// One run of connect.
struct client_core::attempt {
  const cancellation* cancel;
  std::int64_t deadline_ms;
  answer last; ///< the answer that decided
  http_kind kind = http_kind::streamable;

  [[nodiscard]] std::int64_t left_ms() const {
    return std::max<std::int64_t>(0, deadline_ms - sys::monotonic_ms());
  }
  [[nodiscard]] call_options within(std::int64_t timeout_ms) const {
    const std::int64_t ms = std::min(timeout_ms, left_ms());
    return {.timeout_ms = ms, .timeout_ms_max = ms, .cancel = cancel};
  }
  [[nodiscard]] call_options within_all() const { return within(left_ms()); }
  [[nodiscard]] detailed_error failure() const { return {last.reason, last.text}; }
};

result<void, detailed_error> client_core::connect(const cancellation* cancel) {
  if (cancel != nullptr && cancel->requested())
    return detailed_error({error_code::cancelled, 0, "connect"}, "the call was cancelled");
  if (options.capabilities != "{}" && !is_one_line_object(options.capabilities))
    return detailed_error({error_code::invalid_argument, 0, "capabilities"},
                          "the capabilities are not a JSON object without line breaks");
  attempt a{.cancel = cancel,
            .deadline_ms =
                later(sys::monotonic_ms(), std::max<std::int64_t>(1, options.connect_timeout_ms))};
  const std::size_t key = key_of(to_);
  stopwatch watch;
  auto agreed = negotiate(a);
  if (!agreed) {
    agreement_cache::instance().forget(key);
    return std::move(agreed).error();
  }
  agreement_cache::instance().keep(key, {.modern = speaks_modern(), .kind = a.kind});
  times.handshake_us = watch.lap_us() - times.spawn_us;
  PADDOCK_CHECK(fetch_tools(a.within_all()));
  if (server_tells_changes_ && speaks_modern()) listen_for_changes();
  times.tools_us = watch.lap_us();
  const std::lock_guard lock(guard_);
  if (lost_) return *lost_;
  connected_ = true;
  return {};
}

result<void, detailed_error> client_core::open_transport(attempt& a, http_kind kind) {
  drop_transport();
  stopwatch watch;
  a.kind = kind;
  auto transport = is_http() ? open_http(std::get<http_endpoint>(to_), kind, options, *this)
                             : start_stdio(std::get<stdio_endpoint>(to_), options, *this);
  if (!transport) return std::move(transport).error();
  times.spawn_us = watch.lap_us();
  owned_transport_ = *std::move(transport);
  transport_.store(owned_transport_.get());
  return {};
}

void client_core::drop_transport() noexcept {
  transport_.store(nullptr);
  owned_transport_.reset();
  const std::lock_guard lock(guard_);
  lost_.reset();
}

// --- the agreement ------------------------------------------------------------------------------

result<void, detailed_error> client_core::negotiate(attempt& a) {
  const auto* http = std::get_if<http_endpoint>(&to_);
  const auto known = agreement_cache::instance().find(key_of(to_));
  http_kind kind = http_kind::streamable;
  if (http != nullptr && http->kind == http_kind::sse) kind = http_kind::sse;
  if (http != nullptr && http->kind == http_kind::automatic && known) kind = known->kind;
  PADDOCK_CHECK(open_transport(a, kind));

  const bool only_modern = options.protocol == protocol_choice::modern;
  const bool may_be_modern = options.protocol != protocol_choice::legacy && kind != http_kind::sse;
  if (only_modern && !may_be_modern)
    return detailed_error({error_code::unsupported, 0, "server/discover"},
                          "HTTP with SSE exists in older revisions only");
  if (may_be_modern && (only_modern || !known || known->modern)) {
    const verdict v = discover(a, only_modern ? a.left_ms() : options.discover_timeout_ms);
    if (v == verdict::agreed) return {};
    if (v == verdict::failed || only_modern) return a.failure();
    if (v == verdict::gone) PADDOCK_CHECK(open_transport(a, kind));
  }

  verdict v = initialize(a);
  if (is_not_understood(a.last) && http != nullptr && http->kind == http_kind::automatic &&
      kind != http_kind::sse) {
    PADDOCK_CHECK(open_transport(a, http_kind::sse));
    v = initialize(a);
  } else if (v == verdict::refused && may_be_modern) {
    // It was slow to start, or has changed since it was known.
    const answer refusal = a.last;
    v = discover(a, a.left_ms());
    if (v != verdict::agreed) a.last = refusal;
  }
  if (v == verdict::agreed) return {};
  return a.failure();
}

/// To be connected to a server may take longer than it may take to answer.
answer client_core::ask_discover(const attempt& a, std::int64_t timeout_ms) {
  const call_options o = is_http() ? a.within_all() : a.within(timeout_ms);
  const std::int64_t id = next_id_.fetch_add(1);
  json_writer out = begin_request(id, "server/discover");
  write_meta(out, id, o, {});
  return round_trip({.id = id,
                     .json = out.str(),
                     .method = "server/discover",
                     .answer_ms = is_http() ? timeout_ms : 0},
                    o);
}

client_core::verdict client_core::discover(attempt& a, std::int64_t timeout_ms) {
  speaking_.store(revision::r2026_07_28);
  a.last = ask_discover(a, timeout_ms);
  if (was_refused_in_error(a.last)) a.last = ask_discover(a, timeout_ms);
  answer& last = a.last;
  switch (last.what) {
  case answer::outcome::result:
    break;
  case answer::outcome::rpc_error:
    last.reason.code = error_code::unsupported;
    return verdict::refused;
  case answer::outcome::http_refusal: {
    json_document body;
    const auto parsed = body.parse(last.json);
    if (last.code == not_found && parsed &&
        (*parsed)["error"]["code"].integer() == static_cast<int>(rpc_error::method_not_found)) {
      agree_modern(
          "{}"); // only a modern server answers like this; this one tells nothing of itself
      return verdict::agreed;
    }
    return is_not_understood(last) ? verdict::refused : verdict::failed;
  }
  case answer::outcome::none:
    if (last.unreached) return verdict::failed; // so nothing is known about its revision
    if (last.reason.code == error_code::timed_out && a.left_ms() > 0) return verdict::refused;
    return last.reason.code == error_code::io && !is_http() ? verdict::gone : verdict::failed;
  }
  bool mutual = false;
  json_document document;
  if (const auto parsed = document.parse(last.json))
    (*parsed)["supportedVersions"].for_each_element(
        [&](json_view v) { mutual = mutual || v.string() == revision_modern; });
  if (!mutual) {
    last.reason = {error_code::unsupported, 0, "server/discover"};
    last.text = "the server does not speak " + std::string(revision_modern);
    return verdict::refused;
  }
  agree_modern(last.json);
  return verdict::agreed;
}

void client_core::agree_modern(std::string_view discovered) {
  json_document document;
  const auto parsed = document.parse(discovered);
  const json_view info = (*parsed)["_meta"][meta_server_info];
  identity = {.name = string_or_empty(info["name"]),
              .version = string_or_empty(info["version"]),
              .instructions = string_or_empty((*parsed)["instructions"]),
              .revision = std::string(revision_modern)};
  server_tells_changes_ = (*parsed)["capabilities"]["tools"]["listChanged"].boolean() == true;
  agreed_.store(true);
}

client_core::verdict client_core::initialize(attempt& a) {
  speaking_.store(newest_legacy);
  const std::int64_t id = next_id_.fetch_add(1);
  json_writer out = begin_request(id, "initialize");
  out.member("protocolVersion", name_of(newest_legacy)).key("capabilities").raw("{}");
  out.key("clientInfo").raw(client_info_).end_object().end_object();
  a.last = round_trip({.id = id, .json = out.str(), .method = "initialize"}, a.within_all());
  if (a.last.what == answer::outcome::rpc_error) {
    a.last.reason.code = error_code::unsupported;
    return verdict::refused;
  }
  if (a.last.what != answer::outcome::result) return verdict::failed;
  json_document document;
  const auto parsed = document.parse(a.last.json);
  const std::string version = string_or_empty((*parsed)["protocolVersion"]);
  const auto agreed = legacy_revision(version);
  if (!agreed) {
    a.last.reason = {error_code::unsupported, 0, "initialize"};
    a.last.text = "the server answers initialize with a revision that is not known: " +
                  version.substr(0, text_bytes_max);
    return verdict::failed;
  }
  const json_view info = (*parsed)["serverInfo"];
  identity = {.name = string_or_empty(info["name"]),
              .version = string_or_empty(info["version"]),
              .instructions = string_or_empty((*parsed)["instructions"]),
              .revision = version};
  speaking_.store(*agreed);
  agreed_.store(true);
  notify("notifications/initialized", {});
  return verdict::agreed;
}

/// Its answer is an acknowledgement that never ends, so nobody waits for it.
void client_core::listen_for_changes() {
  if (!options.on_tools_changed) return;
  const std::int64_t id = next_id_.fetch_add(1);
  json_writer out = begin_request(id, "subscriptions/listen");
  out.key("notifications").raw(R"({"toolsListChanged":true})");
  write_meta(out, id, {}, {});
  (void)send({.id = id, .json = out.str(), .method = "subscriptions/listen"}).has_value();
}

} // namespace paddock::mcp
