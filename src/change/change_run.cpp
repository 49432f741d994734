// SPDX-License-Identifier: MIT
#include "change/change_run.hpp"

#include "file/attributes.hpp"
#include "file/replace.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>
#include <paddock/path/protected_names.hpp>

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>

namespace paddock {
namespace {

/// Whether a path leads through a name that is usually protected, wherever that is.
bool has_usual_name(std::string_view path) {
  static const auto names = usual_protected_names();
  const auto leads_through = [&](const protected_name& rule) {
    for (std::size_t at = path.find(rule.name); at != path.npos;
         at = path.find(rule.name, at + 1)) {
      const std::size_t end = at + rule.name.size();
      if ((at == 0 || path[at - 1] == '/') && (end == path.size() || path[end] == '/')) return true;
    }
    return false;
  };
  return std::ranges::any_of(names, leads_through);
}

result<void> set_execution(int fd, bool wanted) {
  PADDOCK_TRY(const auto now, sys::fstat(fd));
  constexpr unsigned all = 0111;
  const unsigned mode = wanted ? now.mode | ((now.mode & 0444U) >> 2U) : now.mode & ~all;
  return mode == now.mode ? result<void>() : sys::fchmod(fd, mode);
}

} // namespace

change_run::change_run(const change_means& with, const change_plan& plan)
    : root_(with.where), plan_(plan), content_(with.content), log_(with.log), own_(with.own),
      bounds_(with.bounds), tries_again_(with.tries_again),
      held_(with.where, [this](const std::string& path, int fd,
                               const file_status& now) { return is_expected(path, fd, now); }),
      rules_(
          with.where, plan, held_,
          [this](std::size_t number, const file_status& there) { return is_own(number, there); }),
      steps_(plan.steps.size()), moves_(plan.moves.size()), staged_(plan.steps.size()),
      nameless_(plan.steps.size()) {
  for (const known_directory& each : plan.directories)
    expected_.emplace(each.path, &each);
  for (const change_step& each : plan.steps) {
    present_.push_back(each.present);
    if (each.makes_directory()) makes_.insert(each.path);
  }
  for (std::size_t i = 0; i < plan.moves.size(); ++i)
    homes_[plan.moves[i].home] = i;
}

/// Whether a directory is the one the plan was made for. Directories made by the killed run are in
/// its record.
bool change_run::is_expected(const std::string& path, int fd, const file_status& now) const {
  const auto is_this = [&](const known_directory& each) {
    return each.inode == now.inode && (each.device == 0 || each.device == now.device);
  };
  const auto [begin, end] = expected_.equal_range(path);
  if (std::any_of(begin, end, [&](const auto& each) { return is_this(*each.second); })) return true;
  if (!makes_.contains(path)) return begin == end;
  if (plan_.how.is_beside) return true; // one that somebody else has made by now will do
  return is_end_ && (std::ranges::any_of(made_,
                                         [&](const known_directory& each) {
                                           return each.path == path && is_this(each);
                                         }) ||
                     has_only_directories(fd, makes_.size()).value_or(false));
}

bool change_run::is_own(std::size_t number, const file_status& there) const {
  const entry_stamp now = stamp_of(there);
  const std::size_t steps = plan_.steps.size();
  if (number >= steps) return plan_.moves[number - steps].object.same_object(now);
  if (staged_[number].same_object(now)) return true;
  return std::ranges::any_of(made_, [&](const known_directory& each) {
    return each.inode == there.inode && each.device == there.device &&
           each.path == plan_.steps[number].path;
  });
}

/// The move that the path is brought by: the innermost.
std::optional<std::size_t> change_run::brought_by(std::string_view path) const {
  if (homes_.empty()) return std::nullopt;
  for (; !path.empty(); path = parent(path))
    if (const auto found = homes_.find(path); found != homes_.end()) return found->second;
  return std::nullopt;
}

/// In the staging directory the kind and number; beside a file, the plan's temporary name with its
/// last 8 digits replaced by a counter.
std::string change_run::rest_name(rest kind, std::size_t number) const {
  if (!plan_.how.is_beside) return static_cast<char>(kind) + std::to_string(number);
  constexpr std::size_t counted = 8;
  std::array<char, counted> digits{};
  const auto count = static_cast<std::uint32_t>(2 * number + (kind == rest::aside ? 1 : 0));
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), count, 16).ptr;
  const auto used = static_cast<std::size_t>(end - digits.data());
  return plan_.staging.substr(0, plan_.staging.size() - counted)
      .append(counted - used, '0')
      .append(digits.data(), used);
}

