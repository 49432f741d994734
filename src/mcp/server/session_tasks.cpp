// SPDX-License-Identifier: MIT

// The part of a session that knows tasks: which calls may become one, and what is asked about them.

#include "mcp/json/json_members.hpp"
#include "mcp/server/session.hpp"

#include <paddock/base/detail/excerpt.hpp>

#include <algorithm>

namespace paddock::mcp {
namespace {

constexpr std::string_view methods_of_handshake[] = {"tasks/get", "tasks/result", "tasks/list",
                                                     "tasks/cancel"};
constexpr std::string_view methods_of_extension[] = {"tasks/get", "tasks/update", "tasks/cancel"};

/// Of one subscription; what is named beyond it is not granted.
constexpr std::size_t subscribed_tasks_max = 256;

/// A result without members of its own that 2026-07-28 wants more of.
std::string modern_result(std::string_view members, std::string_view modern_meta) {
  json_writer out;
  out.begin_object_with(members).member("resultType", "complete");
  out.key("_meta").raw(modern_meta).end_object();
  return out.take();
}

} // namespace

bool knows_tasks(json_view meta) {
  return meta[meta_client_capabilities]["extensions"][extension_tasks].is(json_kind::object);
}

void refuse_without_tasks(transaction& t, const message& m) {
  refuse(t, m.id, rpc_error::missing_client_capability,
         "This needs the extension io.modelcontextprotocol/tasks, which the client did not declare",
         R"({"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}})");
}

/// False: the request is answered with what is wrong.
bool session::may_be_task(transaction& t, const message& m, json_view meta, call_request& request) {
  if (!tasks_) return true;
  const bool allowed = request.tool->tasks == task_support::optional;
  if (request.revision == revision::r2026_07_28) {
    if (allowed && knows_tasks(meta)) request.tasks = tasks_.get();
    return true;
  }
  const json_view wish = given(m.params, "task");
  if (request.revision != revision::r2025_11_25 || !wish.exists()) return true;
  const auto refused = [&](rpc_error code, const std::string& why) {
    fail(t, m.id, code, why);
    return false;
  };
  if (!allowed)
    return refused(rpc_error::method_not_found,
                   "The tool " + request.name() +
                       " cannot be called as a task; call it without \"task\"");
  const json_view kept = given(wish, "ttl");
  const auto kept_ms = kept.number();
  if (!wish.is(json_kind::object) || (kept.exists() && !(kept_ms && *kept_ms >= 0)))
    return refused(rpc_error::invalid_params,
                   "Invalid params: task must be an object, and its ttl a number of milliseconds");
  const auto most = static_cast<double>(core_->options.tasks.kept_ms_max);
  if (kept_ms) request.task_kept_ms = static_cast<std::int64_t>(std::min(*kept_ms, most));
  request.tasks = tasks_.get();
  return true;
}

bool session::is_about_tasks(const message& m, revision r) const {
  if (!tasks_) return false;
  if (r == revision::r2026_07_28)
    return std::ranges::find(methods_of_extension, m.method) != std::end(methods_of_extension);
  return r == revision::r2025_11_25 &&
         std::ranges::find(methods_of_handshake, m.method) != std::end(methods_of_handshake);
}

/// 2025-11-25.
void session::ask_task(transaction& t, const message& m) {
  if (m.method == "tasks/list") return list_tasks(t, m);
  if (m.method == "tasks/result")
    return start(t, m,
                 {.id = *m.id, .method = &tasks_->result_method(), .revision = newest_legacy});
  const std::string_view id = m.params["taskId"].string().value_or("");
  const std::shared_ptr<task> found = tasks_->find(id);
  if (!found) return fail(t, m.id, rpc_error::invalid_params, no_such_task(id).message);
  if (m.method == "tasks/cancel")
    if (const task_status before = found->cancel(); before != task_status::working)
      return fail(t, m.id, rpc_error::invalid_params,
                  "Invalid params: the task is " + std::string(name_of(before)) +
                      " already and cannot be cancelled");
  answer(t, m, found->json(task::extent::state));
}

/// 2026-07-28. A task of this server never asks for input, so tasks/update has nothing to tell it.
void session::ask_task(transaction& t, const message& m, json_view meta) {
  if (!knows_tasks(meta)) return refuse_without_tasks(t, m);
  const std::string_view id = m.params["taskId"].string().value_or("");
  const std::shared_ptr<task> found = tasks_->find(id);
  if (!found) return fail(t, m.id, rpc_error::invalid_params, no_such_task(id).message);
  if (m.method == "tasks/get")
    return answer(t, m, modern_result(found->json(task::extent::outcome), core_->modern_meta));
  if (m.method == "tasks/update" && !m.params["inputResponses"].is(json_kind::object))
    return fail(t, m.id, rpc_error::invalid_params,
                "Invalid params: inputResponses must be an object");
  if (m.method == "tasks/cancel") (void)found->cancel();
  answer(t, m, modern_result("{}", core_->modern_meta));
}

std::vector<std::shared_ptr<task>> session::tasks_among(json_view ids) const {
  std::vector<std::shared_ptr<task>> found;
  std::size_t left = tasks_ ? subscribed_tasks_max : 0;
  ids.for_each_element([&](json_view each) {
    if (left == 0) return;
    --left;
    const std::shared_ptr<task> one = tasks_->find(each.string().value_or(""));
    if (one && std::ranges::find(found, one) == found.end()) found.push_back(one);
  });
  return found;
}

void session::list_tasks(transaction& t, const message& m) {
  const json_view cursor = given(m.params, "cursor");
  const auto text = cursor.string();
  const auto page = cursor.exists() && (!text || text->empty())
                        ? std::nullopt
                        : tasks_->list(text.value_or(std::string_view()));
  if (!page)
    return fail(t, m.id, rpc_error::invalid_params,
                "Invalid params: unknown cursor; list without one to begin again");
  answer(t, m, *page);
}

void session::cancel_task(std::string_view id) {
  if (const std::shared_ptr<task> found = tasks_->find(id)) (void)found->cancel();
}

std::size_t session::wait_for_tasks(std::chrono::steady_clock::time_point deadline) const {
  if (!tasks_) return 0;
  (void)tasks_->runner().wait_until(deadline);
  return tasks_->runner().running();
}

} // namespace paddock::mcp
