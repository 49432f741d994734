// SPDX-License-Identifier: MIT
#include "mcp/tools/change_rows.hpp"
#include "mcp/tools/process_rows.hpp"
#include "mcp/tools/row_parts.hpp"

#include <algorithm>
#include <array>

// The coding set in the table of tools: where a tool of base differs, and the tools that it adds.
// Models read all of it at each start: what a name says already is not said again.

namespace paddock::mcp {
namespace {

using namespace row_parts;

constexpr parameter_row read_page_parameters[] = {
    change_rows::place,
    {"firstLine", type::integer, optional, "1-based; negative counts from the end"},
    {"lastLine", type::integer, optional, "Inclusive; negative counts from the end"},
    {"numbered", type::boolean, optional, "Number and tab before each line"},
    {"from", type::integer, optional, "0-based, instead of firstLine"},
    {"to", type::integer, optional, "Line to stop before, instead of lastLine"},
};
constexpr parameter_row list_page_parameters[] = {
    change_rows::place,
    number("offset", "Entries to skip", 0),
    number("limit", "", 1),
};
constexpr std::string_view outputs[] = {"lines", "files", "counts"};
constexpr std::string_view kinds[] = {"any", "file", "directory"};
constexpr std::string_view orders[] = {"path", "modified"};
constexpr parameter_row next_page = number("offset", "nextOffset of the page before", 0, "0");
constexpr parameter_row search_parameters[] = {
    {"pattern", type::string, required, "RE2 expression within one line", 1},
    beneath("path", "File or directory to search"),
    {"literal", type::boolean, optional, "Take pattern as plain text"},
    {"ignoreCase", type::boolean, optional, ""},
    {"word", type::boolean, optional, "Whole words only"},
    {"include", type::string_array, optional, "Globs of files, e.g. *.ts", 1},
    {"exclude", type::string_array, optional, "Globs, of directories too", 1},
    up_to(20, number("context", "Lines before and after each match", 0, "0")),
    one_of("output", "", outputs, R"("lines")"),
    number("limit", "Lines, or files", 1, "200"),
    next_page,
    {"includeIgnored", type::boolean, optional, ""},
};
constexpr parameter_row find_parameters[] = {
    {"glob", type::string, required, "Without a slash a name at any depth; ** crosses directories",
     1},
    beneath("path", ""),
    one_of("type", "", kinds, R"("any")"),
    one_of("sort", "modified: newest first", orders, R"("path")"),
    number("limit", "", 1, "1000"),
    next_page,
    {"includeIgnored", type::boolean, optional, ""},
};
constexpr parameter_row map_parameters[] = {
    beneath("path", ""),
    number("depth", "Default: all there is room for", 1),
    number("bytesMax", "", 200, "5000"),
    {"includeIgnored", type::boolean, optional, ""},
};

constexpr std::string_view short_info_schema =
    R"({"type":"object","required":["exists","path","absolutePath","type","size"]})";
constexpr std::string_view short_list_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"items":{"type":"array"},"total":{"type":"integer"},"truncated":{"type":"boolean"}},"required":["path","items"]})";
constexpr std::string_view read_page_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"from":{"type":"integer"},"to":{"type":"integer"},"totalLines":{"type":"integer"},"truncated":{"type":"boolean"},"notice":{"type":"string"},"hash":{"type":"string"}},"required":["path","content","from","to"]})";
constexpr std::string_view picture_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"mimeType":{"type":"string"},"size":{"type":"integer"},"notice":{"type":"string"}},"required":["path","mimeType","size"]})";
constexpr std::string_view search_schema =
    R"({"type":"object","properties":{"matches":{"type":"array"},"files":{"type":"array","items":{"type":"string"}},"counts":{"type":"array"},"totalMatches":{"type":"integer"},"totalFiles":{"type":"integer"},"exact":{"type":"boolean"},"truncated":{"type":"boolean"},"nextOffset":{"type":"integer"},"searched":{"type":"integer"},"skipped":{"type":"object"},"ignoredBy":{"type":"array"},"unreadable":{"type":"array"},"endedBy":{"type":"string"},"notice":{"type":"string"}},"required":["totalMatches","truncated"]})";
constexpr std::string_view find_schema =
    R"({"type":"object","properties":{"paths":{"type":"array","items":{"type":"string"}},"total":{"type":"integer"},"exact":{"type":"boolean"},"truncated":{"type":"boolean"},"nextOffset":{"type":"integer"},"skipped":{"type":"object"},"ignoredBy":{"type":"array"},"unreadable":{"type":"array"},"endedBy":{"type":"string"},"notice":{"type":"string"}},"required":["paths","total","truncated"]})";
