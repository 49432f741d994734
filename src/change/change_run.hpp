// SPDX-License-Identifier: MIT
#pragma once

// Carries a plan out, all of it or none: everything that comes is made ready first, then renames
// bring it about, in directories that are held from the first look on. What fails is taken back.
// With a record, the next process completes a change that was killed, if all was made ready; before
// that nothing of it was made.

#include "change/asked_rules.hpp"
#include "change/change_log.hpp"
#include "change/held_directories.hpp"
#include "change/plan.hpp"
#include "change/private_staging.hpp"
#include "file/leftover.hpp"
#include "path/directory_moves.hpp"

#include <paddock/base/work_bounds.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace paddock {

/// Mode bits that a directory needs while the change works in it.
inline constexpr unsigned owner_all = 0700;

/// What a run works with. All of it outlives the run.
struct change_means {
  const root& where;
  int own = -1;                      ///< a directory only this user can enter; -1: none
  content_source* content = nullptr; ///< may be missing when a killed change is ended
  change_log* log = nullptr;         ///< without it, a kill leaves a half-made change
  work_bounds bounds{};              ///< checked until the first rename; always in `resume`
  bool tries_again = true;           ///< `resume` leaves passing failures to the next try
};

class change_run {
public:
  change_run(const change_means& with, const change_plan& plan);

  /// Carries the plan out. After an error everything is as before, except what somebody else has
  /// saved meanwhile, which stays. Errors: conflict (an entry is not as planned), those of writing
  /// and renaming.
  [[nodiscard]] result<void> make();

  enum class end : std::uint8_t { undone, finished };
  /// Ends the change that a killed process left, by its record. Errors: those that may pass; the
  /// record stays then.
  [[nodiscard]] result<end> resume(const change_record& killed);

  // After a failure:
  /// `of` of the step or move that failed; nothing: the failure is about none of them.
  [[nodiscard]] std::optional<std::size_t> failed_of() const noexcept { return failed_of_; }
  [[nodiscard]] const std::string& failed_at() const noexcept { return failed_at_; }
  /// Whether part of the change could not be taken back; the record stays then.
  [[nodiscard]] bool is_torn() const noexcept { return torn_by_.has_value(); }
  /// Paths that could not be taken back because their directory was not found again.
  [[nodiscard]] const std::vector<std::string>& astray() const noexcept { return astray_; }

  // In any case:
  /// Whether everything made ready or set aside has been removed.
  [[nodiscard]] bool is_clear() const noexcept { return is_clear_; }
  /// A clause that says where the change put what others saved at the last moment; may be empty.
  [[nodiscard]] const std::string& kept() const noexcept { return kept_; }
  /// Of a killed change: entries to be moved that are at none of the places where they may be.
  [[nodiscard]] const std::vector<std::string>& missing() const noexcept { return missing_; }

private:
  enum class deed : std::uint8_t {
    set_aside,
    placed,
    exchanged,
    made,
    removed,
    moved_out,
    moved_in,
    moved,
    attributes
  };
  struct done {
    deed what;
    std::size_t number = 0; ///< of the step or move
    held_directories::id in = held_directories::top;
    held_directories::id from = held_directories::top; ///< of a move
    entry_stamp before{};                              ///< of attributes
  };
  using found_order = std::tuple<int, std::string, std::ptrdiff_t>;
  enum class progress : std::uint8_t { to_do, made, left };
  /// Why something lies at a temporary name.
  enum class rest : char { staged = 's', aside = 'a', moved = 'm' };
  struct location {
    int directory;
    std::string name;
  };
  struct known_times {
    std::uint32_t mode = 0;
    std::int64_t modified_ns = 0;
    bool widened = false;
  };
  /// Called with the directory of a path and the name in it.
  using in_directory = std::function<result<void>(int, const char*)>;