/// The nearest existing directory above a path. New files inherit from it what the directories made
/// below it would pass on.
std::string change_run::home_of(std::string_view path) const {
  std::string_view in = parent(path);
  while (makes_.contains(in))
    in = parent(in);
  return std::string(in);
}

result<change_run::location> change_run::place_aside_of(rest kind, std::size_t number) {
  if (!plan_.how.is_beside) return location{staging_.descriptor(), rest_name(kind, number)};
  PADDOCK_TRY(const auto id, held_.look(home_of(plan_.steps[number].path)));
  PADDOCK_TRY(const int in, held_.descriptor(id));
  return location{in, rest_name(kind, number)};
}

void change_run::at_step(std::size_t number) {
  failed_at_ = plan_.steps[number].path;
  failed_of_ = plan_.steps[number].of;
}

void change_run::at_move(std::size_t number) {
  failed_at_ = plan_.moves[number].now;
  failed_of_ = plan_.moves[number].of;
}

void change_run::touch(held_directories::id directory) {
  const file_status& first = held_.status(directory);
  touched_.try_emplace(directory,
                       known_times{.mode = first.mode, .modified_ns = first.modified_ns});
}

/// Lets the owner into a directory that has no permission for that, until the end.
bool change_run::widen(held_directories::id directory) {
  const auto fd = held_.descriptor(directory);
  if (!fd || !plan_.how.keeps_directories) return false;
  touch(directory);
  known_times& known = touched_[directory];
  if ((known.mode & owner_all) == owner_all || known.widened) return false;
  known.widened = sys::chmod_opened(*fd, known.mode | owner_all).has_value();
  return known.widened;
}

/// Opens the nearest directory above a path that keeps its owner out; false if none does.
bool change_run::widen_above(const std::string& path) {
  for (std::string above(parent(path));; above = parent(above)) {
    if (const auto id = held_.look(above); id && widen(*id)) return true;
    if (above.empty()) return false;
  }
}

result<void> change_run::in_parent_of(const change_step& step, const in_directory& work) {
  return in_parent(
      step.path, [&](auto in, auto name) { return rules_.check_step(in, name, step); }, work);
}

result<void> change_run::in_parent(const std::string& path, const rules_question& ask,
                                   const in_directory& work) {
  if (is_end_) PADDOCK_CHECK(bounds_.check());
  const std::string name(file_name(path));
  const auto once = [&]() -> result<void> {
    PADDOCK_TRY(worked_in_, held_.look(std::string(parent(path))));
    PADDOCK_CHECK(ask(worked_in_, name));
    PADDOCK_TRY(const int in, held_.descriptor(worked_in_));
    touch(worked_in_);
    return work(in, name.c_str());
  };
  for (;;) {
    auto worked = once();
    if (worked || worked.error().code != error_code::permission_denied || !widen_above(path))
      return worked;
  }
}

result<void> change_run::begin_staging() {
  if (plan_.how.keeps_directories)
    if (const auto top = sys::status_at(root_.descriptor(), ""))
      touched_[held_directories::top] = {.mode = top->mode, .modified_ns = top->modified_ns};
  if (!plan_.how.is_beside) {
    PADDOCK_TRY(const component name, component::from(plan_.staging));
    in_use_.emplace_back(name);
    PADDOCK_TRY(staging_, private_staging::take(root_, own_, plan_.staging));
    return {};
  }
  for (std::size_t i = 0; i < plan_.steps.size(); ++i)
    for (const rest kind : {rest::staged, rest::aside}) {
      const change_step& step = plan_.steps[i];
      if (!(kind == rest::staged ? step.brings_content() : step.present.exists())) continue;
      if (const auto name = component::from(rest_name(kind, i))) in_use_.emplace_back(*name);
    }
  return {};
}

