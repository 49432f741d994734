// SPDX-License-Identifier: MIT
#include "mcp/tools/change_rows.hpp"
#include "mcp/tools/row_parts.hpp"

#include <array>
#include <vector>

// The one table of workspace tools: everything that clients, models and documentation see follows
// from it. Here are the tools of base; coding_rows.cpp has those of the coding set, and where these
// differ there.

namespace paddock::mcp {
namespace {

using namespace row_parts;

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
    number(
        "timeout",
        "Deadline in milliseconds (default 45000 unless configured). Then everything the command "
        "started is killed",
        1),
};
constexpr parameter_row read_text_parameters[] = {
    {"path", type::string, required, path_text, 1},
    {"from", type::integer, optional, "First line, 0-based; negative counts from the end"},
    {"to", type::integer, optional, "Line to stop before; negative counts from the end"},
};
constexpr parameter_row list_parameters[] = {
    {"path", type::string, required,
     "Directory inside the workspace; \".\" for the workspace itself", 1},
    number("offset", "Entries to skip", 0),
    number("limit", "Most entries to return", 1),
};
constexpr parameter_row delete_directory_parameters[] = {
    {"path", type::string, required, path_text, 1},
    {"recursive", type::boolean, optional, "Whether to delete the contents too (default false)"},
};
constexpr std::string_view todos_schema =
    R"({"type":"object","properties":{"todos":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"title":{"type":"string"},"completed":{"type":"boolean"}},"required":["id","title","completed"]}}},"required":["todos"]})";
constexpr std::string_view remaining_schema =
    R"({"type":"object","properties":{"remainingTodos":{"type":"array","items":{"type":"object","properties":{"id":{"type":"integer"},"title":{"type":"string"},"completed":{"type":"boolean"}},"required":["id","title","completed"]}}}})";
constexpr std::string_view exec_schema =
    R"({"type":"object","properties":{"output":{"type":"string"},"exitCode":{"type":"integer"},"notice":{"type":"string"}},"required":["output"]})";
constexpr std::string_view info_schema =
    R"({"type":"object","properties":{"exists":{"type":"boolean"},"path":{"type":"string"},"absolutePath":{"type":"string"},"name":{"type":"string"},"directory":{"type":"string"},"extension":{"anyOf":[{"type":"string"},{"type":"null"}]},"type":{"type":"string","enum":["file","directory","other"]},"mimeType":{"anyOf":[{"type":"string"},{"type":"null"}]},"size":{"type":"integer"},"sizeFormatted":{"type":"string"},"created":{"type":"string"},"modified":{"type":"string"},"accessed":{"type":"string"},"permissions":{"type":"object","properties":{"readable":{"type":"boolean"},"writable":{"type":"boolean"},"executable":{"type":"boolean"}}}},"required":["exists","path","absolutePath","type","size"]})";
constexpr std::string_view health_schema =
    R"({"type":"object","properties":{"status":{"type":"string"},"workspace":{"type":"string"},"uptime":{"type":"string"},"memory":{"type":"object","properties":{"heapUsed":{"type":"string"},"heapTotal":{"type":"string"}}},"pid":{"type":"integer"},"version":{"type":"string"},"resolver":{"type":"string"},"warning":{"type":"string"},"confinement":{"type":"array","items":{"type":"object","properties":{"layer":{"type":"string"},"wanted":{"type":"string"},"applied":{"type":"boolean"},"mechanism":{"type":"string"},"missing":{"type":"string"},"remedy":{"type":"string"}},"required":["layer","wanted","applied"]}}},"required":["status","workspace","uptime","memory","pid"]})";
constexpr std::string_view read_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"},"from":{"type":"integer"},"to":{"type":"integer"},"totalLines":{"type":"integer"}},"required":["path","content","from","to"]})";
constexpr std::string_view media_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"mimeType":{"type":"string"},"size":{"type":"integer"}},"required":["path","mimeType","size"]})";
constexpr std::string_view list_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"items":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"path":{"type":"string"},"type":{"type":"string","enum":["file","directory","other"]},"size":{"type":"integer"},"modified":{"type":"string"},"symlink":{"type":"boolean"},"unreadable":{"type":"boolean"}},"required":["name","path","type","size","modified"]}},"total":{"type":"integer"},"truncated":{"type":"boolean"}},"required":["path","items"]})";

