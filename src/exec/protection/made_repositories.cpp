// SPDX-License-Identifier: MIT
#include "exec/protection/made_repositories.hpp"

#include "file/directory_stream.hpp"
#include "path/git_configuration.hpp"
#include "path/git_names.hpp"
#include "path/name_rules.hpp"
#include "path/resolve.hpp"
#include "sys/process.hpp"
#include "sys/random_hex.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>
#include <linux/fs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

namespace paddock {
namespace {

constexpr std::size_t git_file_bytes_max = 256UL * 1024;
constexpr unsigned owner_may = 0700;

bool lists_name(const directory_index::directory& in, std::string_view name) {
  return std::ranges::find(in.names, name) != in.names.end();
}

/// Nothing where it is no file, cannot be read, or is too long for what it is.
std::optional<std::string> text_of_file(int directory, const char* name) {
  const auto file = sys::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (!file) return std::nullopt;
  const auto status = sys::fstat(file->get());
  if (!status || status->kind != entry_kind::file) return std::nullopt;
  std::string text;
  std::array<char, 4096> block;
  for (;;) {
    const auto size = sys::read(file->get(), block);
    if (!size || text.size() > git_file_bytes_max) return std::nullopt;
    if (*size == 0) return text;
    text.append(block.data(), *size);
  }
}

void write_configuration(int directory, const char* name, std::string_view text, unsigned mode) {
  const auto fresh =
      sys::openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  while (fresh && !text.empty()) {
    const auto written = sys::write(fresh->get(), text);
    if (!written) break;
    text.remove_prefix(*written);
  }
}

std::string_view without_line_ends(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r'))
    text.remove_suffix(1);
  return text;
}

/// Its owner may have locked it; while this lives, it is open.
class unlocked_directory {
public:
  explicit unlocked_directory(int fd) : fd_(fd) {
    const auto status = sys::status_at(fd, "");
    if (!status || (status->mode & owner_may) == owner_may) return;
    const unsigned was = status->mode & 07777U;
    if (sys::chmod_opened(fd, was | owner_may)) was_ = was;
  }
  unlocked_directory(const unlocked_directory&) = delete;
  unlocked_directory& operator=(const unlocked_directory&) = delete;
  ~unlocked_directory() {
    if (was_) (void)sys::chmod_opened(fd_, *was_).has_value();
  }

private:
  int fd_;
  std::optional<unsigned> was_;
};

/// What git reads in a file or link called `.git` as the place of the repository.
std::optional<std::string> pointed_at(int directory, entry_kind kind) {
  const char* name = git_directory.data();
  if (kind == entry_kind::symlink) {
    auto link = sys::readlinkat(directory, name);
    return link ? std::optional(*std::move(link)) : std::nullopt;
  }
  const auto text = text_of_file(directory, name);
  if (!text || !text->starts_with(git_file_prefix)) return std::nullopt;
  return std::string(without_line_ends(*text).substr(git_file_prefix.size()));
}

/// What a file or link called `.git` leads to, also outside of the workspace; nothing where nothing
/// is there.
std::optional<file_status> led_to(int top, const std::string& path, entry_kind kind) {
  if (kind == entry_kind::directory) return std::nullopt;
  const auto above = resolve::open_strict(resolve::scope_beneath(top), std::string(parent(path)),
                                          O_PATH | O_DIRECTORY);
  const auto written = above ? pointed_at(above->get(), kind) : std::nullopt;
  const auto led = written ? sys::status_at(above->get(), written->c_str())
                           : result<file_status>(error{});
  return led ? std::optional(*led) : std::nullopt;
}

/// One look at all repositories of a workspace, after a command.
class repository_sweep {
public:
  repository_sweep(int top, const std::vector<protected_name>& names,
                   const directory_index::directories& directories, const workspace_then& then)
      : top_(top), top_name_(sys::name_of(top)), names_(names), directories_(directories),
        then_(then) {}

  made_repositories run() &&;
  /// For which the top is that of all directories.
  made_repositories run_outside() &&;

private:
  [[nodiscard]] std::optional<std::size_t> rule_of(std::string_view name) const;
  [[nodiscard]] bool is_new(const file_status& status,
                            const std::optional<file_status>& leads_to = {}) const;
  [[nodiscard]] bool is_repository(const std::string& path) const;
  [[nodiscard]] std::optional<std::string> target_of(std::string_view from,
                                                     std::string_view written) const;
  [[nodiscard]] result<file_descriptor> open(const std::string& path) const;
  void look_into(const std::string& path, const file_status& status);
  void look_at_configuration(int directory, const std::string& path, const char* name,
                             std::size_t rule);
  [[nodiscard]] std::optional<std::string> settings_behind(int directory, const char* name) const;
  void look_at_hooks(int directory, const std::string& path, std::size_t rule);
  void look_at_common_directory(int directory, const std::string& path, std::size_t rule);
  void look_at_steps(const std::string& path);
  void look_at_pointer(const std::string& path, const file_status& status);
  bool move_aside(int directory, const char* name, const std::string& path, std::size_t rule);

