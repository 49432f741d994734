// SPDX-License-Identifier: MIT
#pragma once

// The parameters and results of the tools of the coding set that look at the workspace, for the
// table of tools. Models read all of it at each start: what a name says already is not said again.

#include "mcp/tools/change_rows.hpp"

namespace paddock::mcp::look_rows {

using type = parameter_type;
inline constexpr auto required = presence::required;
inline constexpr auto optional = presence::optional;

inline constexpr parameter_row read_page_parameters[] = {
    change_rows::place,
    {"firstLine", type::integer, optional, "1-based; negative counts from the end"},
    {"lastLine", type::integer, optional, "Inclusive; negative counts from the end"},
    {"numbered", type::boolean, optional, "Number and tab before each line"},
    {"from", type::integer, optional, "0-based, instead of firstLine"},
    {"to", type::integer, optional, "Line to stop before, instead of lastLine"},
};
inline constexpr parameter_row list_page_parameters[] = {
    change_rows::place,
    {"offset", type::integer, optional, "Entries to skip", 0, nullptr, 0},
    {"limit", type::integer, optional, "", 0, nullptr, 1},
};
inline constexpr std::string_view outputs[] = {"lines", "files", "counts"};
inline constexpr std::string_view kinds[] = {"any", "file", "directory"};
inline constexpr std::string_view orders[] = {"path", "modified"};
inline constexpr parameter_row beneath(std::string_view description) {
  return {.name = "path",
          .type = type::string,
          .presence = optional,
          .description = description,
          .characters_min = 1,
          .fallback = R"(".")"};
}
inline constexpr parameter_row one_of(std::string_view name, std::string_view description,
                                      std::span<const std::string_view> choices,
                                      std::string_view fallback) {
  return {.name = name,
          .type = type::string,
          .presence = optional,
          .description = description,
          .choices = choices,
          .fallback = fallback};
}
inline constexpr parameter_row page_of(std::string_view description, std::string_view fallback) {
  return {.name = "limit",
          .type = type::integer,
          .presence = optional,
          .description = description,
          .minimum = 1,
          .fallback = fallback};
}
inline constexpr parameter_row next_page{.name = "offset",
                                         .type = type::integer,
                                         .presence = optional,
                                         .description = "nextOffset of the page before",
                                         .minimum = 0,
                                         .fallback = "0"};
inline constexpr parameter_row search_parameters[] = {
    {"pattern", type::string, required, "RE2 expression within one line", 1},
    beneath("File or directory to search"),
    {"literal", type::boolean, optional, "Take pattern as plain text"},
    {"ignoreCase", type::boolean, optional, ""},
    {"word", type::boolean, optional, "Whole words only"},
    {"include", type::string_array, optional, "Globs of files, e.g. *.ts", 1},
    {"exclude", type::string_array, optional, "Globs, of directories too", 1},
    {.name = "context",
     .type = type::integer,
     .presence = optional,
     .description = "Lines before and after each match",
     .minimum = 0,
     .maximum = 20,
     .fallback = "0"},
    one_of("output", "", outputs, R"("lines")"),
    page_of("Lines, or files", "200"),
    next_page,
    {"includeIgnored", type::boolean, optional, ""},
};
inline constexpr parameter_row find_parameters[] = {
    {"glob", type::string, required, "Without a slash a name at any depth; ** crosses directories",
     1},
    beneath(""),
    one_of("type", "", kinds, R"("any")"),
    one_of("sort", "modified: newest first", orders, R"("path")"),
    page_of("", "1000"),
    next_page,
    {"includeIgnored", type::boolean, optional, ""},
};
inline constexpr parameter_row map_parameters[] = {
    beneath(""),
    {.name = "depth",
     .type = type::integer,
     .presence = optional,
     .description = "Default: all there is room for",
     .minimum = 1},
    {.name = "bytesMax",
     .type = type::integer,
     .presence = optional,
     .description = "",
     .minimum = 200,
     .fallback = "5000"},
    {"includeIgnored", type::boolean, optional, ""},
};

inline constexpr std::string_view short_info_schema =
    R"({"type":"object","required":["exists","path","absolutePath","type","size"]})";
inline constexpr std::string_view short_list_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"items":{"type":"array"},"total":{"type":"integer"},"truncated":{"type":"boolean"}},"required":["path","items"]})";
inline constexpr std::string_view read_page_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"from":{"type":"integer"},"to":{"type":"integer"},"totalLines":{"type":"integer"},"truncated":{"type":"boolean"},"notice":{"type":"string"},"hash":{"type":"string"}},"required":["path","content","from","to"]})";
inline constexpr std::string_view picture_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"mimeType":{"type":"string"},"size":{"type":"integer"},"notice":{"type":"string"}},"required":["path","mimeType","size"]})";
inline constexpr std::string_view search_schema =
    R"({"type":"object","properties":{"matches":{"type":"array"},"files":{"type":"array","items":{"type":"string"}},"counts":{"type":"array"},"totalMatches":{"type":"integer"},"totalFiles":{"type":"integer"},"exact":{"type":"boolean"},"truncated":{"type":"boolean"},"nextOffset":{"type":"integer"},"searched":{"type":"integer"},"skipped":{"type":"object"},"ignoredBy":{"type":"array"},"unreadable":{"type":"array"},"endedBy":{"type":"string"},"notice":{"type":"string"}},"required":["totalMatches","truncated"]})";
inline constexpr std::string_view find_schema =
    R"({"type":"object","properties":{"paths":{"type":"array","items":{"type":"string"}},"total":{"type":"integer"},"exact":{"type":"boolean"},"truncated":{"type":"boolean"},"nextOffset":{"type":"integer"},"skipped":{"type":"object"},"ignoredBy":{"type":"array"},"unreadable":{"type":"array"},"endedBy":{"type":"string"},"notice":{"type":"string"}},"required":["paths","total","truncated"]})";
inline constexpr std::string_view map_schema =
    R"({"type":"object","properties":{"tree":{"type":"string"},"files":{"type":"integer"},"directories":{"type":"integer"},"bytes":{"type":"integer"},"truncated":{"type":"boolean"},"unreadable":{"type":"array"},"endedBy":{"type":"string"},"notice":{"type":"string"}},"required":["tree","files","directories","bytes","truncated"]})";

} // namespace paddock::mcp::look_rows
