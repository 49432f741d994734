// SPDX-License-Identifier: MIT
#pragma once

// The revisions of the protocol, and what tells a message of the newest one from older ones.

#include <paddock/mcp/json_rpc.hpp>
#include <paddock/mcp/revision.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace paddock::mcp {

/// In the order of time, so that < means "older than".
enum class revision : std::uint8_t {
  r2024_11_05,
  r2025_03_26,
  r2025_06_18,
  r2025_11_25,
  r2026_07_28
};
inline constexpr std::size_t revision_count = 5;
inline constexpr revision newest_legacy = revision::r2025_11_25;

[[nodiscard]] std::string_view name_of(revision r) noexcept;
/// The legacy revision of this name.
[[nodiscard]] std::optional<revision> legacy_revision(std::string_view name) noexcept;

/// "_meta" keys of the modern revision.
inline constexpr std::string_view meta_protocol_version = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view meta_client_capabilities =
    "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view meta_client_info = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view meta_log_level = "io.modelcontextprotocol/logLevel";
inline constexpr std::string_view meta_server_info = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view meta_subscription_id = "io.modelcontextprotocol/subscriptionId";

/// Of tasks: the extension (2026-07-28), and what tells which task a message is about (2025-11-25).
inline constexpr std::string_view extension_tasks = "io.modelcontextprotocol/tasks";
inline constexpr std::string_view meta_related_task = "io.modelcontextprotocol/related-task";

/// Whether a message is of the modern revision by itself: it claims a revision, or its method
/// exists only there.
[[nodiscard]] bool speaks_modern(const message& m);

/// Whether the modern revision wants results of this method to say how long they may be kept.
[[nodiscard]] bool is_cacheable(std::string_view method) noexcept;

} // namespace paddock::mcp
