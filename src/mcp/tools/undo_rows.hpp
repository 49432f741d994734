// SPDX-License-Identifier: MIT
#pragma once

// The parameters and results of the tools that look at what was changed and take it back.

#include "mcp/tools/tools.hpp"

namespace paddock::mcp::undo_rows {

using type = parameter_type;
inline constexpr auto optional = presence::optional;

inline constexpr parameter_row checkpoint[] = {{"label", type::string, optional, "", 1}};
inline constexpr parameter_row paths{
    .name = "paths",
    .type = type::string_array,
    .presence = optional,
    .description = "Only these, and what is in them",
    .characters_min = 1,
    .elements_min = 1,
};
inline constexpr parameter_row same_paths = [] {
  parameter_row row = paths;
  row.description = {};
  return row;
}();
inline constexpr parameter_row list_changes[] = {
    {.name = "since",
     .type = type::string,
     .presence = optional,
     .description = "A checkpoint or its label; start: of this session",
     .characters_min = 1,
     .fallback = R"("start")"},
    paths,
    {"diff", type::boolean, optional, "Unified diffs too"},
    {.name = "limit",
     .type = type::integer,
     .presence = optional,
     .description = "",
     .minimum = 1,
     .fallback = "200"},
};
inline constexpr parameter_row restore[] = {
    {.name = "to",
     .type = type::string,
     .presence = optional,
     .description = "Same as since of listChanges",
     .characters_min = 1,
     .fallback = R"("start")"},
    same_paths,
    {"dryRun", type::boolean, optional, "Change nothing"},
    {"force", type::boolean, optional, "Overwrite changes of others too"},
};

inline constexpr std::string_view checkpoint_schema =
    R"({"type":"object","properties":{"checkpoint":{"type":"string"},"label":{"type":"string"},"files":{"type":"integer"}},"required":["checkpoint","files"]})";
inline constexpr std::string_view list_changes_schema =
    R"({"type":"object","properties":{"since":{"type":"string"},"changes":{"type":"array"},"notCovered":{"type":"array"},"checkpoints":{"type":"array"},"diff":{"type":"string"},"diffTruncated":{"type":"boolean"},"truncated":{"type":"boolean"},"total":{"type":"integer"},"notCoveredTotal":{"type":"integer"},"notice":{"type":"string"}},"required":["since","changes","notCovered","truncated"]})";
inline constexpr std::string_view restore_schema =
    R"({"type":"object","properties":{"restored":{"type":"integer"},"paths":{"type":"array"},"pathsTotal":{"type":"integer"},"folded":{"type":"array"},"conflicts":{"type":"array"},"conflictsTotal":{"type":"integer"},"left":{"type":"array"},"leftTotal":{"type":"integer"},"checkpoint":{"type":"string"},"notice":{"type":"string"}},"required":["restored","paths","conflicts"]})";

} // namespace paddock::mcp::undo_rows
