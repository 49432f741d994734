// SPDX-License-Identifier: MIT
#pragma once

// What the families of workspace tools share: the state behind them, the shape of a row of the
// table, and the way results and failures are written.

#include "mcp/tools/process_socket.hpp"

#include <paddock/base/work_bounds.hpp>
#include <paddock/exec/network_event.hpp>
#include <paddock/exec/process.hpp>
#include <paddock/history/history.hpp>
#include <paddock/mcp/json.hpp>
#include <paddock/mcp/tool.hpp>
#include <paddock/mcp/workspace_tools.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/path/root.hpp>
#include <paddock/todo/todo.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::mcp {

/// Calls that need all processors take turns. Those that wait leave their threads to other calls.
/// Thread-safe.
class turns {
public:
  explicit turns(unsigned running_max) : free_(static_cast<int>(running_max)) {}

  /// Held while the work is done.
  class turn {
  public:
    /// Waits until it is this call's turn, or the call is cancelled.
    turn(turns& of, call& c) : of_(of) {
      c.may_block();
      std::unique_lock lock(of_.guard_);
      if (of_.free_ <= 0) {
        lock.unlock();
        c.only_waits();
        c.on_cancel([&all = of_] { all.wake(); });
        lock.lock();
        of_.changed_.wait(lock, [&] { return of_.free_ > 0 || c.cancelled(); });
      }
      --of_.free_;
      lock.unlock();
      c.on_cancel({});
    }
    turn(const turn&) = delete;
    turn& operator=(const turn&) = delete;
    ~turn() {
      const std::lock_guard lock(of_.guard_);
      ++of_.free_;
      of_.changed_.notify_one();
    }

  private:
    turns& of_;
  };

private:
  void wake() {
    const std::lock_guard lock(guard_);
    changed_.notify_all();
  }
  std::mutex guard_;
  std::condition_variable changed_;
  int free_; ///< below zero where cancelled calls did not wait
};

/// Puts down which hosts a command reached, and which it was refused.
void note_network(history::recording& of, const std::vector<network_event>& events);

/// What processes change, in the history of the workspace: theirs, for as long as they run.
/// Thread-safe.
class process_changes {
public:
  void add(const process& of, history::recording begun) {
    const std::lock_guard guard(lock_);
    open_.push_back({of, std::move(begun)});
  }
  /// Puts down what those have changed that ended since the last time. For the end of each, and for
  /// every call of a tool that changes or recalls something: what that does is not theirs.
  void settle() {
    const std::lock_guard until_put_down(settling_); // by whoever has seen the end first
    for (entry& each : take_ended()) {
      const auto outcome = each.of.status().outcome;
      note_network(each.begun, outcome->network);
      (void)each.begun.finish(history::command_reach::anywhere, outcome->read_only);
    }
  }

private:
  struct entry {
    process of;
    history::recording begun;
  };
  [[nodiscard]] std::vector<entry> take_ended() {
    const std::lock_guard guard(lock_);
    const auto running =
        std::ranges::partition(open_, [](const entry& each) { return each.of.status().running(); });
    std::vector<entry> ended(std::move_iterator(running.begin()),
                             std::move_iterator(running.end()));
    open_.erase(running.begin(), running.end());
    return ended;
  }

  std::mutex settling_;
  std::mutex lock_; ///< taken after `settling_`
  std::vector<entry> open_;
};

struct workspace_state {
  workspace_state(std::shared_ptr<const paddock::root> r, workspace_options o);

  std::shared_ptr<const paddock::root> root;
  workspace_options options;
  paddock::limits limits;  ///< of the options, or those of the set
  std::int64_t started_ms; ///< monotonic
  std::mutex todo_mutex;
  todo_list todos;
  std::atomic<std::uint64_t> commands_running{0};
  std::shared_ptr<memory_budget> memory; ///< of all calls together
  unsigned search_threads_max;           ///< of one search
  turns searches;                        ///< of as many
  std::string warning;                   ///< about the workspace, for healthCheck; empty: none
  bool runs_commands = false;            ///< exec is among the tools
  bool reads_processes = false;          ///< readProcess is
  bool starts_processes = false;         ///< startProcess is
  std::mutex confinement_mutex;
  std::optional<confinement_report> confinement; ///< as far as is known
  bool paths_there = false;                      ///< all paths of the policy, when that was found
  process_changes changes_of_processes;          ///< their end is the next to end
  process_table processes;                       ///< the first but one to end
  std::once_flag socket_opened;
  std::unique_ptr<process_socket> socket; ///< from the first process on; it looks at them
};

