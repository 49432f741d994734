// SPDX-License-Identifier: MIT
#include "change/set_planner.hpp"

#include "file/attributes.hpp"
#include "file/leftover.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <set>
#include <utility>

namespace paddock {
namespace {

constexpr const char* set_operation = "change_set";

error refusal(error_code code, int os_errno = 0) {
  return {code, os_errno, set_operation};
}

/// What is wrong with a change by itself; empty: nothing.
std::string_view malformed(const file_change& change) {
  const bool moves = change.action == change_action::move;
  const bool makes =
      change.action == change_action::create || change.action == change_action::replace;
  if (change.from.empty() == moves) return moves ? "from where is not said" : "nothing moves here";
  if (makes && !change.bytes) return "the new content is missing";
  if (change.action == change_action::remove && change.bytes) return "what is removed has none";
  if (change.action == change_action::create && change.before) return "there was nothing before";
  if (change.is_executable && !change.bytes) return "a mode is given together with the content";
  return {};
}

unsigned with_execution(unsigned mode, std::optional<bool> wanted) {
  if (!wanted) return mode;
  constexpr unsigned all = 0111;
  return *wanted ? mode | ((mode & 0444U) >> 2U) : mode & ~all;
}

/// Where an entry is, or is to be.
struct new_place {
  std::string path;                       ///< resolved
  known_directory in;                     ///< the directory, or the deepest above it that is there
  std::vector<std::string> directories{}; ///< above it, that are not there yet
};

result<known_directory> place_of(const file_descriptor& directory, std::string_view path) {
  PADDOCK_TRY(const auto status, sys::status_at(directory.get(), ""));
  return known_directory{std::string(path), status.device, status.inode};
}

/// Of a path whose parent is not there: the deepest directory that is, and the names below it.
result<new_place> place_with_parents(const root& root, std::string_view path) {
  std::string_view head = path;
  std::vector<std::string_view> names; // the last one first
  result<opened> base = error{error_code::not_found, ENOENT, set_operation};
  while (!base) {
    const auto slash = head.rfind('/');
    const auto name = slash == head.npos ? head : head.substr(slash + 1);
    if (name == "..") return refusal(error_code::not_found, ENOENT); // of what is not there
    if (!name.empty() && name != ".") names.push_back(name);
    head = slash == head.npos ? std::string_view() : head.substr(0, slash);
    base = root.open_beneath(head.empty() ? "." : head, access::inspect);
    if (!base && base.error().code != error_code::not_found) return base.error();
  }
  if (base->status.kind != entry_kind::directory) return refusal(error_code::not_a_directory);
  PADDOCK_TRY(auto in, place_of(base->fd, base->path));
  new_place found{.path = base->path, .in = std::move(in)};
  while (!names.empty()) {
    if (!found.path.empty()) found.path += '/';
    found.path += names.back();
    names.pop_back();
    const auto wanted = names.empty() ? purpose::change : purpose::make_directory;
    if (root.is_protected(found.path)) return refusal(error_code::protected_entry);
    PADDOCK_CHECK(root.check_changeable(found.path, wanted));
    if (!names.empty()) found.directories.push_back(found.path);
  }
  return found;
}

result<new_place> find_new(const root& root, std::string_view path) {
  if (path.ends_with('/')) return refusal(error_code::is_a_directory);
  const auto where = root.locate(path, final_link::keep);
  if (where) {
    PADDOCK_TRY(auto in, place_of(where->parent, parent(where->path)));
    return new_place{.path = where->path, .in = std::move(in)};
  }
  if (where.error().code != error_code::not_found) return where.error();
  return place_with_parents(root, path);
}

/// Where an existing file is.
result<new_place> find_old(const root& root, std::string_view path, final_link last) {
  PADDOCK_TRY(const auto where, root.locate(path, last));
  if (!where.existing) return refusal(error_code::not_found, ENOENT);
  if (where.existing->kind == entry_kind::directory) return refusal(error_code::is_a_directory);
  if (where.directory) return refusal(error_code::not_a_directory);
  PADDOCK_TRY(auto in, place_of(where.parent, parent(where.path)));
  return new_place{.path = where.path, .in = std::move(in)};
}

class planner {
public:
  planner(const root& root, std::span<const file_change> changes, const change_options& options)
      : root_(root), changes_(changes), options_(options) {}

