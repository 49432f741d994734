// SPDX-License-Identifier: MIT
#include "exec/protection/command_marks.hpp"

#include "file/directory_stream.hpp"
#include "file/replace.hpp"
#include "path/private_directory.hpp"
#include "sys/lock_wait.hpp"
#include "sys/random_hex.hpp"
#include "sys/shared_lock.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>
#include <linux/fs.h>

#include <cerrno>
#include <iomanip>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {
namespace {

constexpr std::string_view begun_suffix = ".new";
constexpr std::string_view outside_word = "outside", readable_word = "readable";
constexpr std::uint64_t mark_bytes_max = std::uint64_t{64} << 20U;
constexpr std::int64_t touch_ms = 1'000;
/// Of file times against the clock, and of a process that is kept waiting.
constexpr std::int64_t slack_ns = 5'000'000'000;

std::string text_of(int fd) {
  const auto status = sys::fstat(fd);
  if (!status || status->size > mark_bytes_max) return {};
  std::string text(status->size, '\0');
  const auto used = read_all(fd, text, 0);
  text.resize(used ? *used : 0);
  return text;
}

std::string rendered_mark(const workspace_then& then) {
  std::ostringstream paths;
  const auto put = [&](std::string_view word, const std::vector<std::string>& all) {
    for (const std::string& each : all)
      paths << word << ' ' << std::quoted(each) << '\n';
  };
  put(outside_word, then.outside);
  put(readable_word, then.readable);
  return (then.complete ? "whole " : "partial ") + std::to_string(then.began_ns) + '\n' +
         paths.str() + then.entries.render() + "end\n";
}

/// Nothing where it is not whole.
std::optional<workspace_then> mark_in(const std::string& text) {
  std::istringstream in(text);
  workspace_then then;
  std::string word;
  in >> word >> then.began_ns;
  then.complete = word == "whole";
  while (in >> word && word != "end") {
    if (word == outside_word)
      in >> std::quoted(then.outside.emplace_back());
    else if (word == readable_word)
      in >> std::quoted(then.readable.emplace_back());
    else if (!then.entries.parse(word, in))
      return std::nullopt;
  }
  if (word != "end") return std::nullopt;
  while (in >> word)
    if (!then.entries.parse(word, in)) break;
  return then;
}

} // namespace

std::unique_ptr<command_marks> command_marks::open(int workspace,
                                                   const std::string& state_directory) {
  const auto status = sys::status_at(workspace, "");
  if (state_directory.empty() || !status) return nullptr;
  auto place = open_private_directory(*status, state_directory, "the directory of the history");
  if (!place) return nullptr;
  std::ostringstream prefix;
  prefix << command_mark_prefix << std::hex << status->device << '-' << status->inode << '-';
  return std::unique_ptr<command_marks>(
      new command_marks(std::move(place->fd), prefix.str(), status->inode));
}

command_marks::~command_marks() {
  if (own_) (void)sys::unlinkat(directory_.get(), name_.c_str(), 0).has_value();
}

bool has_left_marks(int workspace, const std::string& state_directory) {
  const auto marks = command_marks::open(workspace, state_directory);
  return marks && !marks->names().empty();
}

std::vector<std::string> command_marks::names() const {
  std::vector<std::string> all;
  const auto list = sys::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY);
  if (list)
    (void)for_each_entry(list->get(), [&](std::string_view name, unsigned char) {
      if (name.starts_with(prefix_) && name != name_) all.emplace_back(name);
      return true;
    }).has_value();
  return all;
}

void command_marks::take_left(const std::function<void(const workspace_then&)>& sweep) const {
  for (const std::string& name : names()) {
    const auto fd = sys::openat(directory_.get(), name.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK);
    if (!fd || !sys::try_flock(fd->get())) continue;
    const auto status = sys::fstat(fd->get());
    if (!status || status->links == 0) continue; // it has ended in this very moment
    auto then = name.ends_with(begun_suffix) ? std::nullopt : mark_in(text_of(fd->get()));
    if (then) {
      then->ended_ns = status->modified_ns + slack_ns;
      sweep(*then);
    }
    (void)sys::unlinkat(directory_.get(), name.c_str(), 0).has_value();
  }
}

void command_marks::put(const workspace_then& then) {
  const auto digits = sys::random_hex(8);
  if (!digits) return;
  const std::string name = prefix_ + *digits, begun = name + std::string(begun_suffix);
  // Locked before it has its name, so that nobody takes it for one that was left.
  auto fd = sys::openat(directory_.get(), begun.c_str(),
                        O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND, 0600);
  if (!fd) return;
  const bool is_there = sys::try_flock(fd->get()) && write_all(fd->get(), rendered_mark(then)) &&
                        sys::renameat2(directory_.get(), begun.c_str(), directory_.get(),
                                       name.c_str(), RENAME_NOREPLACE);
  if (!is_there) {
    (void)sys::unlinkat(directory_.get(), begun.c_str(), 0).has_value();
    return;
  }
  own_ = *std::move(fd);
  name_ = name;
}

void command_marks::touch() {
  const std::int64_t now_ms = sys::monotonic_ms();
  if (!own_ || now_ms - touched_ms_ < touch_ms) return;
  touched_ms_ = now_ms;
  (void)sys::set_modified(directory_.get(), name_.c_str(), sys::file_clock_ns()).has_value();
}

file_descriptor command_marks::turn(std::uint64_t wait_ms) const {
  constexpr std::uint64_t flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  auto fd = sys::openat(directory_.get(), command_turns_name, flags, 0600);
  if (!fd) return {};
  // Commands in other workspaces have other bytes. A file system may have no such locks.
  const auto had = sys::wait_for_lock(wait_ms, "turn", {}, [&] {
    return sys::try_lock_byte(fd->get(), workspace_ >> 1U); // off_t is signed
  });
  return had || had.error().os_errno != EAGAIN ? *std::move(fd) : file_descriptor();
}

void command_marks::take_news(workspace_then& then) const {
  if (!own_) return;
  if (auto told = mark_in(text_of(own_.get()))) then.entries.keep_those_of(told->entries);
}

void command_marks::tell_others(std::span<const file_status> changed) const {
  if (changed.empty()) return;
  std::string text;
  for (const file_status& each : changed)
    text += entries_before::render_removal(each);
  for (const std::string& name : names()) {
    const auto fd =
        sys::openat(directory_.get(), name.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
    if (fd) (void)write_all(fd->get(), text).has_value();
  }
}

} // namespace paddock