  // change_run.cpp: what is worked in, and what is made ready
  [[nodiscard]] bool is_expected(const std::string& path, int fd, const file_status& now) const;
  [[nodiscard]] bool is_own(std::size_t number, const file_status& there) const;
  [[nodiscard]] std::optional<std::size_t> brought_by(std::string_view path) const;
  [[nodiscard]] std::string rest_name(rest kind, std::size_t number) const;
  [[nodiscard]] std::string home_of(std::string_view path) const;
  [[nodiscard]] result<location> place_aside_of(rest kind, std::size_t number);
  void at_step(std::size_t number);
  void at_move(std::size_t number);
  void touch(held_directories::id directory);
  [[nodiscard]] bool widen(held_directories::id directory);
  [[nodiscard]] bool widen_above(const std::string& path);
  using rules_question =
      std::function<result<void>(held_directories::id directory, std::string_view name)>;
  [[nodiscard]] result<void> in_parent(const std::string& path, const rules_question& ask,
                                       const in_directory& work);
  [[nodiscard]] result<void> in_parent_of(const change_step& step, const in_directory& work);
  [[nodiscard]] result<void> begin_staging();
  [[nodiscard]] result<void> stage_all();
  [[nodiscard]] result<void> stage(std::size_t number);
  [[nodiscard]] result<void> fill(int fd, const change_step& step, std::string_view bytes);
  [[nodiscard]] result<void> sync_staged();
  [[nodiscard]] bool is_exposed(const std::string& path) const;
  [[nodiscard]] bool syncs_each() const noexcept;
  [[nodiscard]] result<void> sync(held_directories::id directory);
  [[nodiscard]] result<void> sync_touched();
  [[nodiscard]] result<void> sync_all();
  void finish_directories();
  void set_directory(held_directories::id directory, const known_times& times);
  [[nodiscard]] result<void> give_directories();

  // change_steps.cpp: the renames
  void note(deed what, std::size_t number, const entry_stamp& before = {});
  [[nodiscard]] bool is_like(const entry_stamp& seen, const entry_stamp& now) const;
  [[nodiscard]] result<void> check_there(int directory, const char* name,
                                         const entry_stamp& seen) const;
  [[nodiscard]] bool is_as(rest kind, std::size_t number, const entry_stamp& planned);
  [[nodiscard]] result<void> check_aside(rest kind, std::size_t number, const entry_stamp& seen);
  [[nodiscard]] result<void> all_steps();
  [[nodiscard]] result<void> move_out();
  [[nodiscard]] result<void> move_in(std::size_t number);
  [[nodiscard]] result<void> move_directly(std::size_t number);
  [[nodiscard]] std::vector<std::vector<std::size_t>> find_what_goes() const;
  [[nodiscard]] result<void> build();
  [[nodiscard]] result<void> make_directory(std::size_t number);
  [[nodiscard]] result<void> write_down_made(std::size_t first);
  [[nodiscard]] result<void> take_away(const std::vector<std::size_t>& steps);
  [[nodiscard]] result<void> take_away(std::size_t number);
  [[nodiscard]] result<void> put(std::size_t number);
  [[nodiscard]] result<bool> exchange(std::size_t number);
  [[nodiscard]] result<void> put_over(std::size_t number);
  [[nodiscard]] result<void> put_nameless(std::size_t number);
  [[nodiscard]] result<file_descriptor> nameless_copy(int in, const char* name,
                                                      const entry_stamp& seen) const;
  [[nodiscard]] result<void> give_attributes(std::size_t number);

  // take_back.cpp: the way back, and what is cleared away
  [[nodiscard]] error give_up(const error& why);
  void report_all();
  void take_back();
  void take_back(const done& each);
  void back(const done& each, const std::string& path, const in_directory& work);
  [[nodiscard]] bool may_return(const done& each, rest kind, const std::string& path);
  void give_back(const done& each, rest kind, const std::string& path);
  void withdraw(const done& each, rest kind, const std::string& path, const entry_stamp& own);
  void exchange_back(const done& each);
  void move_back(const done& each);
  void take_attributes_back(const done& each);
  void take_directory_back(const done& each);
  [[nodiscard]] bool is_untouched(rest kind, std::size_t number);
  void keep(rest kind, std::size_t number, const std::string& path);
  [[nodiscard]] result<bool> may_go(rest kind, std::size_t number);
  [[nodiscard]] bool may_go(std::string_view name);
  [[nodiscard]] bool clear();
  [[nodiscard]] bool clear_beside();
  [[nodiscard]] bool clear_apart();
  [[nodiscard]] bool keep_rest();