  result<planned_set, change_failure> make() {
    if (changes_.size() > options_.files_max)
      return change_failure(refusal(error_code::too_many), change_failure::no_change, {},
                            "at most " + std::to_string(options_.files_max) + " files at once");
    PADDOCK_CHECK(for_each_change([&](const file_change& change) { return resolve(change); }));
    PADDOCK_CHECK(check_paths());
    PADDOCK_CHECK(check_paths_together());
    auto locks = lock_contents(root_, paths_, options_.bounds);
    if (!locks) return change_failure(locks.error());
    plan_.locks = *std::move(locks);
    for (const auto& [path, change] : directories_)
      plan_.plan.steps.push_back(
          {.path = path, .wanted = {.kind = entry_kind::directory}, .of = change});
    PADDOCK_CHECK(for_each_change([&](const file_change& change) { return examine(change); }));
    if (!changes_anything()) plan_.plan.steps.clear();
    plan_.plan.how = {.is_beside = true,
                      .asks_rules = true,
                      .is_durable = options_.durability != durability::none};
    for (auto& [path, place] : places_)
      plan_.plan.directories.push_back(std::move(place));
    return std::move(plan_);
  }

private:
  template <class Act> result<void, change_failure> for_each_change(const Act& act) {
    for (now_ = 0; now_ < changes_.size(); ++now_) {
      const file_change& change = changes_[now_];
      detail_.clear();
      if (const result<void> done = act(change); !done)
        return change_failure(done.error(), now_, change.path, std::move(detail_));
    }
    return {};
  }

  result<void> refuse(std::string_view why) {
    detail_ = why;
    return refusal(error_code::invalid_argument);
  }

  result<void> resolve(const file_change& change) {
    if (const auto why = malformed(change); !why.empty()) return refuse(why);
    if (change.bytes && change.bytes->size() > options_.bytes_max)
      return refusal(error_code::too_large);
    changed_file file{.action = change.action};
    switch (change.action) {
    case change_action::move: {
      PADDOCK_TRY(auto old, find_old(root_, change.from, final_link::keep));
      file.from = std::move(old.path);
      paths_.push_back(file.from);
      PADDOCK_CHECK(take(std::move(old.in)));
      [[fallthrough]];
    }
    case change_action::create: {
      PADDOCK_TRY(auto fresh, find_new(root_, change.path));
      file.path = std::move(fresh.path);
      PADDOCK_CHECK(take(std::move(fresh.in)));
      for (std::string& each : fresh.directories)
        directories_.try_emplace(std::move(each), now_);
      break;
    }
    case change_action::replace: {
      PADDOCK_TRY(auto old, find_old(root_, change.path, final_link::follow));
      file.path = std::move(old.path);
      PADDOCK_CHECK(take(std::move(old.in)));
      break;
    }
    case change_action::remove: {
      PADDOCK_TRY(auto old, find_old(root_, change.path, final_link::keep));
      file.path = std::move(old.path);
      PADDOCK_CHECK(take(std::move(old.in)));
      break;
    }
    }
    paths_.push_back(file.path);
    plan_.files.push_back(std::move(file));
    return {};
  }

  /// The directory of a change, which is the same one for all of them.
  result<void> take(known_directory in) {
    const auto [at, is_new] = places_.try_emplace(in.path, in);
    if (!is_new && at->second != in) return refusal(error_code::conflict);
    return {};
  }

  /// No path twice, and none beneath another.
  result<void, change_failure> check_paths() {
    std::set<std::string_view> seen;
    const auto take = [&](std::string_view path) {
      return path.empty() || seen.insert(path).second;
    };
    for (std::size_t i = 0; i < plan_.files.size(); ++i)
      if (!take(plan_.files[i].from) || !take(plan_.files[i].path))
        return change_failure(refusal(error_code::invalid_argument), i, changes_[i].path,
                              "the changes name this file twice");
    for (std::size_t i = 0; i < plan_.files.size(); ++i)
      for (auto above = parent(plan_.files[i].path); !above.empty(); above = parent(above))
        if (seen.contains(above))
          return change_failure(refusal(error_code::not_a_directory), i, changes_[i].path,
                                "another of the changes has '" + std::string(above) +
                                    "' as a file");
    return {};
  }

  /// What none of them would do by itself, they do not do together either: the last of them would
  /// be refused when the others are made, and so would be the way back after a kill.
  result<void, change_failure> check_paths_together() {
    const auto found = root_.find_protected_together(paths_);
    if (!found) return {};
    const std::string& path = paths_[found->number];
    const auto is_of = [&](const changed_file& file) {
      return file.path == path || file.from == path;
    };
    const auto file = std::ranges::find_if(plan_.files, is_of);
    const auto change = static_cast<std::size_t>(file - plan_.files.begin());
    return change_failure({error_code::write_protected, 0, found->rule}, change,
                          changes_[change].path,
                          "with the other changes a directory becomes a repository of git, in "
                          "which this is protected");
  }

  /// The file that is changed, as it is now, under the lock.
  result<file_status> look_at_old(const std::string& path) {
    PADDOCK_TRY(const auto where, root_.locate(path, final_link::keep));
    if (!where.existing) return refusal(error_code::not_found, ENOENT);
    if (where.existing->kind == entry_kind::directory) return refusal(error_code::is_a_directory);
    PADDOCK_CHECK(check_writable(where));
    const bool is_new = old_.emplace(where.existing->device, where.existing->inode).second;
    // On file systems that fold case, two spellings are one file.
    if (!is_new && where.existing->links == 1) {
      detail_ = "the changes name this file twice";
      return refusal(error_code::invalid_argument);
    }
    return *where.existing;
  }

