// SPDX-License-Identifier: MIT
#pragma once

// The parameters and results of the tools that change files, for the table of tools.

#include "mcp/tools/row_parts.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace paddock::mcp {

inline constexpr std::string_view path_text =
    "Path inside the workspace, relative to it or absolute";
inline constexpr std::string_view place_text = "Relative to the workspace, or absolute";

namespace change_rows {

using namespace row_parts;

inline constexpr parameter_row path{"path", type::string, required, path_text, 1};
inline constexpr parameter_row if_hash{"ifHash", type::string, optional,
                                       "Only if the file still has this hash", 1};
inline constexpr parameter_row try_only{"dryRun", type::boolean, optional, "Change nothing"};

inline constexpr parameter_row text_to_write{"text",
                                             type::string,
                                             required,
                                             "The whole new content; empty to clear the file",
                                             0,
                                             &limits::write_characters_max,
                                             {},
                                             "write a first part, then add the rest with "
                                             "appendTextFile"};
inline constexpr parameter_row text_to_append{
    "text",   type::string,
    required, "Text to add at the end; no newline is added",
    0,        &limits::append_characters_max,
    {},       "append it in several calls"};
inline constexpr parameter_row old_text{"oldText", type::string,
                                        required,  "Exact text to find, including indentation",
                                        1,         &limits::edit_characters_max};
inline constexpr parameter_row new_text{"newText", type::string,
                                        required,  "Text to put in its place, taken literally",
                                        0,         &limits::edit_characters_max};
inline constexpr parameter_row source{"source", type::string, required,
                                      "Existing path inside the workspace", 1};
inline constexpr parameter_row destination{
    "destination", type::string, required,
    "New path; must not exist. Missing parent directories are created", 1};

inline constexpr parameter_row path_only[] = {path};
inline constexpr parameter_row write[] = {path, text_to_write};
inline constexpr parameter_row append[] = {path, text_to_append};
inline constexpr parameter_row edit[] = {path, old_text, new_text};
inline constexpr parameter_row move[] = {source, destination};
// The same in the coding set.
inline constexpr parameter_row place{"path", type::string, required, place_text, 1};
inline constexpr parameter_row place_only[] = {place};
inline constexpr parameter_row same_hash{"ifHash", type::string, optional, "", 1};
inline constexpr parameter_row path_if[] = {place, same_hash};
inline constexpr parameter_row write_if[] = {place, wordless(text_to_write), if_hash};
inline constexpr parameter_row append_if[] = {place, wordless(text_to_append), same_hash};
inline constexpr parameter_row edit_if[] = {place, old_text, wordless(new_text), same_hash};
inline constexpr parameter_row move_if[] = {
    {"source", type::string, required, "", 1},
    {"destination", type::string, required, "", 1},
    same_hash,
};
inline constexpr parameter_row delete_all[] = {place, {"recursive", type::boolean, optional, ""}};

inline constexpr parameter_row edit_members[] = {
    {"oldText", type::string, required,
     "Exact text, indentation included; must occur once unless the members below say otherwise", 1,
     &limits::edit_characters_max},
    {"newText", type::string, required, "Taken literally", 0, &limits::edit_characters_max},
    number("occurrences", "How often it has to occur", 1),
    {"all", type::boolean, optional, "Replace every one"},
    number("line", "Replace the one nearest to this line of the file before the call", 1),
};
inline constexpr std::uint64_t edits_max = 1000;
inline constexpr parameter_row edits{.name = "edits",
                                     .type = type::object_array,
                                     .presence = required,
                                     .description = "Made one after the other, all or none",
                                     .elements_min = 1,
                                     .elements_max = edits_max,
                                     .members = edit_members};
inline constexpr parameter_row edit_file[] = {place, edits, if_hash, try_only};

template <std::size_t count>
constexpr std::array<parameter_row, count> without_words(const parameter_row (&rows)[count]) {
  std::array<parameter_row, count> bare = std::to_array(rows);
  for (parameter_row& row : bare)
    row = wordless(row);
  return bare;
}
inline constexpr std::array same_edit_members = without_words(edit_members);

inline constexpr parameter_row change_members[] = {
    {"path", type::string, optional, "", 1},
    {.name = "paths",
     .type = type::string_array,
     .presence = optional,
     .description = "Instead of path: the same in each",
     .characters_min = 1,
     .elements_min = 1,
     .elements_max = edits_max},
    {.name = "edits",
     .type = type::object_array,
     .presence = optional,
     .description = "Same as in editFile",
     .elements_min = 1,
     .elements_max = edits_max,
     .members = same_edit_members},
    {"text",
     type::string,
     optional,
     "The whole content, of a new file too",
     0,
     &limits::write_characters_max,
     {},
     "write a first part, then add the rest with appendTextFile"},
    {"delete", type::boolean, optional, ""},
    {"moveTo", type::string, optional, "Where nothing is; alone or with edits", 1},
    if_hash,
};
inline constexpr std::string_view diff_kinds[] = {"stat", "full", "none"};
inline constexpr std::string_view matchings[] = {"exact", "whitespace"};
inline constexpr parameter_row apply_changes[] = {
    {.name = "changes",
     .type = type::object_array,
     .presence = optional,
     .description = "",
     .elements_min = 1,
     .elements_max = edits_max,
     .members = change_members},
    {"patch", type::string, optional, "Unified (git's too) or *** Begin Patch", 1},
    try_only,
    one_of("diff", "stat: counts of lines", diff_kinds, R"("stat")"),
    one_of("matching", "whitespace: lines may differ in blanks and tabs; the answer tells where",
           matchings, R"("exact")"),
};

inline constexpr std::string_view apply_changes_schema =
    R"({"type":"object","properties":{"applied":{"type":"boolean"},"files":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"action":{"enum":["created","edited","deleted","moved"]},"from":{"type":"string"},"hash":{"type":"string"},"added":{"type":"integer"},"removed":{"type":"integer"},"diff":{"type":"string"},"diffTruncated":{"type":"boolean"},"matchedWith":{"type":"string"},"matchedLines":{"type":"array"}}}},"notice":{"type":"string"}},"required":["applied","files"]})";
inline constexpr std::string_view path_schema =
    R"({"type":"object","properties":{"path":{"type":"string"}},"required":["path"]})";
inline constexpr std::string_view path_text_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}},"required":["path","text"]})";
inline constexpr std::string_view written_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"bytes":{"type":"integer"},"hash":{"type":"string"}},"required":["path"]})";
inline constexpr std::string_view edited_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"line":{"type":"integer"},"occurrences":{"type":"integer"},"hash":{"type":"string"}},"required":["path","line","occurrences"]})";
inline constexpr std::string_view edit_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"oldText":{"type":"string"},"newText":{"type":"string"},"occurrences":{"type":"integer"}},"required":["path","oldText","newText"]})";
inline constexpr std::string_view move_schema =
    R"({"type":"object","properties":{"source":{"type":"string"},"destination":{"type":"string"}},"required":["source","destination"]})";
inline constexpr std::string_view edit_file_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"applied":{"type":"boolean"},"hash":{"type":"string"},"edits":{"type":"array","items":{"type":"object","properties":{"line":{"type":"integer"},"occurrences":{"type":"integer"}},"required":["line","occurrences"]}},"diff":{"type":"string"},"diffTruncated":{"type":"boolean"}},"required":["path","applied","hash","edits","diff"]})";

} // namespace change_rows
} // namespace paddock::mcp
