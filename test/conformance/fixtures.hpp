// SPDX-License-Identifier: MIT
#pragma once

// The tools, prompts and resources that the conformance suite calls by name. What each of them has
// to answer is said in the suite's description of its scenarios.

#include <paddock/mcp/extension.hpp>
#include <paddock/mcp/tool.hpp>

#include <string_view>
#include <vector>

namespace paddock::conformance {

[[nodiscard]] std::vector<mcp::tool> fixture_tools();
/// Tools that ask the client's user or model.
[[nodiscard]] std::vector<mcp::tool> asking_tools();
/// Prompts, resources and completion.
[[nodiscard]] mcp::extension fixture_methods();

/// A PNG of one pixel, and a WAV file without samples.
[[nodiscard]] std::string_view tiny_image();
[[nodiscard]] std::string_view tiny_sound();

} // namespace paddock::conformance
