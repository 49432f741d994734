// SPDX-License-Identifier: MIT
#pragma once

/// Methods beyond tools that a server offers: an extension of the protocol with a name, settings
/// that clients see, and handlers.
///
/// The server advertises the extension to clients of 2025-11-25 and later, runs its methods like
/// tools (on the same threads, cancellable, with progress) and adds to their results what every
/// result of a revision has. What the methods mean is the extension's business.
///
/// Thread-safety: an extension is immutable once registered; its handlers may be called from
/// several threads at once. One that throws, or whose result is no JSON, fails its call with an
/// internal error.

#include <paddock/mcp/json_rpc.hpp>
#include <paddock/mcp/tool.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

/// What a method answers: a result, or an error of JSON-RPC.
struct method_result {
  std::string json{}; ///< one JSON object: the result without "resultType", "_meta" and cache hints
  std::optional<rpc_failure> error{}; ///< instead of everything else
  /// Instead of `json`; for prompts/get and resources/read only.
  std::optional<input_needed> needed{};

  /// A JSON-RPC error with that code; `message` is for the people behind the client. `data` is JSON
  /// text or empty.
  static method_result failure(rpc_error code, std::string_view message,
                               std::string_view data = {}) {
    return {
        .json = {},
        .error =
            rpc_failure{.code = code, .message = std::string(message), .data = std::string(data)},
        .needed = {}};
  }
};

/// Which clients have a method; for the others it does not exist.
enum class method_era : std::uint8_t {
  every,
  legacy, ///< up to 2025-11-25: what 2026-07-28 removed, such as resources/subscribe
  modern, ///< 2026-07-28
};

struct extension_method {
  std::string name{}; ///< "skills/list"
  /// For results that clients may keep: how long, by themselves only. Nothing: not to be kept,
  /// which the results that 2026-07-28 calls cacheable (prompts/list, resources/list,
  /// resources/templates/list, resources/read) say as 0.
  std::optional<std::int64_t> time_to_live_ms{};
  /// `call::arguments` are the request's params: an object, or missing.
  std::function<method_result(call&)> handler{};
  method_era era = method_era::every;
  json_origin origin = json_origin::unknown; ///< of results
};

struct extension {
  /// "io.modelcontextprotocol/skills"; empty for methods of the protocol itself (prompts, …), which
  /// are advertised by `capabilities` alone.
  std::string name{};
  /// A JSON object. Those of two extensions of one name are put together, member by member.
  std::string settings = "{}";
  std::vector<std::string> capabilities{}; ///< advertised with it, such as "resources"
  std::vector<extension_method> methods{};
};

} // namespace paddock::mcp
