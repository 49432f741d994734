// SPDX-License-Identifier: MIT
#pragma once

// What a message's headers and its body have to agree on, and which era both speak. Pure.

#include "http/text.hpp"
#include "mcp/http/posted_message.hpp"
#include "mcp/protocol/parameter_headers.hpp"

#include <paddock/mcp/json_rpc.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::mcp {

/// Whether this names a revision that is not older than the first modern one, known here or not.
[[nodiscard]] bool names_modern(std::string_view version) noexcept;

/// The era of a single message, or of a batch. `m` is what `classify` made of it.
[[nodiscard]] era era_of(const message& m, const http::fields& headers);

/// What the headers of a modern request say otherwise than its body; nothing when they agree, and
/// when the body itself is wrong, which is not for the transport to say.
[[nodiscard]] std::optional<std::string> header_mismatch(const message& m,
                                                         const http::fields& headers);

/// The same for what a tool wants repeated of its arguments.
[[nodiscard]] std::optional<std::string>
parameter_mismatch(const std::vector<parameter_header>& wanted, json_view arguments,
                   const http::fields& headers);

/// Whether a legacy client may name this revision in MCP-Protocol-Version.
[[nodiscard]] bool is_legacy_revision(std::string_view name) noexcept;

} // namespace paddock::mcp
