// SPDX-License-Identifier: MIT
#include "exec/protection/repository_sweep.hpp"

#include "exec/protection/git_files.hpp"
#include "file/directory_stream.hpp"
#include "path/git_configuration.hpp"
#include "path/git_index.hpp"
#include "path/git_names.hpp"
#include "path/name_rules.hpp"
#include "path/resolve.hpp"
#include "sys/process.hpp"
#include "sys/random_hex.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/limits.hpp>
#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>
#include <linux/fs.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace paddock {
namespace {

constexpr std::size_t long_name_kept = 64;

/// Whether the worktree of a submodule is beneath that of the repository around, also where that is
/// moved.
bool leads_into_its_tree(std::string_view path, std::string_view worktree) {
  constexpr std::string_view up = "../";
  if (!is_of_submodule(path)) return false;
  const std::string_view tree = parent(git_around(path));
  std::string_view below = path.substr(tree.empty() ? 0 : tree.size() + 1);
  for (; !below.empty(); (void)next_component(below)) {
    if (!worktree.starts_with(up)) return false;
    worktree.remove_prefix(up.size());
  }
  return !worktree.empty() && is_path_inside(worktree);
}

} // namespace

std::optional<std::size_t> repository_sweep::rule_of(std::string_view name) const {
  const auto known = std::ranges::find_if(names_, [&](const protected_name& each) {
    return each.mode == protection::read_only &&
           each.name.size() == git_directory.size() + 1 + name.size() &&
           each.name.starts_with(git_directory) && each.name.ends_with(name);
  });
  if (known == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(known - names_.begin());
}

/// What was overlooked at the start may be a person's: it is left as it is unless it has changed.
bool repository_sweep::is_new(const file_status& status,
                              const std::optional<file_status>& leads_to) const {
  const bool is_later =
      then_.ended_ns != 0 && status.has_birth_time && status.created_ns > then_.ended_ns;
  const auto changed_ns = std::max(status.changed_ns, leads_to ? leads_to->changed_ns : 0);
  return !is_later && !then_.entries.contains(status, leads_to) &&
         (then_.complete || changed_ns >= then_.began_ns);
}

bool repository_sweep::is_repository(const std::string& path) const {
  const auto known = directories_.find(path);
  return known != directories_.end() &&
         (is_git_directory(path) || is_bare_repository(path, known->second));
}

/// In the workspace, without links; nothing where it leads out.
std::optional<std::string> repository_sweep::target_of(std::string_view from,
                                                       std::string_view written) const {
  std::string path;
  if (is_absolute(written)) {
    const auto inside = strip_root_prefix(written, top_name_);
    if (!inside) return std::nullopt;
    path = *inside;
  } else {
    path = join(from, written);
  }
  resolve::scope in = resolve::scope_beneath(top_);
  in.configured = top_name_;
  in.canonical = top_name_;
  auto led = resolve::expand_links(in, path);
  if (!led || !led->complete()) return std::nullopt;
  return std::move(led->path);
}

result<file_descriptor> repository_sweep::open(const std::string& path) const {
  return resolve::open_strict(resolve::scope_beneath(top_), path, O_PATH | O_DIRECTORY);
}

bool repository_sweep::move_to(const held_place& from, const held_place& to, const char* name,
                               std::size_t rule) {
  made_entry entry{.path = join(from.path, name), .moved_to = {}, .rule = rule};
  const auto suffix = sys::random_hex(8);
  std::string fresh = std::string(moved_aside_mark).append(suffix.value_or(""));
  const std::string_view whole = name; // of one that would get too long, the beginning
  fresh.insert(0, whole.size() + fresh.size() > name_bytes_max ? whole.substr(0, long_name_kept)
                                                               : whole);
  const auto moved = suffix ? sys::renameat2(from.directory, name, to.directory, fresh.c_str(), 0)
                            : result<void>(suffix.error());
  if (!moved && tells_absence(moved.error())) return false;
  if (moved)
    entry.moved_to = join(to.path, fresh);
  else
    entry.os_errno = moved.error().os_errno;
  found_.moved.push_back(std::move(entry));
  return moved.has_value();
}

/// Of a repository that was copied with the link to the command's own copy.
std::optional<std::string> repository_sweep::settings_behind(int directory,
                                                             const char* name) const {
  const auto link = sys::readlinkat(directory, name);
  const auto known = link ? then_.settings.find(*link) : then_.settings.end();
  if (known == then_.settings.end()) return std::nullopt;
  const auto place = open(std::string(parent(known->second)));
  const std::string original(file_name(known->second));
  return place ? text_of_file(place->get(), original.c_str()) : std::nullopt;
}

void repository_sweep::look_at_configuration(int directory, const std::string& path,
                                             const char* name, std::size_t rule) {
  const auto status = sys::status_at(directory, name, AT_SYMLINK_NOFOLLOW);
  if (!status) return;
  const auto text = text_of_file(directory, name);
  const auto is_allowed = [&](std::string_view worktree) {
    // Git writes one for a submodule, and follows it wherever it leads by then.
    const auto led = leads_into_its_tree(path, worktree) ? target_of(path, worktree) : std::nullopt;
    return led && directories_.contains(*led) && !is_of_git(*led);
  };
  const auto is_local = [&](std::string_view written) {
    const auto led = is_absolute(written) ? sys::openat(AT_FDCWD, std::string(written).c_str(),
                                                        O_PATH | O_DIRECTORY | O_CLOEXEC)
                                          : result<file_descriptor>(error{});
    const std::string there = led ? sys::name_of(led->get()) : std::string();
    const bool is_seen = led && std::ranges::any_of(then_.readable, [&](const std::string& each) {
                           return strip_root_prefix(there, each).has_value();
                         });
    // Git goes from the worktree, which only of this one is known.
    const bool is_known = !is_outside_ && (is_absolute(written) || is_git_directory(path));
    const std::string tree(is_git_directory(path) ? parent(path) : path);
    return is_seen || (is_known && leads_to_repository(top_, tree, written));
  };
  std::optional<std::string> kept;
  if (auto copied = settings_behind(directory, name)) {
    kept = harmless_part(*copied, is_allowed, is_local).value_or(*copied);
    if (!sys::unlinkat(directory, name, 0)) return;
    return write_git_file(directory, name, *kept, 0644);
  }
  if (text) {
    kept = harmless_part(*text, is_allowed, is_local);
    if (!kept && status->links == 1) return;
    if (!kept) kept = *text; // by its other name it could be changed
  }
  if (!move_aside(directory, name, path, rule) || !kept || kept->empty()) return;
  write_git_file(directory, name, *kept, status->mode & 0666U);
}

/// What `git init` puts there ends in `.sample`, and is never run.
void repository_sweep::look_at_hooks(int directory, const std::string& path, std::size_t rule) {
  if (!sys::status_at(directory, "hooks", AT_SYMLINK_NOFOLLOW)) return;
  bool any = true;
  const auto hooks =
      sys::openat(directory, "hooks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (hooks) {
    any = false;
    const auto listed = for_each_entry(hooks->get(), [&](std::string_view name, unsigned char) {
      any = any || !name.ends_with(".sample");
      return true;
    });
    any = any || !listed;
  }
  if (any) (void)move_aside(directory, "hooks", path, rule);
}

/// A worktree's is two directories above it, and a repository that is looked at itself.
void repository_sweep::look_at_common_directory(int directory, const std::string& path,
                                                std::size_t rule) {
  if (!sys::status_at(directory, "commondir", AT_SYMLINK_NOFOLLOW)) return;
  const auto text = text_of_file(directory, "commondir");
  const auto led = text ? target_of(path, without_line_ends(*text)) : std::nullopt;
  if (led && is_repository(*led)) return;
  (void)move_aside(directory, "commondir", path, rule);
}

void repository_sweep::look_into(const std::string& path, const file_status& status) {
  const auto directory = open(path);
  if (!directory) return;
  const unlocked_directory unlocked(directory->get());
  const auto before = found_.moved.size();
  for (const char* name : {"config", "config.worktree"})
    if (const auto rule = rule_of(name)) look_at_configuration(directory->get(), path, name, *rule);
  if (const auto rule = rule_of("hooks")) look_at_hooks(directory->get(), path, *rule);
  if (const auto rule = rule_of("commondir"))
    look_at_common_directory(directory->get(), path, *rule);
  if (found_.moved.size() != before) found_.changed.push_back(status);
}

/// Git makes its worktrees and submodules here, and earlier ones are left alone.
void repository_sweep::look_at_made(const std::string& directory, std::string_view name) {
  const bool is_inside = name == git_directory;
  const std::string path = is_inside ? join(directory, name) : directory;
  const auto status = sys::status_at(top_, path.c_str(), AT_SYMLINK_NOFOLLOW);
  if (!status || !is_new(*status, led_to(top_, path, status->kind))) return;
  const auto has = [&](const char* mark) {
    return sys::status_at(top_, join(path, mark).c_str()).has_value();
  };
  if (is_inside && status->kind != entry_kind::directory)
    look_at_pointer(path, *status);
  else if (is_inside || is_git_repository(has))
    look_into(path, *status);
}

/// A file or a link called `.git`: it may lead to what is looked at, and nowhere else.
void repository_sweep::look_at_pointer(const std::string& path, const file_status& status) {
  const auto rule = rule_of("config");
  const std::string above(parent(path));
  const auto directory = rule ? open(above) : result<file_descriptor>(error{});
  if (!directory) return;
  const unlocked_directory unlocked(directory->get());
  const auto written = pointed_at(directory->get(), status.kind);
  const auto led = written ? target_of(above, *written) : std::nullopt;
  if (led && is_repository(*led)) return;
  (void)move_aside(directory->get(), git_directory.data(), above, *rule);
}

made_repositories repository_sweep::run() && {
  for (const auto& [path, in] : directories_) {
    if (in.names.empty()) continue;
    if (const auto repository = repository_around(directories_, path))
      look_at_links(path, in.names, std::string(*repository));
    if (is_bare_repository(path, in)) look_at_followed(path);
    if (is_bare_repository(path, in) && is_of_submodule(path)) look_at_worktree(path);
    if (is_bare_repository(path, in) && is_new(in.status)) look_into(path, in.status);
    if (!lists_name(in, git_directory)) continue;
    const std::string inside = join(path, git_directory);
    const auto status = sys::status_at(top_, inside.c_str(), AT_SYMLINK_NOFOLLOW);
    if (status && status->kind == entry_kind::directory) look_at_followed(inside);
    if (!status || !is_new(*status, led_to(top_, inside, status->kind))) continue;
    if (status->kind == entry_kind::directory)
      look_into(inside, *status);
    else
      look_at_pointer(inside, *status);
  }
  return std::move(found_);
}

made_repositories repository_sweep::run_outside() && {
  is_outside_ = true;
  for (const std::string& each : then_.outside) {
    const std::string found = repository_of(each), repository = without_root(found);
    const auto directory = open(without_root(each));
    if (found.empty() || !directory) continue;
    look_at_followed(repository);
    const auto look = [&](const std::string& path, std::string_view name) {
      look_at_links(path, {std::string(name)}, repository);
    };
    const auto look_at_one = [&](const std::string& path, std::string_view name) {
      look_at_made(path, name);
    };
    for_each_link(directory->get(), without_root(each), look, look_at_one);
  }
  for (made_entry& each : found_.moved)
    for (std::string* path : {&each.path, &each.moved_to})
      if (!path->empty()) path->insert(0, "/");
  return std::move(found_);
}

made_repositories sweep_repositories(int top, const std::vector<protected_name>& names,
                                     const directory_index::directories& directories,
                                     const workspace_then& then) {
  made_repositories made = repository_sweep(top, names, directories, then).run();
  if (then.outside.empty()) return made;
  const auto all = sys::openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY);
  if (!all) return made;
  made_repositories more = repository_sweep(all->get(), names, directories, then).run_outside();
  std::ranges::move(more.moved, std::back_inserter(made.moved));
  return made;
}

} // namespace paddock
