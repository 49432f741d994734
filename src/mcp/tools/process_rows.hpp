// SPDX-License-Identifier: MIT
#pragma once

// The parameters and results of the tools for processes, for the table of tools.

#include "mcp/tools/tools.hpp"

namespace paddock::mcp::process_rows {

using type = parameter_type;
inline constexpr auto required = presence::required;
inline constexpr auto optional = presence::optional;

inline constexpr parameter_row process{"process", type::string, required, ""};
inline constexpr parameter_row until{"until", type::string, optional,
                                     "RE2; a matching line ends the wait"};

/// No fallback: it depends on `until`.
inline constexpr parameter_row wait(std::string_view fallback_words) {
  return {.name = "waitMs",
          .type = type::integer,
          .presence = optional,
          .description = fallback_words,
          .minimum = 0};
}

inline constexpr parameter_row start[] = {
    {"script", type::string, optional, "Same as in exec", 1},
    {"command", type::string, optional, "Instead of script", 1},
    {"args", type::string_array, optional, ""},
    {"env", type::string_map, optional, ""},
    {.name = "cwd",
     .type = type::string,
     .presence = optional,
     .description = "",
     .characters_min = 1,
     .fallback = R"(".")"},
    {"tty", type::boolean, optional, "In a terminal, for prompts and REPLs"},
    wait("Default 1000, with until 10000"),
    until,
};
inline constexpr parameter_row read[] = {
    process,
    {.name = "from",
     .type = type::integer,
     .presence = optional,
     .description = "Offset, from the end if negative; else where the last answer ended"},
    wait("Default 0, with until 10000"),
    until,
    {.name = "bytesMax",
     .type = type::integer,
     .presence = optional,
     .description = "",
     .minimum = 100,
     .maximum = 1'000'000,
     .fallback = "30000"},
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
    {.name = "graceMs",
     .type = type::integer,
     .presence = optional,
     .description = "From SIGTERM to SIGKILL",
     .minimum = 0,
     .fallback = "2000"},
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
