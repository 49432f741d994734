// SPDX-License-Identifier: MIT
#include "base/parallel_blocks.hpp"
#include "skill_manager/calls.hpp"

#include <paddock/base/detail/excerpt.hpp>
#include <paddock/skill_manager/skill_set.hpp>

#include <gsl/assert>

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace paddock::skill_manager {
namespace {

constexpr std::size_t parallel_threads_max = 64;

/// Calls f(i) for every i below `count`, at the same time as far as the system has threads, and
/// waits for all of them. This thread does its part.
template <class F> void for_all_at_once(std::size_t count, F f) {
  const std::size_t threads = std::min(count, parallel_threads_max);
  parallel_blocks(count, static_cast<unsigned>(threads), std::move(f), 1).finish();
}

/// The first of several threads to fail; later failures are consequences.
class failure_slot {
public:
  /// True for the first.
  bool set(skill_error reason, const manager& of) {
    if (reason.skill.empty()) reason.skill = of.name();
    const std::lock_guard lock(guard_);
    if (first_) return false;
    first_ = std::move(reason);
    return true;
  }
  [[nodiscard]] std::optional<skill_error> get() const {
    const std::lock_guard lock(guard_);
    return first_;
  }

private:
  mutable std::mutex guard_;
  std::optional<skill_error> first_;
};

std::string described(const manager& m) {
  return m.name() + " (" + std::string(name_of(m.type())) + ")";
}

} // namespace

struct skill_set::shared {
  using index = std::map<std::string, manager*, std::less<>>;
  struct listing {
    std::vector<tool_definition> all;
    index by_name;
  };

  [[nodiscard]] result<void, skill_error> check_names() const;
  [[nodiscard]] result<void, skill_error> init_all();
  void init_one(manager& m, failure_slot& failed);
  enum class scope : std::uint8_t { started, every };
  /// The tools of all skills that are started, or of every one, which starts lazy ones. From inside
  /// an observer none is started: what starts may have an event to tell it.
  [[nodiscard]] result<listing, skill_error> list(scope of) const;
  void close_all() noexcept;
  [[nodiscard]] manager* find(std::string_view tool) const;
  void remember(index by_name);
  [[nodiscard]] bool is_closing() const;

  std::vector<std::unique_ptr<manager>> managers;
  mutable std::mutex guard;
  bool initialised = false;
  bool closing = false;
  index tools; // of the skills that are started
};

result<void, skill_error> skill_set::shared::check_names() const {
  std::map<std::string_view, const manager*> names;
  for (const auto& m : managers) {
    const auto [other, is_new] = names.emplace(m->name(), m.get());
    if (!is_new)
      return fail(m->name(), error_code::conflict,
                  "two skills have this name: " + described(*other->second) + " and " +
                      described(*m) + "; rename one of them");
  }
  return {};
}

void skill_set::shared::init_one(manager& m, failure_slot& failed) {
  if (failed.get().has_value() || is_closing()) return;
  auto started = m.init();
  if (started || !failed.set(std::move(started).error(), m)) return;
  close_all(); // ends siblings that are still starting
}

result<void, skill_error> skill_set::shared::init_all() {
  PADDOCK_CHECK(check_names());
  failure_slot failed;
  for (auto begin = managers.begin(); begin != managers.end();) {
    const skill_type type = (*begin)->type();
    const auto end =
        std::find_if(begin, managers.end(), [&](const auto& m) { return m->type() != type; });
    for_all_at_once(static_cast<std::size_t>(end - begin), [&](std::size_t i) {
      init_one(*begin[static_cast<std::ptrdiff_t>(i)], failed);
    });
    if (const auto first = failed.get()) return *first;
    begin = end;
  }
  if (is_closing()) return fail({}, error_code::cancelled, "the skills were closed");
  PADDOCK_TRY(auto listed, list(scope::started));
  remember(std::move(listed.by_name));
  return {};
}

/// Skills that failed are left out: that was told when it happened.
result<skill_set::shared::listing, skill_error> skill_set::shared::list(scope of) const {
  std::vector<std::vector<tool_definition>> of_each(managers.size());
  failure_slot failed;
  const auto ask = [&](std::size_t i) {
    manager& m = *managers[i];
    if (m.state() == state::failed) return;
    auto found = m.tool_definitions();
    if (found)
      of_each[i] = *std::move(found);
    else
      failed.set(std::move(found).error(), m);
  };
  std::vector<std::size_t> lazy;
  for (std::size_t i = 0; i < managers.size(); ++i)
    if (managers[i]->state() == state::idle)
      lazy.push_back(i);
    else
      ask(i);
  if (of == scope::every && !is_inside_observer())
    for_all_at_once(lazy.size(), [&](std::size_t i) { ask(lazy[i]); });
  if (const auto first = failed.get()) return *first;
  listing made;
  for (std::size_t i = 0; i < managers.size(); ++i)
    for (tool_definition& tool : of_each[i]) {
      const auto [other, is_new] = made.by_name.emplace(tool.name, managers[i].get());
      if (!is_new)
        return fail(managers[i]->name(), error_code::conflict,
                    "two skills have a tool " + tool.name + ": " + described(*other->second) +
                        " and " + described(*managers[i]) +
                        "; leave it out of one of them (omit), or rename it");
      made.all.push_back(std::move(tool));
    }
  return made;
}

void skill_set::shared::close_all() noexcept {
  for_all_at_once(managers.size(), [&](std::size_t i) { managers[i]->close(); });
}

manager* skill_set::shared::find(std::string_view tool) const {
  const std::lock_guard lock(guard);
  const auto found = tools.find(tool);
  return found == tools.end() ? nullptr : found->second;
}

/// Names of skills that failed stay, so that a call of one of them says why.
void skill_set::shared::remember(index by_name) {
  const std::lock_guard lock(guard);
  for (const auto& [tool, having] : tools)
    if (having->state() == state::failed) by_name.emplace(tool, having);
  tools = std::move(by_name);
}

bool skill_set::shared::is_closing() const {
  const std::lock_guard lock(guard);
  return closing;
}

skill_set::skill_set(std::vector<std::unique_ptr<manager>> managers)
    : shared_(std::make_unique<shared>()) {
  for (const auto& m : managers)
    Expects(m != nullptr);
  for (const skill_type type : skill_types)
    for (auto& m : managers)
      if (m != nullptr && m->type() == type) shared_->managers.push_back(std::move(m));
}

skill_set::~skill_set() {
  close();
}

result<void, skill_error> skill_set::init() {
  if (is_inside_observer())
    return fail({}, error_code::conflict,
                "an observer cannot wait for skills: initialise them after it has returned");
  {
    const std::lock_guard lock(shared_->guard);
    if (std::exchange(shared_->initialised, true))
      return fail({}, error_code::conflict, "the skills were initialised before");
  }
  auto started = shared_->init_all();
  if (!started) shared_->close_all();
  return started;
}

void skill_set::close() noexcept {
  {
    const std::lock_guard lock(shared_->guard);
    shared_->closing = true;
  }
  shared_->close_all();
}

result<std::vector<tool_definition>, skill_error> skill_set::tool_definitions() {
  PADDOCK_TRY(auto listed, shared_->list(shared::scope::every));
  shared_->remember(std::move(listed.by_name));
  return std::move(listed.all);
}

result<call_outcome, skill_error> skill_set::call_tool(std::string_view tool,
                                                       std::string_view arguments,
                                                       const mcp::call_options& options) {
  manager* having = shared_->find(tool);
  if (having == nullptr) {
    PADDOCK_TRY(auto listed, shared_->list(shared::scope::every));
    shared_->remember(std::move(listed.by_name));
    having = shared_->find(tool);
  }
  if (having == nullptr)
    return fail({}, error_code::not_found, "no skill has a tool " + detail::excerpt(tool));
  return having->call_tool(tool, arguments, options);
}

std::span<const std::unique_ptr<manager>> skill_set::managers() const noexcept {
  return shared_->managers;
}

std::string_view name_of(skill_type type) noexcept {
  switch (type) {
  case skill_type::base:
    return "base";
  case skill_type::mcp:
    return "mcp";
  case skill_type::interactive:
    return "interactive";
  case skill_type::delegate:
    return "delegate";
  }
  return "";
}

std::string_view name_of(state s) noexcept {
  switch (s) {
  case state::idle:
    return "idle";
  case state::starting:
    return "starting";
  case state::ready:
    return "ready";
  case state::failed:
    return "failed";
  case state::closed:
    return "closed";
  case state::unresponsive:
    return "unresponsive";
  case state::reconnecting:
    return "reconnecting";
  }
  return "";
}

} // namespace paddock::skill_manager