  /// The content, which must be the one that the caller knows.
  result<file_content> read_old(const file_change& change, const std::string& path) {
    PADDOCK_TRY(
        auto content,
        read_file(root_, path, {.bytes_max = options_.bytes_max, .bounds = options_.bounds}));
    if (content.path != path) return refusal(error_code::conflict);
    if (change.before && *change.before != content.bytes) return refusal(error_code::stale);
    return content;
  }

  [[nodiscard]] bool changes_anything() const {
    return std::ranges::any_of(plan_.files, &changed_file::is_changed);
  }

  change_step& add_step(const std::string& path) {
    return plan_.plan.steps.emplace_back(change_step{.path = path, .of = now_});
  }
  /// Of a file that comes.
  void bring(change_step& step, const file_change& change, std::string taken_from) {
    step.wanted.kind = entry_kind::file;
    step.content.low = plan_.texts.size();
    plan_.texts.push_back(&*change.bytes);
    step.taken_from = std::move(taken_from);
    step.is_executable = change.is_executable;
  }

  result<void> examine(const file_change& change) {
    PADDOCK_CHECK(options_.bounds.check());
    changed_file& file = plan_.files[now_];
    switch (change.action) {
    case change_action::create:
      return plan_new(change, file, {});
    case change_action::replace:
      return plan_replacement(change, file);
    case change_action::remove:
      return plan_removal(change, file.path, file);
    case change_action::move:
      break;
    }
    if (!change.bytes) return plan_move(change, file);
    PADDOCK_CHECK(check_move(file));
    PADDOCK_CHECK(plan_new(change, file, file.from));
    return plan_removal(change, file.from, file);
  }

  result<void> plan_new(const file_change& change, changed_file& file, std::string attributes_of) {
    PADDOCK_CHECK(check_absent(file));
    bring(add_step(file.path), change, std::move(attributes_of));
    file.is_changed = true;
    return {};
  }

  /// Nothing is where something is to come: but for another spelling of what moves there.
  result<void> check_absent(const changed_file& file, const file_status* moved = nullptr) {
    const auto where = root_.locate(file.path, final_link::keep);
    if (!where && where.error().code == error_code::not_found) return {};
    if (!where) return where.error();
    if (!where->existing) return {};
    if (moved != nullptr && moved->links == 1 && where->existing->same_object(*moved)) return {};
    if (where->existing->kind == entry_kind::directory) return refusal(error_code::is_a_directory);
    return refusal(error_code::already_exists, EEXIST);
  }

  result<void> plan_replacement(const file_change& change, changed_file& file) {
    PADDOCK_TRY(const auto old, look_at_old(file.path));
    if (old.kind != entry_kind::file) return refusal(error_code::not_regular);
    PADDOCK_TRY(const auto content, read_old(change, file.path));
    const unsigned mode = content.status.mode & ~set_id_bits;
    const bool same_mode = with_execution(mode, change.is_executable) == mode;
    if (content.bytes == *change.bytes && same_mode) return {};
    change_step& step = add_step(file.path);
    step.present = stamp_of(content.status);
    bring(step, change, file.path);
    file.is_changed = true;
    return {};
  }

  result<void> plan_removal(const file_change& change, const std::string& path,
                            changed_file& file) {
    PADDOCK_TRY(auto old, look_at_old(path));
    if (change.before) {
      PADDOCK_TRY(const auto content, read_old(change, path));
      old = content.status;
    }
    add_step(path).present = stamp_of(old);
    file.is_changed = true;
    return {};
  }

  result<void> check_move(const changed_file& file) {
    PADDOCK_TRY(const auto from, root_.locate(file.from, final_link::keep));
    const bool is_file = from.existing && from.existing->kind == entry_kind::file;
    if (!is_file) return refusal(error_code::not_regular);
    return root_.check_movable(file.from, file.path, entry_kind::file);
  }

  result<void> plan_move(const file_change& change, changed_file& file) {
    PADDOCK_TRY(auto old, look_at_old(file.from));
    PADDOCK_CHECK(root_.check_movable(file.from, file.path, old.kind));
    PADDOCK_CHECK(check_absent(file, &old));
    if (change.before) {
      PADDOCK_TRY(const auto content, read_old(change, file.from));
      old = content.status;
    }
    plan_.plan.moves.push_back(
        {.now = file.from, .home = file.path, .object = stamp_of(old), .of = now_});
    file.is_changed = true;
    return {};
  }

  const root& root_;
  std::span<const file_change> changes_;
  const change_options& options_;
  planned_set plan_;
  std::vector<std::string> paths_;
  std::map<std::string, known_directory> places_;
  std::map<std::string, std::size_t> directories_; // sorted, each with the first change in it
  std::set<std::pair<std::uint64_t, std::uint64_t>> old_;
  std::size_t now_ = 0;
  std::string detail_; ///< of the error that is about to be returned
};

} // namespace

result<planned_set, change_failure> plan_changes(const root& root,
                                                 std::span<const file_change> changes,
                                                 const change_options& options) {
  return planner(root, changes, options).make();
}

} // namespace paddock
