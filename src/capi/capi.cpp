// SPDX-License-Identifier: MIT
#include "capi/workspace_options.hpp"

#include <paddock/base/cancellation.hpp>
#include <paddock/history/history.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/mcp/server.hpp>
#include <paddock/mcp/stdio_transport.hpp>
#include <paddock/paddock.h>
#include <paddock/path/root.hpp>
#include <paddock/skill_manager/base_skill.hpp>
#include <paddock/version.hpp>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

using namespace paddock;

struct paddock_cancellation {
  cancellation request;
};

struct paddock_workspace {
  paddock_workspace(std::shared_ptr<const paddock::root> opened, mcp::workspace_options with)
      : root(std::move(opened)), history(with.history),
        tools({.workspace = root, .tools = std::move(with)}) {
    if (history != nullptr)
      reader = std::thread([this] { (void)history->read_in({.cancelled = &is_over}).has_value(); });
  }
  paddock_workspace(const paddock_workspace&) = delete;
  paddock_workspace& operator=(const paddock_workspace&) = delete;
  ~paddock_workspace() {
    is_over = true;
    if (reader.joinable()) reader.join();
  }

  const std::shared_ptr<const paddock::root> root;
  const std::shared_ptr<history::store> history;
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
  mcp::json_writer out;
  out.begin_object().member("error", wire_name(code)).member("message", message).end_object();
  give(text, out.str());
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

/// What the model would be sent: the structured result, or else the text.
std::string shown(const skill_manager::tool_reply& reply) {
  std::string text = reply.structured();
  return text.empty() ? reply.text() : text;
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
  auto made = std::make_unique<paddock_workspace>(std::move(held), std::move(chosen->tools));
  if (const auto ready = made->tools.init(); !ready) return refuse(text, ready.error());
  *workspace = made.release();
  return PADDOCK_OK;
}

paddock_status call(paddock_workspace& workspace, std::string_view tool, const char* arguments,
                    const paddock_cancellation* cancellation, char** text) {
  mcp::call_options how;
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
  auto server = mcp::server::make({.version = PADDOCK_VERSION}, workspace.tools.tools());
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