  int top_;
  std::string top_name_;
  const std::vector<protected_name>& names_;
  const directory_index::directories& directories_;
  const workspace_then& then_;
  made_repositories found_;
};

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

bool repository_sweep::move_aside(int directory, const char* name, const std::string& path,
                                  std::size_t rule) {
  made_entry entry{.path = join(path, name), .moved_to = {}, .rule = rule};
  const auto suffix = sys::random_hex(8);
  const std::string fresh = suffix ? name + std::string(moved_aside_mark) + *suffix : std::string();
  const auto moved = suffix ? sys::renameat2(directory, name, directory, fresh.c_str(), 0)
                            : result<void>(suffix.error());
  if (!moved && tells_absence(moved.error())) return false;
  if (moved)
    entry.moved_to = join(path, fresh);
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
    const auto led = target_of(path, worktree);
    return led && directories_.contains(*led) && !is_of_git(*led);
  };
  std::optional<std::string> kept;
  if (auto copied = settings_behind(directory, name)) {
    kept = harmless_part(*copied, is_allowed).value_or(*copied);
    if (!sys::unlinkat(directory, name, 0)) return;
    return write_configuration(directory, name, *kept, 0644);
  }
  if (text) {
    kept = harmless_part(*text, is_allowed);
    if (!kept && status->links == 1) return;
    if (!kept) kept = *text; // by its other name it could be changed
  }
  if (!move_aside(directory, name, path, rule) || !kept || kept->empty()) return;
  write_configuration(directory, name, *kept, status->mode & 0666U);
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

/// A person may be about to continue a rebase: so also in a person's repository, if the command
/// changed them.
void repository_sweep::look_at_steps(const std::string& path) {
  const auto rule = rule_of("hooks");
  if (!rule) return;
  for (const std::string_view step : git_steps) {
    const std::string at = join(path, step), place(parent(at)), name(file_name(at));
    const auto status = sys::status_at(top_, at.c_str());
    if (!status || status->changed_ns < then_.began_ns ||
        (then_.ended_ns != 0 && status->changed_ns > then_.ended_ns))
      continue;
    const auto repository = open(path), directory = open(place);
    if (!directory) { // git makes no link there
      const std::string link(file_name(place));
      if (repository) (void)move_aside(repository->get(), link.c_str(), path, *rule);
      continue;
    }
    const auto text = text_of_file(directory->get(), name.c_str());
    const auto kept = text ? harmless_steps(step, *text) : std::optional<std::string>("");
    if (!kept || !move_aside(directory->get(), name.c_str(), place, *rule)) continue;
    if (!kept->empty()) write_configuration(directory->get(), name.c_str(), *kept, 0644);
  }
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
    if (is_bare_repository(path, in)) look_at_steps(path);
    if (is_bare_repository(path, in) && is_new(in.status)) look_into(path, in.status);
    if (!lists_name(in, git_directory)) continue;
    const std::string inside = join(path, git_directory);
    const auto status = sys::status_at(top_, inside.c_str(), AT_SYMLINK_NOFOLLOW);
    if (status && status->kind == entry_kind::directory) look_at_steps(inside);
    if (!status || !is_new(*status, led_to(top_, inside, status->kind))) continue;
    if (status->kind == entry_kind::directory)
      look_into(inside, *status);
    else
      look_at_pointer(inside, *status);
  }
  return std::move(found_);
}

made_repositories repository_sweep::run_outside() && {
  for (const std::string& each : then_.outside) {
    const std::string path = each.substr(std::min(each.find_first_not_of('/'), each.size()));
    const auto directory = open(path);
    const auto has = [&](const char* name) {
      return sys::entry_status_at(directory->get(), name).has_value();
    };
    if (directory && is_git_repository(has)) look_at_steps(path);
  }
  for (made_entry& each : found_.moved)
    for (std::string* path : {&each.path, &each.moved_to})
      if (!path->empty()) path->insert(0, "/");
  return std::move(found_);
}

} // namespace

bool is_bare_repository(std::string_view path, const directory_index::directory& in) {
  return !is_git_directory(path) &&
         is_git_repository([&](const char* name) { return lists_name(in, name); });
}

void note_repositories(int top, const directory_index::directories& directories,
                       entries_before& into,
                       const std::function<bool(const std::string&)>& is_own) {
  for (const auto& [path, in] : directories) {
    if (in.unreadable || (is_bare_repository(path, in) && !is_own(path))) into.add(in.status);
    if (!lists_name(in, git_directory)) continue;
    const std::string inside = join(path, git_directory);
    const auto status = sys::status_at(top, inside.c_str(), AT_SYMLINK_NOFOLLOW);
    if (status && !is_own(inside)) into.add(*status, led_to(top, inside, status->kind));
  }
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

bool open_closed_directories(int top, const directory_index::directories& directories,
                             const entries_before& then) {
  bool any = false;
  for (const auto& [path, known] : directories) {
    if (!known.unreadable) continue;
    const auto fd = resolve::open_strict(resolve::scope_beneath(top), path, O_PATH | O_DIRECTORY);
    const auto status = fd ? sys::status_at(fd->get(), "") : result<file_status>(fd.error());
    if (!status || then.contains(*status) || (status->mode & owner_may) == owner_may) continue;
    any = sys::chmod_opened(fd->get(), (status->mode & 07777U) | owner_may).has_value() || any;
  }
  return any;
}

} // namespace paddock