constexpr std::string_view map_schema =
    R"({"type":"object","properties":{"tree":{"type":"string"},"files":{"type":"integer"},"directories":{"type":"integer"},"bytes":{"type":"integer"},"truncated":{"type":"boolean"},"unreadable":{"type":"array"},"endedBy":{"type":"string"},"notice":{"type":"string"}},"required":["tree","files","directories","bytes","truncated"]})";

// The parameters and results of the tools that look at what was changed and take it back.
namespace undo_rows {

constexpr parameter_row checkpoint[] = {{"label", type::string, optional, "", 1}};
constexpr parameter_row paths{
    .name = "paths",
    .type = type::string_array,
    .presence = optional,
    .description = "Only these, and what is in them",
    .characters_min = 1,
    .elements_min = 1,
};
constexpr parameter_row list_changes[] = {
    with_default(R"("start")", {"since", type::string, optional,
                                "A checkpoint or its label; start: of this session", 1}),
    paths,
    {"diff", type::boolean, optional, "Unified diffs too"},
    number("limit", "", 1, "200"),
};
constexpr parameter_row restore[] = {
    with_default(R"("start")", {"to", type::string, optional, "Same as since of listChanges", 1}),
    wordless(paths),
    {"dryRun", type::boolean, optional, "Change nothing"},
    {"force", type::boolean, optional, "Overwrite changes of others too"},
};

constexpr std::string_view checkpoint_schema =
    R"({"type":"object","properties":{"checkpoint":{"type":"string"},"label":{"type":"string"},"files":{"type":"integer"}},"required":["checkpoint","files"]})";
constexpr std::string_view list_changes_schema =
    R"({"type":"object","properties":{"since":{"type":"string"},"changes":{"type":"array"},"notCovered":{"type":"array"},"checkpoints":{"type":"array"},"diff":{"type":"string"},"diffTruncated":{"type":"boolean"},"truncated":{"type":"boolean"},"total":{"type":"integer"},"notCoveredTotal":{"type":"integer"},"notice":{"type":"string"}},"required":["since","changes","notCovered","truncated"]})";
constexpr std::string_view restore_schema =
    R"({"type":"object","properties":{"restored":{"type":"integer"},"paths":{"type":"array"},"pathsTotal":{"type":"integer"},"folded":{"type":"array"},"conflicts":{"type":"array"},"conflictsTotal":{"type":"integer"},"left":{"type":"array"},"leftTotal":{"type":"integer"},"checkpoint":{"type":"string"},"notice":{"type":"string"}},"required":["restored","paths","conflicts"]})";

} // namespace undo_rows

constexpr parameter_row short_exec_parameters[] = {
    {"script", type::string, optional, "Shell text, run by bash where there is one, else sh", 1},
    {"command", type::string, optional, "Instead of script: one program, no shell line", 1},
    with_default("[]", {"args", type::string_array, optional,
                        "Of command as they are, of script $1 and so on"}),
    with_default("{}", {"env", type::string_map, optional, "Variables to add"}),
    beneath("cwd", "In the workspace"),
    with_default("true", {"stdout", type::boolean, optional, ""}),
    with_default("true", {"stderr", type::boolean, optional, ""}),
    number("timeout", "Milliseconds, default 45000, at most 3600000", 1),
};
constexpr std::string_view short_exec_schema =
    R"({"type":"object","properties":{"output":{"type":"string"},"exitCode":{"type":"integer"},"process":{"type":"string"},"notice":{"type":"string"}},"required":["output"]})";
constexpr std::string_view short_todos_schema =
    R"({"type":"object","properties":{"todos":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"title":{"type":"string"},"completed":{"type":"boolean"}}}}},"required":["todos"]})";
constexpr std::string_view short_remaining_schema =
    R"({"type":"object","properties":{"remainingTodos":{"type":"array"}}})";
constexpr std::string_view no_todos_schema =
    R"({"type":"object","properties":{"todos":{"type":"array"}},"required":["todos"]})";
constexpr std::string_view short_health_schema =
    R"({"type":"object","required":["status","workspace"]})";

