// SPDX-License-Identifier: MIT
#pragma once

// Output of programs for a reader without a terminal.

#include <cstddef>
#include <string>
#include <string_view>

namespace paddock::mcp {

/// Without what only a terminal understands: escape sequences (colours, titles, pictures,
/// moves of the cursor), also one that the end cuts off, and text that a carriage return overwrites within its line. Line ends of CR LF stay.
[[nodiscard]] std::string plain_output(std::string_view bytes);

/// How many bytes `text` has in a JSON string, without the quotes.
[[nodiscard]] std::size_t json_size(std::string_view text);

} // namespace paddock::mcp