result<void> change_run::stage_all() {
  PADDOCK_CHECK(begin_staging());
  for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
    at_step(i);
    PADDOCK_CHECK(bounds_.check());
    const change_step& step = plan_.steps[i];
    if (!step.brings_content()) continue;
    // Asked once: what is protected follows from the workspace.
    nameless_[i] = step.wanted.kind == entry_kind::file && is_exposed(step.path);
    if (!nameless_[i]) PADDOCK_CHECK(stage(i));
  }
  failed_of_ = {};
  failed_at_.clear();
  return plan_.how.is_durable ? sync_staged() : result<void>();
}

/// Whether a file is protected at its path but would not be in the staging directory. It must not
/// get a name there, or commands could open it.
bool change_run::is_exposed(const std::string& path) const {
  return !plan_.how.is_beside && !staging_.is_out_of_reach() &&
         (has_usual_name(path) || !root_.check_changeable(path));
}

result<void> change_run::stage(std::size_t number) {
  const change_step& step = plan_.steps[number];
  if (plan_.how.is_beside) {
    const std::string above = home_of(step.path);
    PADDOCK_TRY(const auto home, held_.look(above));
    const auto way = std::string_view(step.path).substr(above.empty() ? 0 : above.size() + 1);
    PADDOCK_CHECK(rules_.check_step(home, way, step));
  }
  PADDOCK_TRY(const location at, place_aside_of(rest::staged, number));
  PADDOCK_TRY(const std::string_view bytes, content_->bytes(step.content));
  resting_.emplace(rest::staged, number);
  if (step.wanted.kind == entry_kind::symlink) {
    PADDOCK_CHECK(sys::symlinkat(std::string(bytes).c_str(), at.directory, at.name.c_str()));
    PADDOCK_CHECK(sys::set_modified(at.directory, at.name.c_str(), step.wanted.modified_ns));
    PADDOCK_TRY(const auto made,
                sys::status_at(at.directory, at.name.c_str(), AT_SYMLINK_NOFOLLOW));
    staged_[number] = stamp_of(made);
    return {};
  }
  const bool is_new = step.taken_from.empty() && !step.has_wanted_attributes;
  const unsigned mode = is_new ? (step.is_executable.value_or(false) ? 0777 : 0666) : 0600;
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY;
  PADDOCK_TRY(const auto file, sys::openat(at.directory, at.name.c_str(), flags, mode));
  PADDOCK_CHECK(fill(file.get(), step, bytes));
  if (step.has_wanted_attributes)
    PADDOCK_CHECK(sys::set_modified(at.directory, at.name.c_str(), step.wanted.modified_ns));
  if (plan_.how.is_durable && syncs_each()) PADDOCK_CHECK(sys::fsync(file.get()));
  PADDOCK_TRY(const auto made, sys::fstat(file.get()));
  staged_[number] = stamp_of(made);
  return {};
}

/// Writes the content and sets owner, access list and mode.
result<void> change_run::fill(int fd, const change_step& step, std::string_view bytes) {
  PADDOCK_CHECK(write_all(fd, bytes, has_begun_ ? work_bounds() : bounds_));
  if (!step.taken_from.empty()) {
    PADDOCK_TRY(const auto id, held_.look(std::string(parent(step.taken_from))));
    PADDOCK_TRY(const int in, held_.descriptor(id));
    PADDOCK_TRY(const component name, component::from(file_name(step.taken_from)));
    PADDOCK_TRY(auto there, sys::openat(in, ".", O_PATH | O_DIRECTORY));
    place old{.parent = std::move(there), .name = name, .path = step.taken_from, .existing = {}};
    if (const auto status = sys::status_at(in, name.c_str(), AT_SYMLINK_NOFOLLOW))
      old.existing = *status;
    const bool is_file = old.existing && old.existing->kind == entry_kind::file;
    if (!is_file && !step.has_wanted_attributes) return error{error_code::conflict, 0, "change"};
    if (is_file) PADDOCK_CHECK(take_over_attributes(fd, old));
  }
  if (step.has_wanted_attributes) return sys::fchmod(fd, step.wanted.mode & ~set_id_bits);
  if (!step.is_executable || step.taken_from.empty()) return {};
  return set_execution(fd, *step.is_executable);
}

bool change_run::syncs_each() const noexcept {
  constexpr std::size_t entries_max = 16; // as many waits for the disk take as long as one for all
  return plan_.how.is_beside || plan_.steps.size() + plan_.moves.size() <= entries_max;
}