constexpr coding_row differences[] = {
    {.name = "attemptCompletion",
     .description = "Say that the task is done; while todos are left they are returned, "
                    "and the task goes on. To mark single steps as done use todo.",
     .output_schema = short_remaining_schema},
    {.name = "todo",
     .description = "Add tasks to the todo list, mark some as completed, or see it, for "
                    "work of several steps. To begin a new list use clearTodo.",
     .output_schema = short_todos_schema},
    {.name = "clearTodo",
     .description = "Remove all tasks from the todo list; ids start at 0 again. To "
                    "complete single ones use todo.",
     .output_schema = no_todos_schema},
    {.name = "exec",
     .description =
         "Run a shell script, or one program, that ends by itself, as a build or a test, with "
         "empty input; what it started ends with it, and long output is cut in the middle. For "
         "servers use startProcess, for files searchText, findFiles, readTextFile and editFile.",
     .parameters = short_exec_parameters,
     .output_schema = short_exec_schema},
    {.name = "getFileInfo",
     .description =
         "Get type, size, MIME type, times and permissions of one file or directory. For "
         "all in a directory use listDirectory, for content readTextFile.",
     .parameters = change_rows::place_only,
     .output_schema = short_info_schema},
    {.name = "healthCheck",
     .description = "Report whether the workspace is usable and where it is, when calls fail "
                    "for no apparent reason. For what is in it use mapDirectory.",
     .output_schema = short_health_schema},
    {.name = "readTextFile",
     .description = "Read a UTF-8 text file, or lines of it; of more than 64 KiB the beginning. "
                    "To find where something is use searchText.",
     .parameters = read_page_parameters,
     .output_schema = read_page_schema},
    {.name = "readImageFile",
     .description = "See a PNG, JPEG, GIF or WebP image; larger ones than 5 MiB are only "
                    "named. For other files use readTextFile.",
     .parameters = change_rows::place_only,
     .output_schema = picture_schema},
    {.name = "readPdfFile",
     .description =
         "Check that a file is a PDF document and get its path, MIME type and size, so that "
         "the runtime can load it. For text use readTextFile, for pictures readImageFile.",
     .parameters = change_rows::place_only},
    {.name = "writeTextFile",
     .description = "Create a text file, with its missing parent directories, or replace "
                    "its whole content. To change a part use editFile; of a long text "
                    "write a first part and add the rest with appendTextFile.",
     .parameters = change_rows::write_if},
    {.name = "appendTextFile",
     .description = "Add text at the end of an existing file; no newline is added. To put "
                    "it elsewhere use editFile, to make a file writeTextFile.",
     .parameters = change_rows::append_if},
    {.name = "editTextFile",
     .description = "Replace the first exact occurrence of oldText by newText; give enough "
                    "around it to make it unique. For several edits, and to be told of other "
                    "places, use editFile.",
     .parameters = change_rows::edit_if},
    {.name = "moveFile",
     .description = "Move or rename a file or directory; nothing is overwritten, and missing "
                    "parents of the destination are created. To copy use exec with cp.",
     .parameters = change_rows::move_if},
    {.name = "deleteFile", .parameters = change_rows::path_if},
    {.name = "listDirectory",
     .description =
         "List what is directly in one directory, by name, with type, size and time. For "
         "a whole tree use mapDirectory, for a name at any depth findFiles.",
     .parameters = list_page_parameters,
     .output_schema = short_list_schema},
    {.name = "createDirectory",
     .description = "Create a directory and its missing parents; one that exists is an error. "
                    "For a new file use writeTextFile alone, which makes its directories.",
     .parameters = change_rows::place_only},
    {.name = "deleteDirectory",
     .description = "Delete a directory, with recursive all that is in it; links in it "
                    "are deleted, not followed. For a file or a link use deleteFile.",
     .parameters = change_rows::delete_all},
};

