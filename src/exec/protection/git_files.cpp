// SPDX-License-Identifier: MIT
#include "exec/protection/git_files.hpp"

#include "path/git_names.hpp"
#include "path/resolve.hpp"
#include "sys/syscall.hpp"

#include <paddock/path/lexical_path.hpp>

#include <fcntl.h>

namespace paddock {

std::optional<std::string> text_of_file(int directory, const char* name, std::size_t bytes_max) {
  const auto file = sys::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (!file) return std::nullopt;
  auto text = sys::read_small_file(file->get(), bytes_max);
  return text ? std::optional(*std::move(text)) : std::nullopt;
}

void write_git_file(int directory, const char* name, std::string_view text, unsigned mode) {
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

std::optional<file_status> led_to(int top, const std::string& path, entry_kind kind) {
  if (kind == entry_kind::directory) return std::nullopt;
  const auto above = resolve::open_strict(resolve::scope_beneath(top), std::string(parent(path)),
                                          O_PATH | O_DIRECTORY);
  const auto written = above ? pointed_at(above->get(), kind) : std::nullopt;
  const auto led =
      written ? sys::status_at(above->get(), written->c_str()) : result<file_status>(error{});
  return led ? std::optional(*led) : std::nullopt;
}

unlocked_directory::unlocked_directory(int fd) : fd_(fd) {
  const auto status = sys::status_at(fd, "");
  if (!status || (status->mode & owner_may) == owner_may) return;
  const unsigned was = status->mode & 07777U;
  if (sys::chmod_opened(fd, was | owner_may)) was_ = was;
}

unlocked_directory::~unlocked_directory() {
  if (was_) (void)sys::chmod_opened(fd_, *was_).has_value();
}

} // namespace paddock
