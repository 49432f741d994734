// SPDX-License-Identifier: MIT
#include "mcp/tools/change_words.hpp"
#include "mcp/tools/command_request.hpp"
#include "mcp/tools/recorded_call.hpp"
#include "mcp/tools/refusals.hpp"
#include "mcp/tools/tools.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/detail/nearest_name.hpp>
#include <paddock/exec/command.hpp>
#include <paddock/file/file.hpp>
#include <paddock/mcp/change_results.hpp>
#include <paddock/mcp/workspace_tools.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace paddock::mcp {
namespace {

/// What is kept of their output comes from the memory of all calls, of which it is a small part.
process_limits limits_of_processes(const limits& bounds) {
  const process_limits usual;
  return {.running_max = static_cast<std::size_t>(bounds.processes_max),
          .output_bytes_max = std::min(usual.output_bytes_max, bounds.memory_bytes_max / 128),
          .ended_bytes_max = std::min(usual.ended_bytes_max, bounds.memory_bytes_max / 32)};
}

} // namespace

workspace_state::workspace_state(std::shared_ptr<const paddock::root> r, workspace_options o)
    : root(std::move(r)), options(std::move(o)),
      limits(options.limits.value_or(limits_of(options.tools))), started_ms(sys::monotonic_ms()),
      todos(limits.todos_max), memory(options.memory),
      search_threads_max(std::clamp(std::thread::hardware_concurrency(), 1u, 8u)),
      searches(search_threads_max), warning(options.warning),
      processes(limits_of_processes(limits), [this] { changes_of_processes.settle(); }) {
  if (memory == nullptr) memory = std::make_shared<memory_budget>(limits.memory_bytes_max);
  if (options.history) end_restores(*options.history, options.confinement);
  const bool coding = options.tools == toolset::coding;
  if (options.results == result_detail::of_toolset)
    options.results = coding ? result_detail::brief : result_detail::full;
  if (options.images == image_results::of_toolset)
    options.images = coding ? image_results::picture : image_results::reference;
}

limits limits_of(toolset tools) noexcept {
  limits made;
  if (tools == toolset::base) return made;
  made.write_characters_max = made.append_characters_max = 1'000'000;
  made.edit_characters_max = 100'000;
  made.read_page_bytes_max = std::uint64_t{64} * 1024;
  made.exec_output_bytes_max = 30'000;
  made.message_out_bytes_max = std::uint64_t{8} * 1024 * 1024; // a picture in base64, and more
  return made;
}

work_bounds bounds_of(workspace_state& state, const call& c) {
  return {.deadline_ms = deadline_in(state.limits.tool_timeout_ms),
          .cancelled = &c.cancelled(),
          .memory = state.memory.get()};
}

