// SPDX-License-Identifier: MIT
#include "mcp/tools/change_rows.hpp"
#include "mcp/tools/tools.hpp"

#include <array>

// The one table of workspace tools: everything that clients, models and documentation see follows
// from it.

namespace paddock::mcp {
namespace {

using type = parameter_type;
constexpr auto required = presence::required;
constexpr auto optional = presence::optional;

constexpr parameter_row todo_parameters[] = {
    {"newTodos", type::string_array, optional, "Titles of tasks to add", 0,
     &limits::todo_characters_max},
    {"completedTodos", type::integer_array, optional,
     "Ids of tasks to mark as completed; ids created by this call are allowed"},
};
constexpr parameter_row exec_parameters[] = {
    {"command", type::string, required,
     "Program to run, looked up in PATH unless it contains a slash. Not a shell line", 1},
    {"args", type::string_array, required,
     "Arguments, passed as they are. For pipes or globs run sh with -c"},
    {"env", type::string_map, required, "Environment variables to add; {} for none"},
    {"cwd", type::string, required, "Working directory inside the workspace, for example \".\"", 1},
    {"stdout", type::boolean, required, "Whether to return standard output"},
    {"stderr", type::boolean, required, "Whether to return standard error"},
    {"timeout", type::integer, optional,
     "Deadline in milliseconds (default 45000 unless configured). Then everything the command "
     "started is killed",
     0, nullptr, 1},
};
constexpr parameter_row short_exec_parameters[] = {
    {"command", type::string, required,
     "Program to run, looked up in PATH unless it contains a slash. Not a shell line", 1},
    {.name = "args",
     .type = type::string_array,
     .presence = optional,
     .description = "Arguments, passed as they are. For pipes or globs run sh with -c",
     .fallback = "[]"},
    {.name = "env",
     .type = type::string_map,
     .presence = optional,
     .description = "Environment variables to add",
     .fallback = "{}"},
    {.name = "cwd",
     .type = type::string,
     .presence = optional,
     .description = "Working directory inside the workspace",
     .characters_min = 1,
     .fallback = R"(".")"},
    {.name = "stdout",
     .type = type::boolean,
     .presence = optional,
     .description = "",
     .fallback = "true"},
    {.name = "stderr",
     .type = type::boolean,
     .presence = optional,
     .description = "",
     .fallback = "true"},
    {"timeout", type::integer, optional, "Deadline in milliseconds", 0, nullptr, 1},
};
constexpr parameter_row read_page_parameters[] = {
    {"path", type::string, required, path_text, 1},
    {"firstLine", type::integer, optional, "1-based; negative counts from the end"},
    {"lastLine", type::integer, optional, "Inclusive; negative counts from the end"},
    {"numbered", type::boolean, optional, "Put its number and a tab before each line"},
    {"from", type::integer, optional, "0-based, instead of firstLine"},
    {"to", type::integer, optional, "Line to stop before, instead of lastLine"},
};
constexpr parameter_row read_text_parameters[] = {
    {"path", type::string, required, path_text, 1},
    {"from", type::integer, optional, "First line, 0-based; negative counts from the end"},
    {"to", type::integer, optional, "Line to stop before; negative counts from the end"},
};
constexpr parameter_row list_parameters[] = {
    {"path", type::string, required,
     "Directory inside the workspace; \".\" for the workspace itself", 1},
    {"offset", type::integer, optional, "Entries to skip", 0, nullptr, 0},
    {"limit", type::integer, optional, "Most entries to return", 0, nullptr, 1},
};
constexpr parameter_row delete_directory_parameters[] = {
    {"path", type::string, required, path_text, 1},
    {"recursive", type::boolean, optional, "Whether to delete the contents too (default false)"},
};
constexpr std::string_view outputs[] = {"lines", "files", "counts"};
constexpr std::string_view kinds[] = {"any", "file", "directory"};
constexpr std::string_view orders[] = {"path", "modified"};
constexpr parameter_row place(std::string_view description) {
  return {.name = "path",
          .type = type::string,
          .presence = optional,
          .description = description,
          .characters_min = 1,
          .fallback = R"(".")"};
}
constexpr parameter_row one_of(std::string_view name, std::string_view description,
                               std::span<const std::string_view> choices,
                               std::string_view fallback) {
  return {.name = name,
          .type = type::string,
          .presence = optional,
          .description = description,
          .choices = choices,
          .fallback = fallback};
}
constexpr parameter_row page_of(std::string_view description, std::string_view fallback) {
  return {.name = "limit",
          .type = type::integer,
          .presence = optional,
          .description = description,
          .minimum = 1,
          .fallback = fallback};
}
constexpr parameter_row next_page{.name = "offset",
                                  .type = type::integer,
                                  .presence = optional,
                                  .description = "nextOffset of the page before",
                                  .minimum = 0,
                                  .fallback = "0"};
constexpr parameter_row search_parameters[] = {
    {"pattern", type::string, required, "RE2 expression within one line", 1},
    place("File or directory to search"),
    {"literal", type::boolean, optional, "Take pattern as plain text"},
    {"ignoreCase", type::boolean, optional, ""},
    {"word", type::boolean, optional, "Whole words only"},
    {"include", type::string_array, optional, "Globs of files to search, e.g. *.ts", 1},
    {"exclude", type::string_array, optional, "Globs of files and directories to leave out", 1},
    {.name = "context",
     .type = type::integer,
     .presence = optional,
     .description = "Lines before and after each match",
     .minimum = 0,
     .maximum = 20,
     .fallback = "0"},
    one_of("output", "", outputs, R"("lines")"),
    page_of("Most lines (or files) to return", "200"),
    next_page,
    {"includeIgnored", type::boolean, optional, "Search what ignore files leave out"},
};
constexpr parameter_row find_parameters[] = {
    {"glob", type::string, required, "Without a slash a name at any depth; ** crosses directories",
     1},
    place("Directory to look in"),
    one_of("type", "", kinds, R"("any")"),
    one_of("sort", "modified: newest first", orders, R"("path")"),
    page_of("", "1000"),
    next_page,
    {"includeIgnored", type::boolean, optional, "Find what ignore files leave out"},
};
constexpr parameter_row map_parameters[] = {
    place("Directory to map"),
    {.name = "depth",
     .type = type::integer,
     .presence = optional,
     .description = "Levels to show (default: all there is room for)",
     .minimum = 1},
    {.name = "bytesMax",
     .type = type::integer,
     .presence = optional,
     .description = "Most bytes of the map",
     .minimum = 200,
     .fallback = "5000"},
    {"includeIgnored", type::boolean, optional, "Show what is in ignored directories"},
};

constexpr std::string_view todos_schema =
    R"({"type":"object","properties":{"todos":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"title":{"type":"string"},"completed":{"type":"boolean"}},"required":["id","title","completed"]}}},"required":["todos"]})";
constexpr std::string_view remaining_schema =
    R"({"type":"object","properties":{"remainingTodos":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"title":{"type":"string"},"completed":{"type":"boolean"}},"required":["id","title","completed"]}}}})";
constexpr std::string_view exec_schema =
    R"({"type":"object","properties":{"output":{"type":"string"},"exitCode":{"type":"integer"},"notice":{"type":"string"}},"required":["output"]})";
constexpr std::string_view info_schema =
    R"({"type":"object","properties":{"exists":{"type":"boolean"},"path":{"type":"string"},"absolutePath":{"type":"string"},"name":{"type":"string"},"directory":{"type":"string"},"extension":{"anyOf":[{"type":"string"},{"type":"null"}]},"type":{"type":"string","enum":["file","directory","other"]},"mimeType":{"anyOf":[{"type":"string"},{"type":"null"}]},"size":{"type":"integer"},"sizeFormatted":{"type":"string"},"created":{"type":"string"},"modified":{"type":"string"},"accessed":{"type":"string"},"permissions":{"type":"object","properties":{"readable":{"type":"boolean"},"writable":{"type":"boolean"},"executable":{"type":"boolean"}}}},"required":["exists","path","absolutePath","type","size"]})";
constexpr std::string_view linked_info_schema =
    R"({"type":"object","properties":{"exists":{"type":"boolean"},"path":{"type":"string"},"absolutePath":{"type":"string"},"name":{"type":"string"},"directory":{"type":"string"},"extension":{"anyOf":[{"type":"string"},{"type":"null"}]},"type":{"type":"string","enum":["file","directory","other"]},"linkTo":{"type":"string"},"mimeType":{"anyOf":[{"type":"string"},{"type":"null"}]},"size":{"type":"integer"},"sizeFormatted":{"type":"string"},"created":{"type":"string"},"modified":{"type":"string"},"accessed":{"type":"string"},"permissions":{"type":"object","properties":{"readable":{"type":"boolean"},"writable":{"type":"boolean"},"executable":{"type":"boolean"}}}},"required":["exists","path","absolutePath","type","size"]})";
constexpr std::string_view health_schema =
    R"({"type":"object","properties":{"status":{"type":"string"},"workspace":{"type":"string"},"uptime":{"type":"string"},"memory":{"type":"object","properties":{"heapUsed":{"type":"string"},"heapTotal":{"type":"string"}}},"pid":{"type":"integer"},"version":{"type":"string"},"resolver":{"type":"string"},"warning":{"type":"string"},"confinement":{"type":"array","items":{"type":"object","properties":{"layer":{"type":"string"},"wanted":{"type":"string"},"applied":{"type":"boolean"},"mechanism":{"type":"string"},"missing":{"type":"string"},"remedy":{"type":"string"}},"required":["layer","wanted","applied"]}}},"required":["status","workspace","uptime","memory","pid"]})";
constexpr std::string_view read_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"from":{"type":"integer"},"to":{"type":"integer"},"totalLines":{"type":"integer"}},"required":["path","content","from","to"]})";
constexpr std::string_view read_page_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"from":{"type":"integer"},"to":{"type":"integer"},"totalLines":{"type":"integer"},"truncated":{"type":"boolean"},"notice":{"type":"string"},"hash":{"type":"string"}},"required":["path","content","from","to"]})";
constexpr std::string_view picture_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"mimeType":{"type":"string"},"size":{"type":"integer"},"notice":{"type":"string"}},"required":["path","mimeType","size"]})";
constexpr std::string_view media_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"mimeType":{"type":"string"},"size":{"type":"integer"}},"required":["path","mimeType","size"]})";
constexpr std::string_view list_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"items":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"path":{"type":"string"},"type":{"type":"string","enum":["file","directory","other"]},"size":{"type":"integer"},"modified":{"type":"string"},"symlink":{"type":"boolean"},"unreadable":{"type":"boolean"}},"required":["name","path","type","size","modified"]}},"total":{"type":"integer"},"truncated":{"type":"boolean"}},"required":["path","items"]})";
constexpr std::string_view search_schema =
    R"({"type":"object","properties":{"matches":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"array","items":{"type":"object","properties":{"line":{"type":"integer"},"text":{"type":"string"},"context":{"type":"boolean"},"cut":{"type":"boolean"}},"required":["line","text"]}}}}},"files":{"type":"array","items":{"type":"string"}},"counts":{"type":"array","items":{"type":"object","properties":{"path":{"type":"string"},"lines":{"type":"integer"}}}},"totalMatches":{"type":"integer"},"totalFiles":{"type":"integer"},"exact":{"type":"boolean"},"truncated":{"type":"boolean"},"nextOffset":{"type":"integer"},"searched":{"type":"integer"},"skipped":{"type":"object"},"ignoredBy":{"type":"array","items":{"type":"object"}},"unreadable":{"type":"array","items":{"type":"object"}},"endedBy":{"type":"string"},"notice":{"type":"string"}},"required":["totalMatches","truncated"]})";