/// What a tool does to the workspace; --read-only and --exec decide by it.
enum class effect : std::uint8_t {
  none,
  writes,
  runs,    ///< a program, which may write
  attends, ///< to programs that run
  recalls, ///< it is about what was changed: of no use where nothing can be
};

struct parameter_row {
  std::string_view name;
  parameter_type type;
  paddock::mcp::presence presence;
  std::string_view description;
  std::uint64_t characters_min = 0;
  std::uint64_t limits::* characters_max = nullptr;
  std::optional<std::int64_t> minimum = {};
  std::string_view too_long_hint = {};
  std::optional<std::int64_t> maximum = {};
  std::span<const std::string_view> choices = {};
  std::uint64_t elements_min = 0;
  std::uint64_t elements_max = 0;
  std::span<const parameter_row> members = {};
  std::string_view fallback = {}; ///< JSON
};

using tool_function = tool_result (*)(workspace_state&, call&);

/// Where a tool of the coding set differs from the same of base; what is empty does not.
struct coding_row {
  std::string_view name = {};
  std::string_view description = {};
  std::span<const parameter_row> parameters = {};
  std::string_view output_schema = {};
};

struct tool_row {
  std::string_view name;
  std::string_view title;
  std::string_view description;
  std::span<const parameter_row> parameters;
  std::string_view output_schema;
  paddock::mcp::annotations annotations;
  paddock::mcp::effect effect;
  tool_function function;
  std::string_view example; ///< arguments, as JSON
  std::string_view too_large_hint = "ask for less in one call";
  toolset from = toolset::base;       ///< the smallest set that has it
  std::string_view brief_schema = {}; ///< of brief results; empty: they do not differ
};

[[nodiscard]] std::span<const tool_row> tool_table();
/// The rows of the tools that the coding set adds.
[[nodiscard]] std::span<const tool_row> coding_tools();
[[nodiscard]] coding_row coding_difference(std::string_view name);
/// The tool that a row describes.
[[nodiscard]] tool make_tool(const tool_row& row, const std::shared_ptr<workspace_state>& state);

// --- handlers, one file per family ---------------------------------------------------------------

tool_result attempt_completion(workspace_state&, call&);
tool_result todo(workspace_state&, call&);
tool_result clear_todo(workspace_state&, call&);
tool_result health_check(workspace_state&, call&);
tool_result exec(workspace_state&, call&);
tool_result read_text_file(workspace_state&, call&);
tool_result read_image_file(workspace_state&, call&);
tool_result read_pdf_file(workspace_state&, call&);
tool_result write_text_file(workspace_state&, call&);
tool_result append_text_file(workspace_state&, call&);
tool_result edit_text_file(workspace_state&, call&);
tool_result edit_file(workspace_state&, call&);
tool_result apply_changes(workspace_state&, call&);
tool_result move_file(workspace_state&, call&);
tool_result delete_file(workspace_state&, call&);
tool_result get_file_info(workspace_state&, call&);
tool_result list_directory(workspace_state&, call&);
tool_result create_directory(workspace_state&, call&);
tool_result delete_directory(workspace_state&, call&);
tool_result search_text(workspace_state&, call&);
tool_result find_files(workspace_state&, call&);
tool_result map_directory(workspace_state&, call&);
tool_result checkpoint(workspace_state&, call&);
tool_result list_changes(workspace_state&, call&);
tool_result restore(workspace_state&, call&);
tool_result start_process(workspace_state&, call&);
tool_result read_process(workspace_state&, call&);
tool_result write_process(workspace_state&, call&);
tool_result stop_process(workspace_state&, call&);
tool_result list_processes(workspace_state&, call&);

