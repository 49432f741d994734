// SPDX-License-Identifier: MIT
#include "mcp/protocol/revision.hpp"

#include <paddock/mcp/json.hpp>

#include <algorithm>
#include <array>
#include <iterator>

namespace paddock::mcp {
namespace {

constexpr std::array<std::string_view, revision_count> revision_names = {
    "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", revision_modern};

} // namespace

std::string_view name_of(revision r) noexcept {
  return revision_names[static_cast<std::size_t>(r)];
}

std::optional<revision> legacy_revision(std::string_view name) noexcept {
  for (std::size_t i = 0; i <= static_cast<std::size_t>(newest_legacy); ++i)
    if (revision_names[i] == name) return static_cast<revision>(i);
  return std::nullopt;
}

bool is_cacheable(std::string_view method) noexcept {
  constexpr std::string_view methods[] = {
      "server/discover",          "tools/list",    "prompts/list", "resources/list",
      "resources/templates/list", "resources/read"};
  return std::ranges::find(methods, method) != std::end(methods);
}

bool speaks_modern(const message& m) {
  return m.params["_meta"][meta_protocol_version].exists() || m.method == "server/discover" ||
         m.method == "subscriptions/listen";
}

} // namespace paddock::mcp