constexpr std::string_view find_schema =
    R"({"type":"object","properties":{"paths":{"type":"array","items":{"type":"string"}},"total":{"type":"integer"},"exact":{"type":"boolean"},"truncated":{"type":"boolean"},"nextOffset":{"type":"integer"},"skipped":{"type":"object"},"ignoredBy":{"type":"array","items":{"type":"object"}},"unreadable":{"type":"array","items":{"type":"object"}},"endedBy":{"type":"string"},"notice":{"type":"string"}},"required":["paths","total","truncated"]})";
constexpr std::string_view map_schema =
    R"({"type":"object","properties":{"tree":{"type":"string"},"files":{"type":"integer"},"directories":{"type":"integer"},"bytes":{"type":"integer"},"truncated":{"type":"boolean"},"unreadable":{"type":"array","items":{"type":"object"}},"endedBy":{"type":"string"},"notice":{"type":"string"}},"required":["tree","files","directories","bytes","truncated"]})";

constexpr annotations looks{.read_only = true, .destructive = false, .idempotent = true};
constexpr annotations adds{.destructive = false};
constexpr annotations replaces{.idempotent = true};
constexpr annotations destroys{};
constexpr annotations opens_world{.open_world = true};

constexpr std::string_view less_hint = "ask for less in one call";
constexpr std::string_view read_hint = "read a part of the file with from and to (line numbers)";
constexpr std::string_view remaining_hint =
    "too many todos are left to be shown; complete them, or start a new list with clearTodo";
