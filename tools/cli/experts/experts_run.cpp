// SPDX-License-Identifier: MIT
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "experts.hpp"
#include "http/server/termination.hpp"

#include <paddock/version.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>
#include <utility>

namespace paddock::cli {
namespace {

constexpr std::size_t line_width = 200;
constexpr std::size_t warning_width = 4096;

void progress(std::string_view skill, const std::string& text) {
  print_problem("%s: %s\n", fit(skill, line_width).c_str(), fit(text, line_width).c_str());
}

std::string described(const skill_manager::event::connected& c, std::int64_t us) {
  std::string text = "ready, " + std::to_string(c.tools) + (c.tools == 1 ? " tool" : " tools");
  if (us > 0) text += ", " + duration(us * 1000);
  if (!c.server.name.empty()) text += " (" + c.server.name + " " + c.server.version + ")";
  return text;
}

} // namespace

// --- configuration ------------------------------------------------------------------------------

std::optional<skill_manager::config> load_config(const experts_options& options) {
  std::string path = options.config;
  if (path.empty()) {
    auto found = skill_manager::find_config();
    if (!found) {
      std::error_code failed;
      const bool has_json = std::filesystem::exists(".mcp.json", failed);
      complain(experts_program, std::string("there is no perstack.toml here or above; ") +
                                    (has_json ? "to read .mcp.json, add --config .mcp.json"
                                              : "name one with --config"));
      return std::nullopt;
    }
    path = *std::move(found);
  }
  std::vector<skill_manager::config_problem> problems;
  auto config = skill_manager::read_config(path, &problems);
  if (config) {
    for (const auto& warning : config->warnings)
      complain(experts_program, "warning: " + fit(warning.text(), warning_width));
    return *std::move(config);
  }
  for (const auto& problem : problems)
    complain(experts_program, fit(problem.text(), 4096));
  return std::nullopt;
}

std::vector<const skill_manager::expert*> chosen_experts(const skill_manager::config& from,
                                                         const experts_options& options) {
  std::vector<const skill_manager::expert*> all;
  std::string names;
  for (const auto& e : from.experts) {
    names += " " + e.name;
    if (options.expert.empty() || options.expert == e.name) all.push_back(&e);
  }
  if (all.empty() && options.expert.empty())
    complain(experts_program, "the configuration has no experts");
  else if (all.empty())
    complain(experts_program,
             "there is no expert " + options.expert + "; the experts are:" + names);
  return all;
}

// --- interrupts ---------------------------------------------------------------------------------

/// Calls a function on a thread of its own when a signal asks for the end: what it has to do may
/// not be done in a signal handler.
class running_expert::interrupts {
public:
  explicit interrupts(std::function<void()> f) : ended_(http::termination::redirect()) {
    if (!ended_) return;
    thread_ = std::thread([this, f = std::move(f)] {
      pollfd event{.fd = ended_->descriptor(), .events = POLLIN, .revents = 0};
      while (::poll(&event, 1, -1) < 0) {
      }
      if (!over_) f();
    });
  }
  ~interrupts() {
    if (!thread_.joinable()) return;
    over_ = true;
    (void)::eventfd_write(ended_->descriptor(), 1);
    thread_.join();
  }

private:
  const result<http::termination> ended_;
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

// --- running ------------------------------------------------------------------------------------

namespace {

/// How long the server of a skill may take, and what decides it.
std::string time_to_connect(const skill_manager::skill_entry& entry) {
  const std::int64_t ms =
      entry.connect_timeout_ms.value_or(mcp::client_options{}.connect_timeout_ms);
  return "it has " + duration(ms * 1'000'000) + " (connectTimeout in the configuration)";
}

/// Of the skills that have a server.
std::map<std::string, std::string> times_to_connect(const skill_manager::expert& of) {
  std::map<std::string, std::string> all;
  for (const auto& entry : of.skills)
    if (std::holds_alternative<skill_manager::stdio_entry>(entry.kind) ||
        std::holds_alternative<skill_manager::http_entry>(entry.kind))
      all.emplace(entry.name, time_to_connect(entry));
  return all;
}

/// What the configuration says is run at the next start: no expert may change it.
workspace_cli place_of(const skill_manager::config& from, const experts_options& options) {
  workspace_cli place;
  place.workspace = options.workspace;
  place.own_files = {from.file};
  return place;
}

/// The expert whose confined servers cannot change it either, wherever they may write.
skill_manager::expert kept_off(const workspace_cli& place, skill_manager::expert of) {
  for (auto& skill : of.skills) {
    auto* server = std::get_if<skill_manager::stdio_entry>(&skill.kind);
    if (server == nullptr || !server->confinement) continue;
    workspace_cli reached = place;
    reached.confinement.write_paths = server->confinement->write_paths;
    reached.confinement.write_paths.push_back(
        server->working_directory.empty() ? "." : server->working_directory);
    server->confinement->read_only_paths = reached.read_only_paths();
  }
  return of;
}

} // namespace

std::unique_ptr<running_expert> running_expert::start_or_complain(const skill_manager::config& from,
                                                                  const skill_manager::expert& of,
                                                                  const experts_options& options) {
  auto made = start(from, of, options);
  if (made) return *std::move(made);
  complain(experts_program, fit(of.name + ": " + explain(made.error()), warning_width));
  return nullptr;
}

result<std::unique_ptr<running_expert>, start_problem>
running_expert::start(const skill_manager::config& from, const skill_manager::expert& of,
                      const experts_options& options) {
  const auto said = [](const skill_manager::skill_error& e) {
    return e.skill.empty() ? explain(e) : e.skill + ": " + explain(e);
  };
  const workspace_cli place = place_of(from, options);
  auto workspace = root::open(options.workspace, place.protected_root());
  if (!workspace)
    return start_problem(workspace.error(),
                         "the workspace " + options.workspace +
                             " cannot be used: " + std::string(text(workspace.error().code)));
  std::unique_ptr<running_expert> made(new running_expert(of, options));
  skill_manager::set_options with;
  with.workspace = std::make_shared<const root>(*std::move(workspace));
  with.base.confinement.read_only_paths = place.read_only_paths();
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    with.environment.emplace_back(*entry);
  with.client.version = PADDOCK_VERSION;
  with.on_event = [raw = made.get()](const skill_manager::any_event& e) { raw->hear(e); };
  auto managers = skill_manager::make_managers(from, kept_off(place, of), with);
  if (!managers) return start_problem(managers.error(), said(managers.error()));
  made->set_ = std::make_unique<skill_manager::skill_set>(*std::move(managers));
  made->interrupts_ = std::make_unique<interrupts>([set = made->set_.get()] { set->close(); });
  const auto started = made->set_->init();
  if (started) return made;
  const auto& failed = started.error();
  if (failed.code != error_code::timed_out) return start_problem(failed, said(failed));
  const auto times = times_to_connect(of);
  const auto late = times.find(failed.skill);
  if (late == times.end()) return start_problem(failed, said(failed));
  return start_problem(failed, said(failed) + "; " + late->second, late->first);
}

running_expert::running_expert(const skill_manager::expert& of, const experts_options& options)
    : quiet_(options.quiet || options.is_trial),
      warned_(options.warned ? options.warned : std::make_shared<told_warnings>()),
      waiting_(
          [this, times = times_to_connect(of), tells = !options.quiet](const std::string& skill) {
            if (const auto found = times.find(skill);
                tells && found != times.end() && is_starting(skill))
              progress(skill, "no answer yet; " + found->second);
          }) {}

running_expert::~running_expert() {
  if (set_) set_->close();
  waiting_.stop(); // it asks the skills, which go first
}

bool running_expert::is_starting(const std::string& skill) const {
  return std::ranges::any_of(set_->managers(), [&](const auto& each) {
    return each->name() == skill && each->state() == skill_manager::state::starting;
  });
}

bool told_warnings::is_new(const std::string& warning) {
  const std::lock_guard lock(guard_);
  return told_.insert(warning).second;
}

std::map<std::string, skill_times> running_expert::times() const {
  const std::lock_guard lock(guard_);
  return times_;
}

void running_expert::hear(const skill_manager::any_event& e) {
  if (const auto* s = std::get_if<skill_manager::event::starting>(&e)) waiting_.begin(s->skill);
  if (const auto* d = std::get_if<skill_manager::event::disconnected>(&e)) waiting_.end(d->skill);
  if (const auto* c = std::get_if<skill_manager::event::connected>(&e)) {
    waiting_.end(c->skill);
    const std::int64_t us = c->times.spawn_us + c->times.handshake_us + c->times.tools_us;
    const std::lock_guard lock(guard_);
    times_[std::string(c->skill)] = {.us = us, .tools = c->tools};
    if (!quiet_) progress(c->skill, described(*c, us));
  }
  // Said once, and also to those who do not want to see progress.
  if (const auto* w = std::get_if<skill_manager::event::warning>(&e)) {
    const std::string text = std::string(w->skill) + ": " + std::string(w->text);
    if (warned_->is_new(text)) complain(experts_program, "warning: " + fit(text, warning_width));
  }
  if (quiet_) return;
  if (const auto* s = std::get_if<skill_manager::event::starting>(&e))
    progress(s->skill, "starting " + std::string(s->target));
  if (const auto* l = std::get_if<skill_manager::event::log_line>(&e))
    progress(l->skill, "| " + std::string(l->text));
  if (const auto* d = std::get_if<skill_manager::event::disconnected>(&e); d && !d->why.empty())
    progress(d->skill, "lost: " + std::string(d->why));
  if (const auto* r = std::get_if<skill_manager::event::reconnecting>(&e))
    progress(r->skill, "reconnecting in " + duration(r->pause_ms * 1'000'000) + ", attempt " +
                           std::to_string(r->attempt) + ": " + std::string(r->why));
}

} // namespace paddock::cli
