// SPDX-License-Identifier: MIT
#pragma once

// The parameters and results of the tools for processes, for the table of tools.

#include "mcp/tools/row_parts.hpp"

namespace paddock::mcp::process_rows {

using namespace row_parts;

inline constexpr parameter_row process{"process", type::string, required, ""};
inline constexpr parameter_row until{"until", type::string, optional,
                                     "RE2; a matching line ends the wait"};

inline constexpr parameter_row start[] = {
    {"script", type::string, optional, "Same as in exec", 1},
    {"command", type::string, optional, "Instead of script", 1},
    {"args", type::string_array, optional, ""},
    {"env", type::string_map, optional, ""},
    beneath("cwd", ""),
    {"tty", type::boolean, optional, "In a terminal, for prompts and REPLs"},
    number("waitMs", "Default 1000, with until 10000", 0),
    until,
};
inline constexpr parameter_row read[] = {
    process,
    {"from", type::integer, optional,
     "Offset, from the end if negative; else where the last answer ended"},
    number("waitMs", "Default 0, with until 10000", 0),
    until,
    up_to(1'000'000, number("bytesMax", "", 100, "30000")),
};
inline constexpr parameter_row write[] = {
    process,
    {.name = "text",
     .type = type::string,
     .presence = optional,
     .description = R"(With "\n" where a line ends)",
     .characters_max = &limits::edit_characters_max,
     .too_long_hint = "write it in parts"},
    {"eof", type::boolean, optional, "Close its input"},
};
inline constexpr parameter_row stop[] = {
    process,
    number("graceMs", "From SIGTERM to SIGKILL", 0, "2000"),
};

inline constexpr std::string_view page_schema =
    R"({"type":"object","required":["process","state","output","next"]})";
/// Whole, because of what is added to it where there is a history.
inline constexpr std::string_view start_schema =
    R"({"type":"object","properties":{"process":{"type":"string"},"state":{"type":"string"},"output":{"type":"string"},"next":{"type":"integer"},"dropped":{"type":"integer"},"matched":{"type":"boolean"},"matchedLine":{"type":"string"},"exitCode":{"type":"integer"},"signal":{"type":"integer"},"notice":{"type":"string"}},"required":["process","state","output","next"]})";
inline constexpr std::string_view write_schema = R"({"type":"object","required":["written"]})";
inline constexpr std::string_view stop_schema =
    R"({"type":"object","required":["process","state"]})";
inline constexpr std::string_view list_schema =
    R"({"type":"object","properties":{"processes":{"type":"array"}},"required":["processes"]})";

} // namespace paddock::mcp::process_rows
