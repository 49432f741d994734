// SPDX-License-Identifier: MIT
#include "mcp/tools/tools.hpp"

#include <paddock/mcp/skills.hpp>

#include <utility>

namespace paddock::mcp {
namespace {

constexpr std::string_view read_file_schema =
    R"({"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},"required":["path","content"]})";

std::string listed(const std::vector<std::string>& extensions) {
  std::string all;
  for (const std::string& each : extensions)
    all.append(all.empty() ? "" : ", ").append(each);
  return all;
}

struct read_file_state {
  std::shared_ptr<const paddock::root> root;
  allowed_file_options options;
  std::uint64_t timeout_ms;
  std::shared_ptr<memory_budget> memory;
};

tool_result read_file_call(const read_file_state& state, const call& c) {
  const paddock::root& root = *state.root;
  const allowed_file_options& options = state.options;
  const std::string path = path_argument(c, "path");
  if (auto refused = refuse_home(root, path)) return *std::move(refused);
  allowed_file_options bounded = options;
  bounded.bounds = {.deadline_ms = deadline_in(state.timeout_ms),
                    .cancelled = &c.cancelled(),
                    .memory = state.memory.get()};
  const auto content = read_allowed_file(root, path, bounded);
  if (!content && content.error().code == error_code::unsupported_type)
    return tool_result::failure(error_code::unsupported_type,
                                shown(path) +
                                    ": only these may be read: " + listed(options.extensions));
  if (!content) return failure(content.error(), path);
  return object_result().text("path", text_argument(c, "path")).text("content", *content).take();
}

} // namespace

tool read_file_tool(std::shared_ptr<const root> root, allowed_file_options options,
                    const paddock::limits& limits, std::shared_ptr<memory_budget> memory) {
  tool made;
  made.name = "ReadFile";
  made.title = "Read file";
  made.description = "Read a whole text file beneath the run directory: a skill's SKILL.md, the "
                     "files it refers to, or any other whose extension is allowed (" +
                     listed(options.extensions) + "). Nothing is executed.";
  made.parameters = {{.name = "path",
                      .description = "Path relative to the run directory, for example "
                                     "\".agents/skills/<id>/SKILL.md\"",
                      .characters_min = 1}};
  made.output_schema = read_file_schema;
  made.example = R"({"path":".agents/skills/notes/SKILL.md"})";
  made.too_large_hint = "the file is too large to be read whole";
  made.annotations = {.read_only = true, .destructive = false, .idempotent = true};
  made.origin = json_origin::writer;
  if (memory == nullptr) memory = std::make_shared<memory_budget>(limits.memory_bytes_max);
  const auto state = std::make_shared<const read_file_state>(
      std::move(root), std::move(options), limits.tool_timeout_ms, std::move(memory));
  made.handler = [state](call& c) { return read_file_call(*state, c); };
  return made;
}

std::function<std::string()> skill_instructions(std::shared_ptr<const skill_store> store,
                                                prompt_options options) {
  return [store = std::move(store), options = std::move(options)] {
    const auto list = store->list();
    return list ? make_skill_prompt((*list)->skills, options).text : std::string();
  };
}

} // namespace paddock::mcp