constexpr std::string_view todo_hint =
    "the list was changed, but it is too long to be shown; start a new one with clearTodo";
constexpr std::string_view page_hint = "ask for less with limit, and for the rest with offset";
constexpr std::string_view edited_hint =
    "the change was made, but the result is too long to be shown; make fewer edits in one call";
constexpr std::string_view list_hint = "list a part of the directory with offset and limit";

constexpr std::array table{
    tool_row{"attemptCompletion",
             "Attempt completion",
             "Signal that the task is done. Returns {} when no todo is left; otherwise the "
             "remaining todos, and the task goes on.",
             {},
             remaining_schema,
             looks,
             effect::none,
             attempt_completion,
             "{}",
             remaining_hint,
             toolset::base,
             {.description = "Say that the task is done; while todos are left they are returned, "
                             "and the task goes on. To mark single steps as done use todo."}},
    tool_row{"todo",
             "Todo list",
             "Add tasks to the todo list and mark tasks as completed. Always returns the whole "
             "list; call it without arguments to see it.",
             todo_parameters,
             todos_schema,
             adds,
             effect::none,
             todo,
             R"({"newTodos":["Read the notes"],"completedTodos":[0]})",
             todo_hint,
             toolset::base,
             {.description = "Add tasks to the todo list, mark some as completed, or see it, for "
                             "work of several steps. To begin a new list use clearTodo."}},
    tool_row{"clearTodo",
             "Clear todo list",
             "Remove all tasks from the todo list; ids start at 0 again.",
             {},
             todos_schema,
             replaces,
             effect::none,
             clear_todo,
             "{}",
             less_hint,
             toolset::base,
             {.description = "Remove all tasks from the todo list; ids start at 0 again. To "
                             "complete single ones use todo."}},
    tool_row{
        "exec",
        "Run a command",
        "Run a program in the workspace and return its output. No shell is involved; standard "
        "input is empty; everything the program "
        "started is ended when it ends. Do not use it for servers or watchers. Long output is "
        "cut in the middle. Exit code 1 of a program that searches or compares (grep, diff) "
        "is an answer and no failure.",
        exec_parameters,
        exec_schema,
        opens_world,
        effect::runs,
        exec,
        R"({"command":"ls","args":["-l"],"env":{},"cwd":".","stdout":true,"stderr":true})",
        less_hint,
        toolset::base,
        {.description =
             "Run a program that ends by itself, as a build or a test, without a shell and with "
             "empty input; what it started ends with it, and long output is cut in the middle. To "
             "find, read or change files use searchText, findFiles, readTextFile and editFile.",
         .parameters = short_exec_parameters}},
    tool_row{"getFileInfo",
             "File information",
             "Get type, size, MIME type, times and permissions of a file or directory.",
             change_rows::path_only,
             info_schema,
             looks,
             effect::none,
             get_file_info,
             R"({"path":"notes.md"})",
             less_hint,
             toolset::base,
             {.description =
                  "Get type, size, MIME type, times and permissions of one file or directory. For "
                  "all in a directory use listDirectory, for content readTextFile.",
              .output_schema = linked_info_schema}},
    tool_row{
        "healthCheck",
        "Health check",
        "Report whether the workspace is usable, where it is, and uptime and memory of the server.",
        {},
        health_schema,
        looks,
        effect::none,
        health_check,
        "{}",
        less_hint,
        toolset::base,
        {.description = "Report whether the workspace is usable and where it is, when calls fail "
                        "for no plain reason. For what is in it use mapDirectory."}},
    tool_row{"readTextFile",
             "Read text file",
             "Read a UTF-8 text file, or some of its lines with from and to. Fails for binary "
             "files. For large files read parts.",
             read_text_parameters,
             read_schema,
             looks,
             effect::none,
             read_text_file,
             R"({"path":"notes.md","from":0,"to":100})",
             read_hint,
             toolset::base,
             {.description =
                  "Read a UTF-8 text file, or lines of it; of a long one without lines the "
                  "beginning. To find where something is use searchText.",
              .parameters = read_page_parameters,
              .output_schema = read_page_schema}},
    tool_row{"readImageFile",
             "Read image file",
             "Check that a file is a PNG, JPEG, GIF or WebP image and return its path, MIME type "
             "and size, so that the runtime can load it.",
             change_rows::path_only,
             media_schema,
             looks,
             effect::none,
             read_image_file,
             R"({"path":"images/plan.png"})",
             less_hint,
             toolset::base,
             {.description = "See a PNG, JPEG, GIF or WebP image; larger ones than 5 MiB are only "
                             "named. For other files use readTextFile.",
              .output_schema = picture_schema}},
    tool_row{
        "readPdfFile",
        "Read PDF file",
        "Check that a file is a PDF document and return its path, MIME type and size, so that "
        "the runtime can load it.",
        change_rows::path_only,
        media_schema,
        looks,
        effect::none,
        read_pdf_file,
        R"({"path":"documents/plan.pdf"})",
        less_hint,
        toolset::base,
        {.description =
             "Check that a file is a PDF document and get its path, MIME type and size, so that "
             "the runtime can load it. For text use readTextFile, for pictures readImageFile."}},
    tool_row{"writeTextFile",
             "Write text file",
             "Create a text file or replace its whole content, atomically. Missing parent "
             "directories are created. For longer texts write the "
             "first part and add the rest with appendTextFile.",
             change_rows::write,
             change_rows::path_text_schema,
             replaces,
             effect::writes,
             write_text_file,
             R"({"path":"notes.md","text":"# Notes\n"})",
             less_hint,
             toolset::base,
             {.description = "Create a text file, with its missing parent directories, or replace "
                             "its whole content. To change a part use editFile; of a long text "
                             "write a first part and add the rest with appendTextFile.",
              .parameters = change_rows::write_if},
             change_rows::written_schema},
    tool_row{"appendTextFile",
             "Append to text file",
             "Add text at the end of an existing file. No newline is added.",
             change_rows::append,
             change_rows::path_text_schema,
             adds,
             effect::writes,
             append_text_file,
             R"({"path":"notes.md","text":"One more line\n"})",
             less_hint,
             toolset::base,
             {.description = "Add text at the end of an existing file; no newline is added. To put "
                             "it elsewhere use editFile, to make a file writeTextFile.",
              .parameters = change_rows::append_if},
             change_rows::written_schema},
    tool_row{"editTextFile",
             "Edit text file",
             "Replace the first exact occurrence of oldText by newText. Line endings of the file "
             "are kept. Give enough of the surrounding text to "
             "make oldText unique; occurrences tells how many there were.",
             change_rows::edit,
             change_rows::edit_schema,
             destroys,
             effect::writes,
             edit_text_file,
             R"({"path":"notes.md","oldText":"# Notes","newText":"# Plan"})",
             less_hint,
             toolset::base,
             {.description =
                  "Replace the first exact occurrence of oldText by newText; give enough "
                  "around it to make it unique. For several edits, and to be told of other "
                  "places, use editFile.",
              .parameters = change_rows::edit_if},
             change_rows::edited_schema},
    tool_row{"moveFile",
             "Move file",
             "Move or rename a file or directory. Never overwrites. Missing parent directories of "
             "the destination are created.",
             change_rows::move,
             change_rows::move_schema,
             destroys,
             effect::writes,
             move_file,
             R"({"source":"notes.md","destination":"documents/notes.md"})",
             less_hint,
             toolset::base,
             {.description =
                  "Move or rename a file or directory; nothing is overwritten, and missing "
                  "parents of the destination are created. To copy use exec with cp.",
              .parameters = change_rows::move_if}},
    tool_row{"deleteFile",
             "Delete file",
             "Delete a file or a symbolic link. For directories use deleteDirectory.",
             change_rows::path_only,
             change_rows::path_schema,
             destroys,
             effect::writes,
             delete_file,
             R"({"path":"notes.md"})",
             less_hint,
             toolset::base,
             {.parameters = change_rows::path_if}},
    tool_row{"listDirectory",
             "List directory",
             "List the direct children of a directory, sorted by name, with type, size and "
             "modification time.",
             list_parameters,
             list_schema,
             looks,
             effect::none,
             list_directory,
             R"({"path":"."})",
             list_hint,
             toolset::base,
             {.description =
                  "List what is directly in one directory, by name, with type, size and time. For "
                  "a whole tree use mapDirectory, for a name at any depth findFiles."}},
    tool_row{"createDirectory",
             "Create directory",
             "Create a directory and its missing parents. Fails when it already exists.",
             change_rows::path_only,
             change_rows::path_schema,
             adds,
             effect::writes,
             create_directory,
             R"({"path":"documents/2024"})",
             less_hint,
             toolset::base,
             {.description =
                  "Create a directory and its missing parents; one that exists is an error. "
                  "For a new file use writeTextFile alone, which makes its directories."}},
    tool_row{"deleteDirectory",
             "Delete directory",
             "Delete a directory; with recursive also everything in it. Symbolic links inside are "
             "deleted, not followed.",
             delete_directory_parameters,
             change_rows::path_schema,
             destroys,
             effect::writes,
             delete_directory,
             R"({"path":"documents/2024","recursive":true})",
             less_hint,
             toolset::base,
             {.description = "Delete a directory, with recursive all that is in it; links in it "
                             "are deleted, not followed. For a file or a link use deleteFile."}},
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
             "Show a directory tree in little text, with sizes; what has no room is one line with "
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
};

} // namespace

std::span<const tool_row> tool_table() {
  return table;
}

} // namespace paddock::mcp