/// Syncs the staged entries before the record says that they are there.
result<void> change_run::sync_staged() {
  if (plan_.how.is_beside) {
    std::set<held_directories::id> homes;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      if (!staged_[i].exists()) continue;
      PADDOCK_TRY(const auto id, held_.look(home_of(plan_.steps[i].path)));
      homes.insert(id);
    }
    for (const auto id : homes)
      PADDOCK_CHECK(sync(id));
    return {};
  }
  if (!syncs_each()) return sys::syncfs(staging_.descriptor());
  PADDOCK_TRY(const auto home, sys::openat(staging_.home(), ".", O_RDONLY | O_DIRECTORY));
  PADDOCK_CHECK(sys::fsync(home.get()));
  return sys::fsync(staging_.descriptor());
}

result<void> change_run::sync(held_directories::id directory) {
  PADDOCK_TRY(const int held, held_.descriptor(directory));
  PADDOCK_TRY(const auto fd, sys::openat(held, ".", O_RDONLY | O_DIRECTORY));
  return sys::fsync(fd.get());
}

/// Syncs what was changed, before the old entries and the record are removed.
result<void> change_run::sync_touched() {
  if (!plan_.how.is_durable) return {};
  result<void> all;
  for (auto at = touched_.begin(); at != touched_.end() && syncs_each() && !has_unsynced_; ++at) {
    const auto synced = sync(at->first);
    const bool is_closed = !synced && synced.error().code == error_code::permission_denied;
    has_unsynced_ = has_unsynced_ || is_closed; // nobody may read it
    const bool is_gone = !synced && synced.error().code == error_code::not_found;
    if (!synced && !is_closed && !is_gone && all) all = synced;
  }
  return syncs_each() && !has_unsynced_ ? all : sync_all();
}

result<void> change_run::sync_all() {
  PADDOCK_TRY(const auto top, sys::openat(root_.descriptor(), ".", O_RDONLY | O_DIRECTORY));
  return sys::syncfs(top.get());
}

/// Gives the directories of the plan their modes and times, and syncs. One that is not found is
/// skipped; the next scan reports it.
result<void> change_run::give_directories() {
  auto before = touched_;
  for (std::size_t i = 0; i < plan_.steps.size() && plan_.how.keeps_directories; ++i) {
    const change_step& step = plan_.steps[i];
    if (!step.wanted.is_directory() || steps_[i] == progress::left) continue;
    const auto id = held_.look(step.path);
    if (!id) continue;
    const file_status& was = held_.status(*id);
    before.try_emplace(*id, known_times{.mode = was.mode, .modified_ns = was.modified_ns});
    before[*id].widened = true;
    touched_[*id] = {
        .mode = step.wanted.mode, .modified_ns = step.wanted.modified_ns, .widened = true};
  }
  finish_directories();
  auto synced = sync_touched();
  if (!synced) touched_ = std::move(before);
  return synced;
}

/// Modes and times of directories, the deepest first.
void change_run::finish_directories() {
  if (!plan_.how.keeps_directories) return;
  std::vector<held_directories::id> ids;
  for (const auto& [id, times] : touched_)
    ids.push_back(id);
  const auto depth = [&](held_directories::id id) {
    const std::string& path = held_.path(id);
    return path.empty() ? -1 : std::ranges::count(path, '/');
  };
  std::ranges::sort(ids, std::ranges::greater(), depth);
  for (const held_directories::id id : ids)
    set_directory(id, touched_[id]);
}

/// Tries twice; the next scan reports a failure.
void change_run::set_directory(held_directories::id directory, const known_times& times) {
  const auto once = [&]() -> result<void> {
    PADDOCK_TRY(const int fd, held_.descriptor(directory));
    auto set = sys::set_modified(fd, ".", times.modified_ns);
    const bool is_closed = !set && set.error().code == error_code::permission_denied;
    if (is_closed && sys::chmod_opened(fd, times.mode | owner_all))
      set = sys::set_modified(fd, ".", times.modified_ns);
    if (times.widened || is_closed) PADDOCK_CHECK(sys::chmod_opened(fd, times.mode));
    return set;
  };
  const auto set = once();
  if (!set && set.error().code != error_code::not_found) (void)once();
}

} // namespace paddock
