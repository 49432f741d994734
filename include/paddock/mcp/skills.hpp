// SPDX-License-Identifier: MIT
#pragma once

/// Skills for MCP clients, from a skill_store: the ReadFile tool, the list of skills in the
/// server's instructions, and the official extension `io.modelcontextprotocol/skills`.
///
/// ReadFile and the instructions are for every client; the model reads a skill when it needs it.
/// The extension is for hosts that manage skills themselves: it lists what conforms to the Agent
/// Skills specification, with the frontmatter as JSON and a SHA-256 digest of every file, and
/// serves the files as resources `skill://…`. Each request looks at the store anew, so a change on
/// disk is seen by the next one. Skills that the specification would refuse, that are larger than
/// it promises hosts (512 files, 16 MiB), whose frontmatter JSON cannot say or has characters that
/// a person does not see, are left out of the extension's skills/list; ReadFile and the
/// instructions, without such characters, still have them.
///
/// Not guaranteed: that a digest protects against whoever can write the skills; it says that
/// listing and file agree.
///
/// Thread-safety: everything returned may be used from any number of threads at once.

#include <paddock/base/limits.hpp>
#include <paddock/base/result.hpp>
#include <paddock/base/work_bounds.hpp>
#include <paddock/file/allowed_file.hpp>
#include <paddock/mcp/extension.hpp>
#include <paddock/mcp/tool.hpp>
#include <paddock/skill/prompt.hpp>
#include <paddock/skill/store.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace paddock::mcp {

inline constexpr std::string_view skills_extension_name = "io.modelcontextprotocol/skills";

/// A tool with the one parameter `path`: a text file beneath the root, by allow-list. Of the limits
/// `tool_timeout_ms` and `memory_bytes_max` are used; how large a file may be says `options`. What
/// its calls hold is taken out of `memory`, shared with others, or out of a budget of its own.
[[nodiscard]] tool read_file_tool(std::shared_ptr<const root> root,
                                  allowed_file_options options = {},
                                  const paddock::limits& limits = {},
                                  std::shared_ptr<memory_budget> memory = nullptr);

/// What to put into server_options::current_instructions: the prompt for the store's skills at that
/// moment; empty when there are none or they cannot be read.
[[nodiscard]] std::function<std::string()>
skill_instructions(std::shared_ptr<const skill_store> store, prompt_options options = {});

/// The extension with its methods skills/list, skills/get, resources/list, resources/read and
/// resources/directory/read. A page of a list ends early, with at least one skill looked at, when
/// `tool_timeout_ms` of the limits is over; skills/get and resources/read then fail. The files they
/// read are counted in `memory` as those of read_file_tool; a list leaves out what needs more than
/// the whole budget. Errors: unsupported, when the library was built without libyaml.
[[nodiscard]] result<extension> skills_extension(std::shared_ptr<const skill_store> store,
                                                 const paddock::limits& limits = {},
                                                 std::shared_ptr<memory_budget> memory = nullptr);

} // namespace paddock::mcp
