// SPDX-License-Identifier: MIT
#include "capi/workspace_options.hpp"

#include <paddock/base/cancellation.hpp>
#include <paddock/base/limits.hpp>
#include <paddock/exec/command.hpp>
#include <paddock/exec/confinement.hpp>
#include <paddock/file/change_set.hpp>
#include <paddock/history/history.hpp>
#include <paddock/mcp/change_results.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/mcp/server.hpp>
#include <paddock/mcp/stdio_transport.hpp>
#include <paddock/mcp/tool.hpp>
#include <paddock/paddock.h>
#include <paddock/path/root.hpp>
#include <paddock/skill_manager/base_skill.hpp>
#include <paddock/version.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

using namespace paddock;

struct paddock_cancellation {
  cancellation request;
};

struct paddock_workspace {
  paddock_workspace(std::shared_ptr<const paddock::root> opened, mcp::workspace_options with,
                    const limits& most)
      : root(std::move(opened)), history(with.history), bounds(most),
        tools({.workspace = root, .tools = std::move(with)}) {
    if (history != nullptr) reader = std::thread([this] { read(); });
  }
  paddock_workspace(const paddock_workspace&) = delete;
  paddock_workspace& operator=(const paddock_workspace&) = delete;
  ~paddock_workspace() {
    is_over = true;
    if (reader.joinable()) reader.join();
  }

  /// Each answer that it matters to says what failed.
  void read() noexcept {
    try {
      (void)history->read_in({.cancelled = &is_over}).has_value();
    } catch (...) {
    }
  }

  const std::shared_ptr<const paddock::root> root;
  const std::shared_ptr<history::store> history;
  const limits bounds;
  skill_manager::base_skill tools;
  std::atomic<bool> is_over = false;
  std::thread reader; ///< of what the history does not hold yet
};

namespace {

void give(char** to, std::string_view text) noexcept {
  if (to == nullptr) return;
  *to = static_cast<char*>(std::malloc(text.size() + 1));
  if (*to == nullptr) return;
  std::memcpy(*to, text.data(), text.size());
  (*to)[text.size()] = '\0';
}

paddock_status refuse(char** text, error_code code, std::string_view message) {
  give(text, mcp::tool_result::failure(code, message).json);
  return PADDOCK_REFUSED;
}
template <class Error> paddock_status refuse(char** text, const Error& why) {
  return refuse(text, why.code, explain(why));
}

/// No exception crosses: the library throws only for lack of memory or threads.
template <class Work> paddock_status guarded(char** text, Work&& work) noexcept {
  if (text != nullptr) *text = nullptr;
  try {
    return work();
  } catch (...) {
    give(text, R"({"error":"io","message":"there is not enough memory, or no thread, for this"})");
    return PADDOCK_REFUSED;
  }
}

paddock_status missing(char** text, const char* what) {
  return refuse(text, error_code::invalid_argument, std::string(what) + " is NULL");
}

/// The JSON object of a result or failure; with a picture, all blocks of its content.
std::string shown(const skill_manager::tool_reply& reply) {
  mcp::json_document blocks;
  const auto parsed = blocks.parse(reply.content);
  if (parsed && parsed->size() > 1) return reply.content;
  std::string structured = reply.structured();
  return structured.empty() ? reply.text() : structured;
}

/// Ends what killed hosts have left, and says so: a JSON array of sentences, or nothing.
std::string mend(const root& workspace, const mcp::workspace_options& with) {
  if (with.access == mcp::workspace_access::read_only || with.state_directory.empty()) return {};
  mcp::json_writer out;
  out.begin_array();
  std::string said;
  const auto found =
      mcp::end_interrupted_change(workspace, with.state_directory, said, with.confinement);
  if (found && *found != interrupted_change::none)
    out.string("an interrupted change of several files was ended" +
               (said.empty() ? said : "; " + said));
  for (const appeared_entry& each :
       end_killed_commands(workspace.descriptor(), with.confinement, with.state_directory))
    out.string(describe(each));
  return out.str().size() > 1 ? out.end_array().take() : std::string();
}

paddock_status open(const char* directory, const char* options, paddock_workspace** workspace,
                    char** text) {
  auto chosen = capi::options_from(options == nullptr ? "" : options);
  if (!chosen) return refuse(text, chosen.error());
  auto opened = root::open(directory, chosen->root);
  if (!opened)
    return refuse(text, opened.error().code,
                  std::string(directory) + ": " + explain(opened.error()));
  auto held = std::make_shared<const root>(*std::move(opened));
  if (!chosen->history.empty()) {
    auto store = history::store::open(held, {.directory = chosen->history});
    if (!store) return refuse(text, store.error());
    chosen->tools.history = *std::move(store);
  }
  mcp::workspace_options& tools = chosen->tools;
  const std::string mended = mend(*held, tools);
  const bool runs =
      tools.exec == mcp::exec_mode::on && tools.access == mcp::workspace_access::read_write;
  if (runs && tools.tools == mcp::toolset::coding)
    tools.confinement.scratch =
        hold_scratch(tools.confinement, held->descriptor(), tools.exec_helper);
  const auto limits = mcp::limits_of(tools.tools);
  auto made = std::make_unique<paddock_workspace>(std::move(held), std::move(tools), limits);
  if (const auto ready = made->tools.init(); !ready) return refuse(text, ready.error());
  if (!mended.empty()) give(text, mended);
  *workspace = made.release();
  return PADDOCK_OK;
}

paddock_status call(paddock_workspace& workspace, std::string_view tool, const char* arguments,
                    const paddock_cancellation* cancellation, char** text) {
  constexpr std::int64_t day_ms = 86'400'000; // tools have deadlines of their own
  mcp::call_options how{.timeout_ms = day_ms, .timeout_ms_max = day_ms};
  if (cancellation != nullptr) how.cancel = &cancellation->request;
  const auto outcome =
      workspace.tools.call_tool(tool, arguments == nullptr ? "{}" : arguments, how);
  if (!outcome) return refuse(text, outcome.error());
  const auto& reply = std::get<skill_manager::tool_reply>(*outcome);
  give(text, shown(reply));
  return reply.failed ? PADDOCK_FAILED : PADDOCK_OK;
}

paddock_status list_tools(paddock_workspace& workspace, char** text) {
  const auto tools = workspace.tools.tool_definitions();
  if (!tools) return refuse(text, tools.error());
  mcp::json_writer out;
  out.begin_array();
  for (const auto& each : *tools) {
    out.begin_object().member("name", each.name).member("description", each.description);
    out.key("inputSchema").raw(each.input_schema).end_object();
  }
  give(text, out.end_array().str());
  return PADDOCK_OK;
}

paddock_status serve(paddock_workspace& workspace, int in, int out, int stop, char** text) {
  auto server = mcp::server::make({.version = PADDOCK_VERSION, .limits = workspace.bounds},
                                  workspace.tools.tools());
  if (!server) return refuse(text, server.error());
  const auto served = mcp::serve(*server, in, out, {.stop_fd = stop});
  return served ? PADDOCK_OK : refuse(text, served.error());
}

} // namespace

