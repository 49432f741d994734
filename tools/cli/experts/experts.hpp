// SPDX-License-Identifier: MIT
#pragma once

// The parts of `paddock experts`: which experts are meant, their skills while they run, asking a
// person, and showing it all.

#include "common/subcommand.hpp"

#include <paddock/skill_manager/skill_set.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace paddock::cli {

/// Says which skills are being waited for, where a person would see nothing for long. Thread-safe.
class waiting_notices {
public:
  /// `say` is called on a thread of its own, once for each start that takes long.
  explicit waiting_notices(std::function<void(const std::string& skill)> say);
  waiting_notices(const waiting_notices&) = delete;
  waiting_notices& operator=(const waiting_notices&) = delete;
  ~waiting_notices();

  /// Nothing is said any more when this has returned.
  void stop();
  void begin(std::string_view skill);
  void end(std::string_view skill);

private:
  using clock = std::chrono::steady_clock;
  void watch();

  const std::function<void(const std::string& skill)> say_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::map<std::string, clock::time_point, std::less<>> due_;
  bool over_ = false;
  std::thread thread_;
};

inline constexpr std::string_view experts_program = "paddock experts";

enum class shown_as : std::uint8_t { text, json };

/// Each warning once. Thread-safe.
class told_warnings {
public:
  [[nodiscard]] bool is_new(const std::string& warning);

private:
  std::mutex guard_;
  std::set<std::string> told_;
};

struct experts_options {
  std::string config;
  std::string expert;
  std::string workspace = ".";
  bool json = false;
  bool quiet = false;
  bool is_trial = false;                   ///< of one skill alone: only what is waited for is told
  std::shared_ptr<told_warnings> warned{}; ///< in other starts of the expert; none: in this alone
  std::string tool;
  std::optional<std::string> arguments;

  [[nodiscard]] shown_as form() const noexcept { return json ? shown_as::json : shown_as::text; }
};

/// The configuration that the options name, or the nearest perstack.toml; complains of every
/// problem and returns nothing when it cannot be used.
[[nodiscard]] std::optional<skill_manager::config> load_config(const experts_options& options);
/// The one expert that is named, or all; complains and is empty when there is none of that name.
[[nodiscard]] std::vector<const skill_manager::expert*>
chosen_experts(const skill_manager::config& from, const experts_options& options);

/// How long a skill took, as its events told.
struct skill_times {
  std::int64_t us = 0;
  std::size_t tools = 0;
};

/// Why the skills of an expert cannot be started.
struct start_problem : detailed_error {
  start_problem(const error& reason, std::string text, std::string late_skill = {})
      : detailed_error(reason, std::move(text)), late(std::move(late_skill)) {}

  std::string late; ///< the skill whose server did not answer in time, if that is it
};

/// The skills of one expert, started. Progress goes to standard error; SIGINT and SIGTERM close
/// them.
class running_expert {
public:
  [[nodiscard]] static result<std::unique_ptr<running_expert>, start_problem>
  start(const skill_manager::config& from, const skill_manager::expert& of,
        const experts_options& options);
  /// The same; what is wrong is said, and then there is nothing.
  [[nodiscard]] static std::unique_ptr<running_expert>
  start_or_complain(const skill_manager::config& from, const skill_manager::expert& of,
                    const experts_options& options);
  ~running_expert();
  [[nodiscard]] skill_manager::skill_set& skills() { return *set_; }
  [[nodiscard]] std::map<std::string, skill_times> times() const;

private:
  class interrupts;
  running_expert(const skill_manager::expert& of, const experts_options& options);
  void hear(const skill_manager::any_event& e);

  /// Whether there is something to wait for: what has failed is told when all are closed.
  [[nodiscard]] bool is_starting(const std::string& skill) const;

  const bool quiet_;
  const std::shared_ptr<told_warnings> warned_;
  mutable std::mutex guard_;
  std::map<std::string, skill_times> times_;
  waiting_notices waiting_;
  std::unique_ptr<skill_manager::skill_set> set_;
  std::unique_ptr<interrupts> interrupts_; // before set_ goes
};

/// Asks on the terminal for each member of the schema. Nothing when there was no answer.
[[nodiscard]] std::optional<std::string> ask_for_arguments(std::string_view input_schema);
/// Shows what the tool asks and reads one line. Nothing when there was no answer.
[[nodiscard]] std::optional<std::string> ask(const skill_manager::interactive_call& call);

void show_experts(const skill_manager::config& from,
                  const std::vector<const skill_manager::expert*>& experts, shown_as form);
void show_tools(const std::string& expert, const std::vector<skill_manager::tool_definition>& tools,
                mcp::json_writer* json);
void show_reply(const skill_manager::tool_reply& reply, shown_as form);
void show_answer(const skill_manager::interactive_call& call, const std::string& answer,
                 shown_as form);
void show_delegate(const skill_manager::delegate_call& call, shown_as form);

/// The experts of a configuration, with their skills.
[[nodiscard]] subcommand add_experts(CLI::App& app);

} // namespace paddock::cli
