// SPDX-License-Identifier: MIT
#pragma once

// Carries a plan out: everything that is to be there again is first written into a directory of its
// own, then renames bring it about, in directories that are held from the first look on. What fails
// is taken back.

#include "change/held_directories.hpp"
#include "change/private_staging.hpp"
#include "file/leftover.hpp"
#include "history/restore_intent.hpp"
#include "history/restore_plan.hpp"
#include "path/directory_moves.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::history {

/// Of a directory that is worked in: its owner may do all in it.
inline constexpr unsigned owner_all = 0700;

class restore_run {
public:
  /// Both live longer; `staging` is a name that nobody has, or that of a restore that was killed.
  restore_run(store::impl& of, const restore_plan& plan, const std::string& staging);

  /// Of a restore that was killed: its plan says what lies in the directory already.
  void carries_on(const restore_plan& killed);
  /// Makes the directory, and in it all files and links that are to be there again.
  [[nodiscard]] result<void, detailed_error> stage();
  /// Errors: those of the renames; conflict (an entry is not as it was planned). All is as it was
  /// then, but for what somebody else has saved meanwhile, which stays.
  [[nodiscard]] result<void, detailed_error> run();
  /// Removes the directory with what was set aside; whether it is gone. What others have put in
  /// there, or saved at just that moment, stays in it under a name that is seen.
  bool clear();
  /// Where that is, as a clause; empty: there is nothing of it.
  [[nodiscard]] const std::string& kept() const noexcept { return kept_; }

private:
  enum class deed : std::uint8_t {
    set_aside,
    placed,
    exchanged,
    made,
    removed,
    moved_out,
    moved_in,
    attributes
  };
  struct done {
    deed what;
    std::size_t number = 0; ///< of the step or move
    held_directories::id in = held_directories::top;
    known_state before{}; ///< of attributes
  };
  struct known_times {
    std::uint32_t mode = 0;
    std::int64_t modified_ns = 0;
    bool widened = false;
  };

  [[nodiscard]] std::string staged(char kind, std::size_t number) const;
  [[nodiscard]] std::optional<std::size_t> brought_by(std::string_view path) const;
  [[nodiscard]] bool stays(const restore_step& step) const;
  [[nodiscard]] std::string before_moves(const std::string& path) const;
  [[nodiscard]] bool is_as_seen(const std::string& directory, int fd, const file_status& now) const;
  void touch(held_directories::id directory);
  [[nodiscard]] bool widen(const std::string& directory);
  [[nodiscard]] bool widen(held_directories::id directory);
  /// Given the directory of a path, and the name in it.
  using in_directory = std::function<result<void>(int, const char*)>;
  [[nodiscard]] result<void> in_parent(const std::string& path, const in_directory& work);
  void note(deed what, std::size_t number, const known_state& before = {});
  /// The same in the very directory where something was done.
  [[nodiscard]] result<void> in_same_parent(const done& each, const std::string& path,
                                            const in_directory& work);
  /// What could not be taken back, as a clause.
  [[nodiscard]] std::string astray_clause() const;
  /// Whether each file and directory is synced, not the file system.
  [[nodiscard]] bool is_small() const noexcept;
  void sync_directories();
  [[nodiscard]] std::string why_not(const error& e) const;
  [[nodiscard]] result<void> stage_all();
  [[nodiscard]] result<void> stage_one(std::size_t number);
  [[nodiscard]] result<void> name_staged();
  [[nodiscard]] result<void> all_steps();
  [[nodiscard]] bool is_home(const restore_move& move) const;
  [[nodiscard]] result<void> move_out();
  [[nodiscard]] result<void> move_in(std::size_t number);
  [[nodiscard]] std::vector<std::vector<std::size_t>> find_what_goes() const;
  [[nodiscard]] result<void> build();
  [[nodiscard]] result<void> take_away(const std::vector<std::size_t>& steps);
  [[nodiscard]] result<void> take_away(std::size_t number);
  [[nodiscard]] bool is_nameless(std::size_t number) const;
  [[nodiscard]] result<void> put_nameless(std::size_t number);
  [[nodiscard]] result<void> put(std::size_t number);
  [[nodiscard]] result<void> fill(int fd, const restore_step& step, std::string_view bytes);
  /// The attributes of what lies there, if that is a file.
  [[nodiscard]] static result<void> take_over(int fd, int in, std::string_view name);
  [[nodiscard]] bool is_exposed(const std::string& path) const;
  [[nodiscard]] result<file_descriptor> nameless_copy(int in, const char* name) const;
  [[nodiscard]] result<void> check_aside(const std::string& name, const known_state& present);
  [[nodiscard]] result<void> check_untouched(const std::string& name) const;
  [[nodiscard]] result<void> give_attributes(std::size_t number);
  [[nodiscard]] result<void> check_present(int directory, const char* name,
                                           const known_state& present) const;
  [[nodiscard]] bool is_time_of(const known_state& present, std::int64_t modified_ns) const;
  [[nodiscard]] bool is_as(const std::string& name, const known_state& planned) const;
  [[nodiscard]] bool may_go(const restore_plan& plan, const std::string& name) const;
  [[nodiscard]] result<void> sort_out();
  [[nodiscard]] bool clear_once();
  [[nodiscard]] bool keep_rest();
  void take_back();
  void take_back(const done& each);
  void give_back(const done& each, const std::string& name, const std::string& path);
  void withdraw(const done& each, const std::string& name, const std::string& path,
                const known_state& own);
  void exchange_back(const done& each);
  void take_attributes_back(const done& each);
  void take_directory_back(const done& each);
  void keep(const std::string& name, const std::string& path) { wanted_[name] = path; }
  void finish_directories();
  void set_directory(held_directories::id directory, const known_times& times);

  store::impl& of_;
  const restore_plan& plan_;
  const std::string& name_;
  const restore_plan* killed_ = nullptr;
  std::map<std::string, std::size_t, std::less<>> homes_; ///< the moves, by where they go back to
  std::map<std::uint64_t, std::int64_t> given_;           ///< times, by the inode
  std::vector<made_directory> made_by_killed_;
  held_directories held_;
  std::optional<directory_move> moving_;
  std::optional<name_in_use> in_use_;
  private_staging staging_;
  std::vector<known_state> staged_;               ///< what this run has made, by the step
  std::vector<bool> nameless_;                    ///< which have no name before they have their own
  std::map<std::string, known_state> aside_;      ///< by staged name, as it was when it came there
  std::map<std::string, file_descriptor> copies_; ///< by that name: of what is not left there
  std::map<std::string, std::string> wanted_;     ///< by staged name: where what is kept belongs
  std::string kept_;
  std::vector<done> done_;
  held_directories::id worked_in_ =
      held_directories::top;          ///< the directory that was last worked in
  std::vector<std::string> astray_{}; ///< paths whose directory was not to be found then
  std::map<held_directories::id, known_times> touched_; ///< directories, as they were
  bool has_unsynced_ = false; ///< something that only syncing all of the file system helps
  std::string failed_at_;
};

} // namespace paddock::history
