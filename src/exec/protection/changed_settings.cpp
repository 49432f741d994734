// SPDX-License-Identifier: MIT
#include "exec/protection/changed_settings.hpp"

#include "exec/protection/git_files.hpp"
#include "exec/protocol/exec_protocol.hpp"
#include "path/git_configuration.hpp"
#include "path/resolve.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

#include <optional>
#include <utility>

namespace paddock {
namespace {

/// From its beginning; nothing where it is no file, or too long for what it is.
std::optional<std::string> text_of_settings(int file) {
  auto text = sys::read_small_file(file, sys::settings_bytes_max);
  return text ? std::optional(*std::move(text)) : std::nullopt;
}

std::optional<std::string> text_of_settings(int directory, const std::string& name) {
  const auto file =
      sys::openat(directory, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  return file ? text_of_settings(file->get()) : std::nullopt;
}

/// The directory that has the file, come by without a link.
result<file_descriptor> place_of_settings(int workspace, const std::string& path) {
  return resolve::open_strict(resolve::scope_beneath(workspace), std::string(parent(path)),
                              O_PATH | O_DIRECTORY);
}

/// As git does it: who holds the lock is the one who may replace the file. Errors: conflict (it is
/// not as it was).
result<void> replace_settings(int directory, const std::string& name, const std::string& before,
                              std::string_view text) {
  const std::string lock = name + ".lock";
  PADDOCK_TRY(const auto status, sys::status_at(directory, name.c_str(), AT_SYMLINK_NOFOLLOW));
  PADDOCK_TRY(const auto file, sys::openat(directory, lock.c_str(),
                                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                                           status.mode & 0666U));
  auto done = text_of_settings(directory, name) == before
                  ? result<void>()
                  : error{error_code::conflict, 0, "settings"};
  while (done && !text.empty()) {
    const auto written = sys::write(file.get(), text);
    if (!written)
      done = written.error();
    else
      text.remove_prefix(*written);
  }
  if (done) done = sys::renameat2(directory, lock.c_str(), directory, name.c_str(), 0);
  if (!done) (void)sys::unlinkat(directory, lock.c_str(), 0).has_value();
  return done;
}

std::string listed(const std::vector<std::string>& names) {
  std::string all;
  for (const std::string& each : names)
    all += (all.empty() ? "" : ", ") + each;
  return all;
}

} // namespace

changed_settings::changed_settings(int workspace, const std::vector<protected_entry>& entries)
    : workspace_(workspace), entries_(entries) {
  for (std::size_t i = 0; i < entries.size(); ++i)
    if (entries[i].how == sys::exec_entry::settings)
      if (const auto place = place_of_settings(workspace, entries[i].path))
        if (auto text = text_of_settings(place->get(), std::string(file_name(entries[i].path))))
          before_.emplace(static_cast<std::uint32_t>(i), *std::move(text));
}

void changed_settings::take(std::uint32_t entry, file_descriptor copy) {
  if (before_.contains(entry)) copies_.insert_or_assign(entry, std::move(copy));
}

is_local_remote changed_settings::local_remotes(const std::string& path) const {
  return [this, tree = std::string(parent(parent(path)))](std::string_view written) {
    return leads_to_repository(workspace_, tree, written);
  };
}

std::string changed_settings::carry_over(const std::string& path, const std::string& before,
                                         int copy) const {
  const auto after = text_of_settings(copy);
  const auto place = place_of_settings(workspace_, path);
  const std::string name(file_name(path));
  if (!after || !place)
    return path + " was not changed: what the command has made of it is too long";
  const auto [text, left_out] = carry_settings(before, *after, local_remotes(path));
  std::string told;
  const auto done = text ? replace_settings(place->get(), name, before, *text) : result<void>();
  if (!done && done.error().code == error_code::conflict)
    told = path + " was not changed: another program changed it while the command ran; run the "
                  "command again";
  else if (!done)
    told = path + " was not changed: " + std::string(paddock::text(done.error().code));
  if (!told.empty() || left_out.empty()) return told;
  return path + " is protected, so that this was not saved: " + listed(left_out) +
         "; a command may set remotes, branches and user, unless they run a program or name "
         "a path without a repository in the workspace; pass other settings with git -c, "
         "or ask a person to set them";
}

std::vector<std::string> changed_settings::carry_over() const {
  std::vector<std::string> told;
  for (const auto& [entry, before] : before_) {
    const std::string& path = entries_[entry].path;
    const auto place = place_of_settings(workspace_, path);
    if (!place) continue;
    const auto now = text_of_settings(place->get(), std::string(file_name(path)));
    const auto changed = carry_settings(before, now.value_or("["), local_remotes(path)).left_out;
    if (!changed.empty())
      told.push_back(path +
                     " was changed by another program while the command ran, and the "
                     "command may have changed it, too: look at " +
                     listed(changed) + " before git is used");
  }
  for (const auto& [entry, copy] : copies_)
    if (std::string each = carry_over(entries_[entry].path, before_.at(entry), copy.get());
        !each.empty())
      told.push_back(std::move(each));
  return told;
}

} // namespace paddock