inline constexpr std::size_t hash_digits = 16;
/// The first hexadecimal digits of the SHA-256 of a file's bytes.
[[nodiscard]] std::string hash_of(std::string_view bytes);
/// A file as it is now.
struct known_file {
  std::uint64_t bytes = 0;
  std::string hash;
};
/// Nothing where it cannot be read, or is larger than what can be edited.
[[nodiscard]] std::optional<known_file> known_of(workspace_state& state, const call& c,
                                                 std::string_view path);

/// Until the deadline of a tool, and as long as the client wants the call.
[[nodiscard]] work_bounds bounds_of(workspace_state& state, const call& c);

// --- arguments and results ---

/// A string argument; the table has made sure that a required one is there.
[[nodiscard]] std::string_view text_argument(const call& c, std::string_view name);
/// An integer argument that the table lets be no negative one.
[[nodiscard]] std::uint64_t count_argument(const call& c, std::string_view name,
                                           std::uint64_t otherwise);
/// A path argument as bytes: file names that are not UTF-8 travel in the encoding of encode_name.
[[nodiscard]] std::string path_argument(const call& c, std::string_view name);

/// Why "~/x" is refused, which whoever is used to a shell takes for a path of the home directory;
/// empty for other paths, and where the workspace has an entry "~".
[[nodiscard]] std::string home_words(const paddock::root& root, std::string_view path);
/// The same as a result.
[[nodiscard]] std::optional<tool_result> refuse_home(const paddock::root& root,
                                                     std::string_view path);
struct misled_path {
  error_code code{};
  std::string words; ///< the cause and the next step
};
/// Why a path cannot name a file: it leads through one, or ends in a slash that no directory
/// explains. Nothing for other paths.
[[nodiscard]] std::optional<misled_path> misled(const paddock::root& root, std::string_view path);

/// How long a result may be to fit into a line for certain: it is sent twice, the second time as
/// text with every quote and backslash escaped, beside an id of up to a kilobyte.
[[nodiscard]] std::size_t result_bytes_max(const call& c);

/// A result being written: {"…"}.
class object_result {
public:
  object_result() { out_.begin_object(); }
  json_writer& writer() { return out_; }
  object_result& text(std::string_view name, std::string_view value) {
    out_.member(name, value);
    return *this;
  }
  object_result& number(std::string_view name, std::int64_t value) {
    out_.key(name).integer(value);
    return *this;
  }
  /// A resolved path: absolute, and in the coding set relative to the workspace.
  object_result& path(std::string_view name, const workspace_state& state,
                      std::string_view resolved);
  [[nodiscard]] tool_result take() {
    out_.end_object();
    return {.json = out_.take()};
  }

private:
  json_writer out_;
};

/// A path or name in a message: encoded, and no more of it than an error repeats.
[[nodiscard]] std::string shown(std::string_view name,
                                std::size_t characters_max = echo_characters_max);

/// `subject` (a path as the caller gave it) and what is wrong with it, and what to do. `hint` is in
/// place of the code's advice.
[[nodiscard]] std::string failure_text(const error& e, std::string_view subject,
                                       std::string_view hint = {});
/// The same as a result: {"error", "message"}.
[[nodiscard]] tool_result failure(const error& e, std::string_view subject,
                                  std::string_view hint = {});

/// The same of a path; with the one that may be meant.
[[nodiscard]] tool_result failure(const paddock::root& root, const error& e, std::string_view path,
                                  std::string_view hint = {});
/// "did you mean README.md?", of a path where nothing is, or one outside such as /repo/README.md;
/// empty: nothing is like it.
[[nodiscard]] std::string similar_words(const paddock::root& root, const error& e,
                                        std::string_view path);

/// Whether the budget for memory refused.
[[nodiscard]] bool is_out_of_memory(const error& e);
/// `in_time` for work that took too long; otherwise nothing, which stands for the code's advice.
[[nodiscard]] inline std::string_view stopped_hint(const error& e, std::string_view in_time) {
  return e.code == error_code::timed_out ? in_time : std::string_view();
}

// --- texts (format.cpp) ---

/// "0 B", "5 B", "1.21 KB", … TB; 1 KB is 1024 bytes.
[[nodiscard]] std::string human_size(std::uint64_t bytes);
[[nodiscard]] std::string_view type_name(entry_kind kind);

} // namespace paddock::mcp