namespace {

bool names(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool is_wanted(const workspace_options& options, const tool_row& row) {
  if (row.from > options.tools) return false;
  const bool reads_only = options.access == workspace_access::read_only;
  const bool is_about_changes = row.effect == effect::writes || row.effect == effect::recalls;
  if (is_about_changes && reads_only) return false;
  const bool is_of_programs = row.effect == effect::runs || row.effect == effect::attends;
  if (is_of_programs && (reads_only || options.exec == exec_mode::off)) return false;
  return (options.pick.empty() || names(options.pick, row.name)) && !names(options.omit, row.name);
}

std::vector<parameter> parameters_of(std::span<const parameter_row> rows, const limits& limits) {
  std::vector<parameter> made; // as deep as the table is nested
  for (const parameter_row& p : rows)
    made.push_back({.name = p.name,
                    .type = p.type,
                    .presence = p.presence,
                    .description = p.description,
                    .characters_min = p.characters_min,
                    .characters_max = p.characters_max != nullptr ? limits.*p.characters_max : 0,
                    .minimum = p.minimum,
                    .maximum = p.maximum,
                    .too_long_hint = p.too_long_hint,
                    .choices = {p.choices.begin(), p.choices.end()},
                    .elements_min = p.elements_min,
                    .elements_max = p.elements_max,
                    .members = parameters_of(p.members, limits),
                    .fallback = p.fallback});
  return made;
}

/// Of parameters that are paths.
constexpr std::string_view path_parameters[] = {"path", "source", "destination", "cwd"};

std::vector<std::string_view> path_parameters_of(const tool_row& row) {
  std::vector<std::string_view> found;
  for (const parameter_row& p : row.parameters)
    if (std::ranges::find(path_parameters, p.name) != std::end(path_parameters))
      found.push_back(p.name);
  return found;
}

} // namespace

std::string home_words(const root& root, std::string_view path) {
  if (path != "~" && !path.starts_with("~/")) return {};
  if (inspect(root, "~")) return {};
  const std::string_view rest = path.substr(std::min<std::size_t>(path.size(), 2));
  return "~ is not expanded, and nothing here has that name; write a path in the workspace, such "
         "as " +
         (rest.empty() ? std::string(".") : shown(rest)) + ", or ./" + shown(path) +
         " if a directory with that name is meant";
}

std::optional<tool_result> refuse_home(const root& root, std::string_view path) {
  const std::string words = home_words(root, path);
  if (words.empty()) return std::nullopt;
  return tool_result::failure(error_code::invalid_argument, shown(path) + ": " + words);
}

std::optional<misled_path> misled(const root& root, std::string_view path) {
  const bool has_slash = path.ends_with('/');
  while (path.ends_with('/'))
    path.remove_suffix(1);
  if (!has_slash) path = parent(path);
  if (path.empty()) return std::nullopt;
  auto found = inspect(root, path);
  if (has_slash && !found && found.error().code == error_code::not_found)
    return misled_path{error_code::is_a_directory,
                       "no directory has this name; leave off the slash at the end to name a file"};
  if (!found && found.error().code == error_code::not_a_directory) {
    // By halves: to walk up a deep path looks at the square of its names.
    std::vector<std::size_t> ends;
    for (std::size_t end = path.find('/'); end != path.npos; end = path.find('/', end + 1))
      ends.push_back(end);
    const auto beyond = std::ranges::partition_point(ends, [&](std::size_t end) {
      const auto above = inspect(root, path.substr(0, end));
      return above || above.error().code != error_code::not_a_directory;
    });
    path = path.substr(0, beyond == ends.begin() ? 0 : *std::prev(beyond));
    found = inspect(root, path);
  }
  if (!found || found->status.kind == entry_kind::directory) return std::nullopt;
  return misled_path{error_code::not_a_directory,
                     shown(path) + " is a file, not a directory; correct the path"};
}

namespace {

/// Whether what it does is put down in the history; a process until that ends (processes.cpp).
bool is_recorded(const tool_row& row) {
  return row.effect == effect::writes || row.effect == effect::runs ||
         row.function == start_process;
}

/// What cannot be undone is said in the result (recorded_call.hpp).
void add_undo_member(std::string& schema) {
  constexpr std::string_view begin = R"("properties":{)", member = R"("undo":{"type":"string"})";
  const std::size_t at = schema.find(begin);
  if (at == schema.npos) return;
  const bool is_only = schema.compare(at + begin.size(), 1, "}") == 0;
  schema.insert(at + begin.size(), std::string(member) + (is_only ? "" : ","));
}

} // namespace

tool make_tool(const tool_row& row, const std::shared_ptr<workspace_state>& state) {
  tool made;
  made.name = row.name;
  made.title = row.title;
  const bool coding = state->options.tools == toolset::coding;
  const coding_row other = coding ? coding_difference(row.name) : coding_row{};
  made.description = other.description.empty() ? row.description : other.description;
  if (coding && made.name == "exec") made.description += surroundings_of_commands(state->options);
  made.parameters =
      parameters_of(other.parameters.empty() ? row.parameters : other.parameters, state->limits);
  made.output_schema = other.output_schema.empty() ? row.output_schema : other.output_schema;
  if (state->options.results == result_detail::brief && !row.brief_schema.empty())
    made.output_schema = row.brief_schema;
  if (state->options.history != nullptr && is_recorded(row)) add_undo_member(made.output_schema);
  made.example = row.example;
  made.too_large_hint = row.too_large_hint;
  made.annotations = row.annotations;
  made.listing = coding ? tool_listing::brief : tool_listing::full;
  if (coding && made.name == "exec") made.tasks = task_support::optional;
  made.origin = json_origin::writer;
  made.handler = [state, row, paths = path_parameters_of(row)](call& c) {
    for (const std::string_view name : paths)
      if (auto refused = refuse_home(*state->root, text_argument(c, name)))
        return *std::move(refused);
    if (row.effect != effect::none) state->changes_of_processes.settle(); // may wait for others
    recorded_call recorded(*state, c, row);
    // Who was cancelled while it waited for the history is not in it.
    if (is_recorded(row) && c.cancelled())
      return failure({error_code::cancelled, 0, "call"}, row.name);
    tool_result result = row.function(*state, c);
    recorded.finish(result);
    if (result.error == wire_name(error_code::not_a_directory) ||
        result.error == wire_name(error_code::is_a_directory))
      for (const std::string_view name : paths)
        if (const auto why = misled(*state->root, path_argument(c, name)))
          return row.function == edit_file
                     ? refused(plain(why->code, why->words), text_argument(c, name))
                     : tool_result::failure(why->code,
                                            shown(path_argument(c, name)) + ": " + why->words);
    return result;
  };
  return made;
}

std::vector<std::string_view> workspace_tool_names(toolset of) {
  std::vector<std::string_view> all;
  for (const auto& row : tool_table())
    if (row.from <= of) all.push_back(row.name);
  return all;
}

std::string missing_tool_hint(std::string_view name) {
  const auto of_coding = [&](const tool_row& row) {
    return row.name == name && row.from == toolset::coding;
  };
  return std::ranges::any_of(tool_table(), of_coding) ? "; it is one of --tools coding"
                                                      : std::string();
}

std::string no_such_tool(std::string_view name, const std::vector<std::string_view>& known) {
  std::string text = "there is no tool " + shown(name);
  if (const auto hint = missing_tool_hint(name); !hint.empty()) return text + hint;
  const std::string near = detail::did_you_mean(name, known);
  text += near.empty() ? "; the tools are:" : near + " The tools are:";
  for (const std::string_view each : known)
    text.append(" ").append(each);
  return text;
}

result<std::vector<tool>, detailed_error> workspace_tools(std::shared_ptr<const root> root,
                                                          workspace_options options) {
  constexpr error bad_selection{error_code::invalid_argument, 0, "tool selection"};
  const auto known = workspace_tool_names(options.tools);
  for (const auto* list : {&options.pick, &options.omit})
    for (const auto& name : *list)
      if (std::find(known.begin(), known.end(), name) == known.end())
        return detailed_error(bad_selection, no_such_tool(name, known));
  const auto state = std::make_shared<workspace_state>(std::move(root), std::move(options));
  std::vector<tool> tools;
  for (const auto& row : tool_table())
    if (is_wanted(state->options, row)) tools.push_back(make_tool(row, state));
  if (tools.empty()) return detailed_error(bad_selection, "the options leave no tool");
  // Before anybody can write where it lies. Without one, each call of exec says so.
  const auto offers = [&](std::string_view name) {
    return std::ranges::any_of(tools, [&](const tool& made) { return made.name == name; });
  };
  state->runs_commands = offers("exec");
  state->reads_processes = offers("readProcess");
  state->starts_processes = offers("startProcess");
  if (state->runs_commands) (void)load_command_helper(state->options.exec_helper).has_value();
  if (state->warning.empty() && state->options.access != workspace_access::read_only)
    if (const auto own = own_program_in(state->root->path(), state->options.exec_helper);
        !own.empty())
      state->warning = "the workspace holds " + own +
                       ", which is run again at the next start of the server; choose a workspace "
                       "without the server's programs";
  return tools;
}

} // namespace paddock::mcp
