// SPDX-License-Identifier: MIT
#pragma once

// A strange server's words about its tools, as a model may read them.

#include <string>
#include <string_view>

namespace paddock::skill_manager {

/// A tool's input schema without the characters of its titles and descriptions that a person does
/// not see. Names and values of arguments stay as they are: the server compares them.
[[nodiscard]] std::string visible_schema(std::string_view json);

} // namespace paddock::skill_manager