constexpr std::array base_tools{
    tool_row{"attemptCompletion", "Attempt completion",
             "Signal that the task is done. Returns {} when no todo is left; otherwise the "
             "remaining todos, and the task goes on.",
             no_parameters, remaining_schema, looks, effect::none, attempt_completion, "{}",
             remaining_hint},
    tool_row{"todo", "Todo list",
             "Add tasks to the todo list and mark tasks as completed. Always returns the whole "
             "list; call it without arguments to see it.",
             todo_parameters, todos_schema, adds, effect::none, todo,
             R"({"newTodos":["Read the notes"],"completedTodos":[0]})", todo_hint},
    tool_row{"clearTodo", "Clear todo list",
             "Remove all tasks from the todo list; ids start at 0 again.", no_parameters,
             todos_schema, replaces, effect::none, clear_todo, "{}", less_hint},
    tool_row{"exec", "Run a command",
             "Run a program in the workspace and return its output. No shell is involved; standard "
             "input is empty; everything the program "
             "started is ended when it ends. Do not use it for servers or watchers. Long output is "
             "cut in the middle. Exit code 1 of a program that searches or compares (grep, diff) "
             "is an answer and no failure.",
             exec_parameters, exec_schema, opens_world, effect::runs, exec,
             R"({"command":"ls","args":["-l"],"env":{},"cwd":".","stdout":true,"stderr":true})",
             less_hint},
    tool_row{"getFileInfo", "File information",
             "Get type, size, MIME type, times and permissions of a file or directory.",
             change_rows::path_only, info_schema, looks, effect::none, get_file_info,
             R"({"path":"notes.md"})", less_hint},
    tool_row{
        "healthCheck", "Health check",
        "Report whether the workspace is usable, where it is, and uptime and memory of the server.",
        no_parameters, health_schema, looks, effect::none, health_check, "{}", less_hint},
    tool_row{"readTextFile", "Read text file",
             "Read a UTF-8 text file, or some of its lines with from and to. Fails for binary "
             "files. For large files read parts.",
             read_text_parameters, read_schema, looks, effect::none, read_text_file,
             R"({"path":"notes.md","from":0,"to":100})", read_hint},
    tool_row{"readImageFile", "Read image file",
             "Check that a file is a PNG, JPEG, GIF or WebP image and return its path, MIME type "
             "and size, so that the runtime can load it.",
             change_rows::path_only, media_schema, looks, effect::none, read_image_file,
             R"({"path":"images/plan.png"})", less_hint},
    tool_row{"readPdfFile", "Read PDF file",
             "Check that a file is a PDF document and return its path, MIME type and size, so that "
             "the runtime can load it.",
             change_rows::path_only, media_schema, looks, effect::none, read_pdf_file,
             R"({"path":"documents/plan.pdf"})", less_hint},
    tool_row{"writeTextFile", "Write text file",
             "Create a text file or replace its whole content, atomically. Missing parent "
             "directories are created. For longer texts write the "
             "first part and add the rest with appendTextFile.",
             change_rows::write, change_rows::path_text_schema, replaces, effect::writes,
             write_text_file, R"({"path":"notes.md","text":"# Notes\n"})", less_hint, toolset::base,
             change_rows::written_schema},
    tool_row{"appendTextFile", "Append to text file",
             "Add text at the end of an existing file. No newline is added.", change_rows::append,
             change_rows::path_text_schema, adds, effect::writes, append_text_file,
             R"({"path":"notes.md","text":"One more line\n"})", less_hint, toolset::base,
             change_rows::written_schema},
    tool_row{"editTextFile", "Edit text file",
             "Replace the first exact occurrence of oldText by newText. Line endings of the file "
             "are kept. Give enough of the surrounding text to "
             "make oldText unique; occurrences tells how many there were.",
             change_rows::edit, change_rows::edit_schema, destroys, effect::writes, edit_text_file,
             R"({"path":"notes.md","oldText":"# Notes","newText":"# Plan"})", less_hint,
             toolset::base, change_rows::edited_schema},
    tool_row{"moveFile", "Move file",
             "Move or rename a file or directory. Never overwrites. Missing parent directories of "
             "the destination are created.",
             change_rows::move, change_rows::move_schema, destroys, effect::writes, move_file,
             R"({"source":"notes.md","destination":"documents/notes.md"})", less_hint},
    tool_row{"deleteFile", "Delete file",
             "Delete a file or a symbolic link. For directories use deleteDirectory.",
             change_rows::path_only, change_rows::path_schema, destroys, effect::writes,
             delete_file, R"({"path":"notes.md"})", less_hint},
    tool_row{"listDirectory", "List directory",
             "List the direct children of a directory, sorted by name, with type, size and "
             "modification time.",
             list_parameters, list_schema, looks, effect::none, list_directory, R"({"path":"."})",
             list_hint},
    tool_row{"createDirectory", "Create directory",
             "Create a directory and its missing parents. Fails when it already exists.",
             change_rows::path_only, change_rows::path_schema, adds, effect::writes,
             create_directory, R"({"path":"documents/2024"})", less_hint},
    tool_row{"deleteDirectory", "Delete directory",
             "Delete a directory; with recursive also everything in it. Symbolic links inside are "
             "deleted, not followed.",
             delete_directory_parameters, change_rows::path_schema, destroys, effect::writes,
             delete_directory, R"({"path":"documents/2024","recursive":true})", less_hint},
};

} // namespace

std::span<const tool_row> tool_table() {
  static const std::vector<tool_row> table = [] {
    std::vector<tool_row> rows(base_tools.begin(), base_tools.end());
    rows.insert(rows.end(), coding_tools().begin(), coding_tools().end());
    return rows;
  }();
  return table;
}

} // namespace paddock::mcp
