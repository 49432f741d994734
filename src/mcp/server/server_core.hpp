// SPDX-License-Identifier: MIT
#pragma once

// What all connections of a server share: tools, extensions, and every text that can be prepared
// once.

#include "mcp/protocol/parameter_headers.hpp"
#include "mcp/protocol/revision.hpp"

#include <paddock/mcp/server.hpp>

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace paddock::mcp {

/// What is wrong with the parts, as a sentence for people; empty if nothing.
[[nodiscard]] std::string problem_of_parts(const std::vector<tool>& tools,
                                           const std::vector<extension>& extensions);

struct advertisement {
  std::vector<std::string> capabilities;                       ///< each once, in order
  std::vector<std::pair<std::string, std::string>> extensions; ///< names and settings, likewise
};

/// Precondition: nothing is wrong with the extensions.
[[nodiscard]] advertisement advertised_by(const server_options& options,
                                          const std::vector<extension>& extensions);

/// The level of this name ("debug", …, "emergency").
[[nodiscard]] std::optional<log_level> log_level_of(std::string_view name) noexcept;
[[nodiscard]] std::string_view name_of(log_level level) noexcept;

struct server::core {
  /// Precondition: nothing is wrong with them (problem_of_parts).
  core(server_options o, std::vector<tool> t, std::vector<extension> e);

  [[nodiscard]] const tool* find(std::string_view name) const;
  /// Of a tool that is not there, perhaps one with a similar name; empty: nothing is known of it.
  [[nodiscard]] std::string unknown_tool_hint(std::string_view name) const;
  [[nodiscard]] const extension_method* find_method(std::string_view name, revision r) const;
  /// What HTTP has to repeat of the arguments of this tool.
  [[nodiscard]] const std::vector<parameter_header>& headers_of(std::string_view name) const;
  /// The result of a legacy `initialize` answered with `r`.
  [[nodiscard]] std::string initialize_result(revision r) const;
  /// Of server/discover.
  [[nodiscard]] std::string discover_result() const;

  server_options options;
  std::vector<tool> tools;
  std::vector<extension> extensions;
  advertisement advertised;
  std::unordered_map<std::string_view, const tool*> by_name;
  std::unordered_map<std::string_view, const extension_method*> methods;
  std::unordered_map<std::string_view, std::vector<parameter_header>>
      headers; ///< where there are any

  /// The tool definitions in the newest shape.
  [[nodiscard]] const std::string& tools_array() const;
  /// The result of tools/list.
  [[nodiscard]] const std::string& list_result(revision r) const;

  bool has_tasks = false;  ///< some tool allows them
  std::string server_info; ///< the Implementation object
  std::string modern_meta; ///< the _meta object of every modern result

private:
  /// Made when it is first asked for: a client speaks one revision.
  struct made_once {
    std::once_flag flag;
    std::string text;
  };
  mutable made_once tools_array_;
  mutable std::array<made_once, revision_count> list_results_;
};

} // namespace paddock::mcp