constexpr std::array added{
    tool_row{
        "searchText", "Search text",
        "Find the lines that match in all files beneath a path, ignore files respected. Use it "
        "instead of exec with grep; for names use findFiles, to read on readTextFile.",
        search_parameters, search_schema, looks, effect::none, search_text,
        R"({"pattern":"deadline|timeout","include":["*.cpp"],"context":2})", page_hint,
        toolset::coding},
    tool_row{"findFiles", "Find files",
             "Find files and directories by their names, ignore files respected. Use it instead of "
             "exec with find; for one directory with sizes use listDirectory.",
             find_parameters, find_schema, looks, effect::none, find_files,
             R"({"glob":"**/*_test.{cpp,py}","sort":"modified"})", page_hint, toolset::coding},
    tool_row{"mapDirectory", "Map directory",
             "Show a compact directory tree with sizes; what does not fit is one line with "
             "counts. Use it first in an unknown workspace; for a name use findFiles.",
             map_parameters, map_schema, looks, effect::none, map_directory,
             R"({"path":".","depth":3})", "give a smaller bytesMax", toolset::coding},
    tool_row{"editFile", "Edit file",
             "Make several exact edits of one text file, all or none, and see the diff. Use it for "
             "any change of a file that exists; for several files use applyChanges, for a whole "
             "new content writeTextFile.",
             change_rows::edit_file, change_rows::edit_file_schema, destroys, effect::writes,
             edit_file,
             R"({"path":"notes.md","edits":[{"oldText":"one","newText":"two","all":true}]})",
             edited_hint, toolset::coding},
    tool_row{
        "applyChanges", "Apply changes",
        "Change several files, all or none: edits (paths: the same in each file, as to rename "
        "a symbol), new contents, deletions, moves, or a patch. Use it for what belongs "
        "together; for one file use editFile.",
        change_rows::apply_changes, change_rows::apply_changes_schema, destroys, effect::writes,
        apply_changes,
        R"({"changes":[{"paths":["a.c","b.c"],"edits":[{"oldText":"one","newText":"two","all":true}]}]})",
        edited_hint, toolset::coding},
    tool_row{"checkpoint", "Checkpoint",
             "Remember the workspace as it is now, to come back to it with restore. Use it before "
             "risky work; what was there at the start is remembered anyway, see listChanges.",
             undo_rows::checkpoint, undo_rows::checkpoint_schema, adds, effect::recalls, checkpoint,
             R"({"label":"before the upgrade"})", less_hint, toolset::coding},
    tool_row{"listChanges", "List changes",
             "See what was changed since a checkpoint, by the agent's tools and commands or by "
             "others, and what can be taken back. To take it back use restore.",
             undo_rows::list_changes, undo_rows::list_changes_schema, looks, effect::recalls,
             list_changes, R"({"diff":true})", "ask for less with limit or paths", toolset::coding},
    tool_row{"restore", "Restore",
             "Take back what the agent's tools and commands changed since a checkpoint, all or "
             "some paths. To look first use listChanges.",
             undo_rows::restore, undo_rows::restore_schema, destroys, effect::recalls, restore,
             R"({"to":"start","paths":["src"],"dryRun":true})", "restore fewer paths",
             toolset::coding},
    tool_row{"startProcess", "Start process",
             "Start a program that keeps running, as a server or a watcher, and see the beginning "
             "of its output. For one that ends by itself use exec.",
             process_rows::start, process_rows::start_schema, opens_world, effect::attends,
             start_process, R"({"command":"npm","args":["run","dev"],"until":"ready|listening"})",
             less_hint, toolset::coding},
    tool_row{"readProcess", "Read process",
             "Read what a process wrote, or the rest of a cut output of exec; waits for more "
             "with waitMs. To see which there are use listProcesses.",
             process_rows::read, process_rows::page_schema, looks, effect::attends, read_process,
             R"({"process":"ID","waitMs":5000,"until":"error"})", "give a smaller bytesMax",
             toolset::coding},
    tool_row{"writeProcess", "Write to process",
             "Write to the standard input of a process. To see what it answers use readProcess "
             "with waitMs.",
             process_rows::write, process_rows::write_schema, opens_world, effect::attends,
             write_process, R"({"process":"ID","text":"1 + 1\n"})", less_hint, toolset::coding},
    tool_row{"stopProcess", "Stop process",
             "End a process and all that it started. To only close its input use writeProcess.",
             process_rows::stop, process_rows::stop_schema, replaces, effect::attends, stop_process,
             R"({"process":"ID"})", less_hint, toolset::coding},
    tool_row{"listProcesses", "List processes",
             "List the processes that run, and those that ended lately. For their output use "
             "readProcess.",
             no_parameters, process_rows::list_schema, looks, effect::attends, list_processes, "{}",
             less_hint, toolset::coding},
};

} // namespace

std::span<const tool_row> coding_tools() {
  return added;
}

coding_row coding_difference(std::string_view name) {
  const auto* const found = std::ranges::find(differences, name, &coding_row::name);
  return found == std::end(differences) ? coding_row{} : *found;
}

} // namespace paddock::mcp