int paddock_abi(void) {
  return PADDOCK_ABI;
}

const char* paddock_version(void) {
  return PADDOCK_VERSION;
}

paddock_status paddock_open(const char* directory, const char* options,
                            paddock_workspace** workspace, char** text) {
  return guarded(text, [&] {
    if (workspace == nullptr) return missing(text, "workspace");
    *workspace = nullptr;
    if (directory == nullptr) return missing(text, "directory");
    return open(directory, options, workspace, text);
  });
}

void paddock_close(paddock_workspace* workspace) {
  delete workspace;
}

paddock_status paddock_tools(paddock_workspace* workspace, char** text) {
  return guarded(text, [&] {
    return workspace == nullptr ? missing(text, "workspace") : list_tools(*workspace, text);
  });
}

paddock_status paddock_call(paddock_workspace* workspace, const char* tool, const char* arguments,
                            const paddock_cancellation* cancellation, char** text) {
  return guarded(text, [&] {
    if (workspace == nullptr) return missing(text, "workspace");
    if (tool == nullptr) return missing(text, "tool");
    return call(*workspace, tool, arguments, cancellation, text);
  });
}

paddock_cancellation* paddock_cancellation_new(void) {
  return new (std::nothrow) paddock_cancellation;
}

void paddock_cancel(const paddock_cancellation* cancellation) {
  if (cancellation != nullptr) cancellation->request.request();
}

void paddock_cancellation_free(paddock_cancellation* cancellation) {
  delete cancellation;
}

paddock_status paddock_open_file(paddock_workspace* workspace, const char* path,
                                 paddock_access access, int* descriptor, char** text) {
  return guarded(text, [&] {
    if (descriptor == nullptr) return missing(text, "descriptor");
    *descriptor = -1;
    if (workspace == nullptr) return missing(text, "workspace");
    if (path == nullptr) return missing(text, "path");
    if (access != PADDOCK_READ && access != PADDOCK_DIRECTORY)
      return refuse(text, error_code::invalid_argument, "access is no paddock_access");
    auto opened = workspace->root->open_beneath(
        path, access == PADDOCK_READ ? paddock::access::read : paddock::access::directory);
    if (!opened) return refuse(text, opened.error());
    *descriptor = opened->fd.release();
    return PADDOCK_OK;
  });
}

paddock_status paddock_serve(paddock_workspace* workspace, int in, int out, int stop, char** text) {
  return guarded(text, [&] {
    return workspace == nullptr ? missing(text, "workspace")
                                : serve(*workspace, in, out, stop, text);
  });
}

void paddock_free(char* text) {
  std::free(text);
}