  // change_end.cpp: what a killed process has made, found out from the disk
  [[nodiscard]] result<void> examine();
  [[nodiscard]] result<void> examine_move(std::size_t number);
  [[nodiscard]] result<void> examine_step(std::size_t number);
  [[nodiscard]] result<void> examine_directory(std::size_t number, const entry_stamp& now);
  [[nodiscard]] result<void> examine_content(std::size_t number, const entry_stamp& now);
  [[nodiscard]] result<std::optional<entry_stamp>> look_at(const std::string& path);
  [[nodiscard]] result<entry_stamp> look_at(rest kind, std::size_t number);
  [[nodiscard]] bool is_allowed(const std::string& path, purpose wanted) const;
  [[nodiscard]] result<void> drop(rest kind, std::size_t number);
  void note_found(deed what, std::size_t number, held_directories::id in);

  const root& root_;
  const change_plan& plan_;
  content_source* content_;
  change_log* log_;
  int own_;
  work_bounds bounds_;
  bool tries_again_;
  bool is_end_ = false; ///< of a change that was killed
  std::multimap<std::string_view, const known_directory*> expected_;
  std::set<std::string_view> makes_;              ///< directories
  std::map<std::string_view, std::size_t> homes_; ///< the moves, by where they lead
  std::vector<known_directory> made_;
  held_directories held_;
  asked_rules rules_;
  held_directories::id worked_in_ =
      held_directories::top; ///< the directory that was last worked in
  std::optional<directory_move> moving_;
  std::deque<name_in_use> in_use_; ///< nobody here lists them
  private_staging staging_;
  std::vector<progress> steps_, moves_;
  std::vector<entry_stamp> present_; ///< of the steps, as they are by now
  std::vector<entry_stamp> staged_;  ///< what was made ready, by the step
  std::vector<bool> nameless_;       ///< which have no name before they have their own
  std::set<std::pair<rest, std::size_t>> resting_;
  std::map<std::pair<rest, std::size_t>, entry_stamp> aside_; ///< as it was when it came there
  std::map<std::size_t, file_descriptor> copies_; ///< of what may not be left there, by the step
  std::map<std::string, std::string, std::less<>>
      wanted_;                                  ///< by its name: where what is kept belongs
  std::map<std::uint64_t, std::int64_t> given_; ///< times, by the inode
  std::vector<done> done_;
  std::vector<std::pair<found_order, done>> found_; ///< of a killed change
  bool is_reached_ = false;                         ///< the directory of what was last looked at
  std::map<held_directories::id, known_times> touched_; ///< directories, as they were
  bool may_be_staged_ = false;                          ///< by what the record says
  bool has_begun_ = false;                              ///< to rename
  bool has_unsynced_ = false; ///< something that only syncing all of the file system helps
  std::optional<std::size_t> failed_of_;
  std::string failed_at_;
  std::optional<error> torn_by_;
  bool is_clear_ = false;
  std::vector<std::string> astray_, missing_;
  std::string kept_;
};

/// Reports every path of the plan to this thread's observers as changed in an unknown way.
void report_plan(const change_plan& plan);

/// Whether a later try may succeed. If so a record stays; if not, it must not block every later
/// change.
[[nodiscard]] bool may_pass(const error& e);

/// Renames an entry to an unused name. Errors: already_exists.
[[nodiscard]] result<void> move_to_unused(int from_directory, const char* from, int to_directory,
                                          const char* to);

} // namespace paddock
