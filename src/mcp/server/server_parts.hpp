// SPDX-License-Identifier: MIT
#pragma once

// What a server is made of, before it is made: whether the parts fit together, and what they
// advertise together. Pure.

#include <paddock/mcp/server.hpp>

#include <string>
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

} // namespace paddock::mcp
