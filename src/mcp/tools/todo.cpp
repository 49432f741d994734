// SPDX-License-Identifier: MIT
#include "mcp/tools/tools.hpp"

#include <string>
#include <vector>

namespace paddock::mcp {
namespace {

enum class which : std::uint8_t { all, remaining };

void write_items(json_writer& out, std::string_view key, const todo_list& todos, which wanted) {
  out.key(key).begin_array();
  for (const auto& item : todos.items()) {
    if (wanted == which::remaining && item.completed) continue;
    out.begin_object();
    out.key("id").unsigned_integer(item.id);
    out.member("title", item.title);
    out.key("completed").boolean(item.completed);
    out.end_object();
  }
  out.end_array();
}

tool_result full(const workspace_state& state) {
  return tool_result::failure(error_code::too_many,
                              "the todo list holds at most " +
                                  std::to_string(state.limits.todos_max) +
                                  " items; nothing was changed; add fewer, or start a new list "
                                  "with clearTodo when the work on this one is done");
}

tool_result refused(const workspace_state& state, std::span<const std::int64_t> completed,
                    std::size_t added) {
  const auto valid = state.todos.items().size() + added;
  const auto unknown = state.todos.find_unknown(completed, added);
  if (valid > state.limits.todos_max || !unknown) return full(state);
  std::string message = "there is no todo with the id " + std::to_string(*unknown) + "; ";
  message += valid == 0 ? "the list is empty, add items with newTodos first"
                        : "valid ids are 0 to " + std::to_string(valid - 1);
  return tool_result::failure(error_code::not_found, message + "; nothing was changed");
}

} // namespace

tool_result todo(workspace_state& state, call& c) {
  // Counted before anything is copied: a line holds millions of empty titles.
  const std::uint64_t most = state.limits.todos_max;
  if (c.arguments()["newTodos"].size() > most || c.arguments()["completedTodos"].size() > most)
    return full(state);
  std::vector<std::string> titles;
  c.arguments()["newTodos"].for_each_element(
      [&](json_view title) { titles.emplace_back(title.string().value_or(std::string_view())); });
  std::vector<std::int64_t> completed;
  c.arguments()["completedTodos"].for_each_element(
      [&](json_view id) { completed.push_back(id.integer().value_or(-1)); });

  const std::lock_guard lock(state.todo_mutex);
  if (!state.todos.update(titles, completed)) return refused(state, completed, titles.size());
  object_result out;
  write_items(out.writer(), "todos", state.todos, which::all);
  return out.take();
}

tool_result clear_todo(workspace_state& state, call&) {
  const std::lock_guard lock(state.todo_mutex);
  state.todos.clear();
  object_result out;
  write_items(out.writer(), "todos", state.todos, which::all);
  return out.take();
}

tool_result attempt_completion(workspace_state& state, call&) {
  const std::lock_guard lock(state.todo_mutex);
  object_result out;
  if (state.todos.remaining() > 0)
    write_items(out.writer(), "remainingTodos", state.todos, which::remaining);
  return out.take();
}

} // namespace paddock::mcp
