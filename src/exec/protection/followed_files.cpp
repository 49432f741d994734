// SPDX-License-Identifier: MIT

// What git follows in any repository, whoever made that.

#include "exec/protection/git_files.hpp"
#include "exec/protection/repository_sweep.hpp"
#include "path/git_configuration.hpp"
#include "path/git_followed.hpp"
#include "path/git_index.hpp"
#include "path/resolve.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

#include <algorithm>
#include <iterator>

namespace paddock {
namespace {

/// Whether it may lead elsewhere although it is as it was.
bool depends_on_others(std::string_view followed) {
  return followed == git_conflicts || followed.ends_with("alternates") ||
         file_name(followed) == git_worktree_file;
}

} // namespace

/// What a person's git does next may be up to files that a command wrote in any repository: a step
/// of a rebase, a path of the index.
void repository_sweep::look_at_followed(const std::string& path) {
  const auto rule = rule_of("hooks");
  const auto repository = open(path);
  if (!rule || !repository) return;
  const auto listed = sys::openat(repository->get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (!listed) return;
  std::vector<followed_entry> all = files_followed(listed->get());
  const auto whole = sys::status_at(listed->get(), "");
  const bool is_known = whole && !is_new(*whole);
  const std::int64_t since_ns = is_known ? then_.began_ns - clock_step_ns(*whole) : 0;
  std::ranges::move(references_since(listed->get(), since_ns), std::back_inserter(all));
  for (const followed_entry& each : all) {
    const bool is_fresh = is_new(each.status);
    if (each.status.kind != entry_kind::file || !(is_fresh || depends_on_others(each.path)))
      continue;
    const std::string at = join(path, each.path), place(parent(at)), name(file_name(at));
    const auto directory = open(place); // a link on the way is looked at by itself
    if (!directory) continue;
    const auto text = text_of_file(directory->get(), name.c_str(),
                                   is_of_index(name) ? git_index_bytes_max : git_file_bytes_max);
    const bool is_long_list = !text && is_git_reference(each.path) && // such as FETCH_HEAD
                              !may_begin_with(directory->get(), name.c_str(), git_reference_begin);
    if (is_long_list) continue;
    const auto kept = text ? what_stays(repository->get(), path, each.path, *text, is_fresh)
                           : std::optional<std::string>("");
    if (!kept) continue;
    const unlocked_directory unlocked(directory->get());
    if (!move_to({directory->get(), place}, {repository->get(), path}, name.c_str(), *rule))
      continue;
    if (!kept->empty()) write_git_file(directory->get(), name.c_str(), *kept, 0644);
    if (is_of_index(name) && name != git_index_name)
      (void)move_aside(directory->get(), git_index_name, place, *rule);
  }
}

/// Without a link on the way, which git follows when it reads a file after a conflict.
bool repository_sweep::is_path_of_worktree(const std::string& path,
                                           std::string_view written) const {
  std::optional<std::string> tree;
  if (is_git_directory(path)) {
    tree = parent(path);
  } else if (const auto git = open(path)) { // where its `.git` is
    const auto text = text_of_file(git->get(), git_worktree_file);
    const auto led = text ? strip_root_prefix(without_line_ends(*text), top_name_) : std::nullopt;
    if (led) tree = parent(*led);
  }
  return tree && !then_.is_hidden(written) && leads_nowhere_else(join(*tree, written));
}

/// Whether no link is on the way, by which it would lead elsewhere.
bool repository_sweep::leads_nowhere_else(const std::string& path) const {
  const auto there = resolve::open_strict(resolve::scope_beneath(top_), path, O_PATH);
  return there || tells_absence(there.error());
}

/// Whether the `.git` of a worktree outside, where no command writes, leads back to its entry here:
/// then a person has added it.
bool repository_sweep::leads_back(std::string_view kept, std::string_view written) const {
  const auto is_in = [&](const std::string& each) {
    return strip_root_prefix(written, each).has_value();
  };
  if (!is_absolute(written) || file_name(written) != git_directory || is_in(top_name_) ||
      std::ranges::any_of(then_.outside, is_in))
    return false;
  const auto all = sys::openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  const auto tree =
      all ? resolve::open_strict(resolve::scope_beneath(all->get()),
                                 without_root(std::string(parent(written))), O_PATH | O_DIRECTORY)
          : result<file_descriptor>(all.error());
  const auto text = tree ? text_of_file(tree->get(), git_directory.data()) : std::nullopt;
  return text && text->starts_with(git_file_prefix) &&
         without_line_ends(std::string_view(*text).substr(git_file_prefix.size())) ==
             join(top_name_, kept);
}

/// Without a link on the way and a step up behind a name, which a link could take the place of.
bool repository_sweep::is_place_of_worktree(int repository, std::string_view from,
                                            std::string_view written, bool is_fresh) const {
  auto place = std::string(strip_root_prefix(written, top_name_).value_or(""));
  if (!is_absolute(written)) {
    // Git before 2.48 takes it from where a person is.
    if (extension_of(repository, "relativeworktrees") != "true") return !is_fresh;
    for (; written.starts_with("../"); from = parent(from))
      written.remove_prefix(3);
    place = join(from, written);
  }
  if (place.empty()) return !is_fresh || leads_back(from, written);
  const std::string_view tree = parent(place);
  const bool is_plain = tree.empty() || is_path_inside(tree);
  return is_plain && file_name(place) == git_directory && leads_nowhere_else(place);
}

std::optional<std::string> repository_sweep::what_stays(int repository, const std::string& path,
                                                        std::string_view file,
                                                        std::string_view bytes,
                                                        bool is_fresh) const {
  const auto leads_inside = [&](std::string_view written) {
    if (is_outside_) return !is_fresh;
    if (file == git_conflicts) return is_path_of_worktree(path, written);
    if (file_name(file) == git_worktree_file)
      return is_place_of_worktree(repository, join(path, parent(file)), written, is_fresh);
    const auto objects = strip_root_prefix(written, top_name_);
    if (!objects) return !is_fresh;
    const auto there = open(std::string(*objects));
    if (!is_fresh) return there || tells_absence(there.error());
    return there && file_name(*objects) == git_directories[0] &&
           is_repository(std::string(parent(*objects)));
  };
  const auto names_bytes = [&] {
    return extension_of(repository, "objectformat") == "sha256" ? git_sha256_bytes : git_sha1_bytes;
  };
  const std::size_t object_bytes = is_of_index(file) ? names_bytes() : 0;
  return harmless_rest({file, bytes, object_bytes, leads_inside});
}

/// Git puts the worktree of a submodule where a link leads that a command has put in its place:
/// then or by a command before.
void repository_sweep::look_at_worktree(const std::string& path) {
  const auto rule = rule_of("config");
  const auto repository = rule ? open(path) : result<file_descriptor>(error{});
  const auto text = repository ? text_of_file(repository->get(), "config") : std::nullopt;
  git_settings settings(text ? std::string_view(*text) : std::string_view());
  while (const auto each = settings.next()) {
    if (each->section != "core" || each->key != "worktree" || !each->value) continue;
    if (is_absolute(*each->value)) continue; // as git writes none
    const auto at = resolve::collapse(join(path, *each->value));
    const auto tree = at ? open(*at) : result<file_descriptor>(at.error());
    if (tree || (at && tells_absence(tree.error()))) continue;
    // No command need have changed it: it is told as what is followed.
    return look_at_configuration(repository->get(), path, "config",
                                 rule_of("hooks").value_or(*rule));
  }
}

/// Git makes none but a HEAD that leads to a branch: through others it would write, read and remove
/// elsewhere. Beside what it was, git would follow it by any name.
void repository_sweep::look_at_links(const std::string& path, const std::vector<std::string>& names,
                                     const std::string& repository) {
  const auto rule = rule_of("hooks");
  const auto directory = open(path), top = open(repository);
  if (!rule || !directory || !top) return;
  for (const std::string& name : names) {
    const auto status = sys::status_at(directory->get(), name.c_str(), AT_SYMLINK_NOFOLLOW);
    if (!status || status->kind != entry_kind::symlink || !is_new(*status)) continue;
    const auto to = sys::readlinkat(directory->get(), name.c_str());
    const bool is_branch =
        name == git_marks[0] && to && to->starts_with("refs/heads/") && is_path_inside(*to);
    const unlocked_directory unlocked(directory->get()), unlocked_top(top->get());
    if (!is_branch)
      (void)move_to({directory->get(), path}, {top->get(), repository}, name.c_str(), *rule);
  }
}

} // namespace paddock
