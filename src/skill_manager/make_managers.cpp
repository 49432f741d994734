// SPDX-License-Identifier: MIT
#include "skill_manager/calls.hpp"

#include <paddock/skill_manager/base_skill.hpp>
#include <paddock/skill_manager/delegate_skill.hpp>
#include <paddock/skill_manager/interactive_skill.hpp>
#include <paddock/skill_manager/mcp_skill.hpp>
#include <paddock/skill_manager/skill_set.hpp>

#include <algorithm>
#include <mutex>
#include <utility>

namespace paddock::skill_manager {
namespace {

using manager_list = std::vector<std::unique_ptr<manager>>;

/// Hears every skill, one event at a time, but for those that an observer causes by what it calls.
observer one_at_a_time(observer heard_by) {
  if (!heard_by) return {};
  return [guard = std::make_shared<std::recursive_mutex>(),
          heard_by = std::move(heard_by)](const any_event& e) {
    const std::lock_guard lock(*guard);
    heard_by(e);
  };
}

class maker {
public:
  explicit maker(const set_options& options)
      : options_(options), on_event_(one_at_a_time(options.on_event)) {}

  result<manager_list, skill_error> make(const config& from, const expert& of) {
    if (!has_base(of)) {
      skill_entry whole;
      whole.name = base_skill_package;
      PADDOCK_CHECK(add_base(whole, {}));
    }
    for (const skill_entry& entry : of.skills)
      PADDOCK_CHECK(add(entry));
    for (const std::string& name : of.delegates) {
      const expert* other = from.find(name);
      made_.push_back(std::make_unique<delegate_skill>(
          delegate_options{.expert = name,
                           .description = other != nullptr ? other->description : std::string(),
                           .on_event = on_event_}));
    }
    return std::move(made_);
  }

private:
  result<void, skill_error> add(const skill_entry& entry) {
    if (const auto* base = std::get_if<base_entry>(&entry.kind)) return add_base(entry, *base);
    if (const auto* asked = std::get_if<interactive_entry>(&entry.kind)) {
      made_.push_back(std::make_unique<interactive_skill>(
          interactive_options{.name = entry.name, .tools = asked->tools, .on_event = on_event_}));
      return {};
    }
    PADDOCK_TRY(auto endpoint, endpoint_of(entry, options_.environment));
    for (const std::string& text : endpoint.left_out)
      tell(on_event_, event::warning{entry.name, text});
    if (auto* program = std::get_if<mcp::stdio_endpoint>(&endpoint.to))
      program->helper = options_.base.exec_helper;
    mcp_options o{.name = entry.name,
                  .endpoint = std::move(endpoint.to),
                  .client = options_.client,
                  .tools = entry.tools,
                  .start = entry.start,
                  .timeout_ms = entry.timeout_ms,
                  .on_event = on_event_};
    o.client.protocol = entry.protocol;
    if (entry.connect_timeout_ms) o.client.connect_timeout_ms = *entry.connect_timeout_ms;
    made_.push_back(std::make_unique<mcp_skill>(std::move(o)));
    return {};
  }

  result<void, skill_error> add_base(const skill_entry& entry, const base_entry& base) {
    if (options_.workspace == nullptr)
      return fail(entry.name, error_code::invalid_argument, "the Base Skill needs a workspace");
    for (const std::string& name : base.pass_environment)
      PADDOCK_CHECK(required_value(options_.environment, name, entry.name));
    base_options o{.name = entry.name,
                   .workspace = options_.workspace,
                   .tools = options_.base,
                   .on_event = on_event_};
    o.tools.pick = entry.tools.pick;
    o.tools.omit = entry.tools.omit;
    o.tools.pass_environment.insert(o.tools.pass_environment.end(), base.pass_environment.begin(),
                                    base.pass_environment.end());
    made_.push_back(std::make_unique<base_skill>(std::move(o)));
    return {};
  }

  const set_options& options_;
  const observer on_event_;
  manager_list made_;
};

} // namespace

result<manager_list, skill_error> make_managers(const config& from, const expert& of,
                                                const set_options& options) {
  return maker(options).make(from, of);
}

} // namespace paddock::skill_manager
