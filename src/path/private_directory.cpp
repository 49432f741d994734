// SPDX-License-Identifier: MIT
#include "path/private_directory.hpp"

#include "sys/syscall.hpp"

#include <fcntl.h>

#include <string>
#include <utility>
#include <vector>

namespace paddock {
namespace {

constexpr int links_on_the_way_max = 40;

detailed_error refused_way(error_code code, std::string detail) {
  return {{code, 0, "private directory"}, std::move(detail)};
}

/// Walks to the directory one component at a time, so that each one is judged.
class way {
public:
  way(const file_status& workspace, std::string_view what, missing_directories missing)
      : workspace_(workspace), what_(what), missing_(missing) {}

  result<private_directory, detailed_error> walk(std::string_view directory) {
    if (!directory.starts_with('/'))
      return refused_way(error_code::invalid_argument, what_ + " must be an absolute path");
    push(directory);
    PADDOCK_CHECK(go_to_top());
    while (!left_.empty()) {
      const std::string name = std::move(left_.back());
      left_.pop_back();
      PADDOCK_CHECK(step(name));
    }
    PADDOCK_TRY(const auto status, sys::status_at(here_.get(), ""));
    if (status.uid != sys::effective_uid())
      return refused_way(error_code::denied_by_policy,
                         what_ + ", " + path_ + ", belongs to somebody else");
    if ((status.mode & 022U) != 0)
      return refused_way(error_code::denied_by_policy,
                         what_ + ", " + path_ + ", may be written by others: chmod go-w");
    return private_directory{.fd = std::move(here_), .path = path_};
  }

  /// Errors: denied_by_policy, where the agent may write in it.
  result<void, detailed_error> check(int fd) const {
    PADDOCK_TRY(const auto status, sys::status_at(fd, ""));
    if (status.same_object(workspace_))
      return refused_way(error_code::denied_by_policy,
                         what_ + " lies in the workspace, where the agent can "
                                 "write: choose one outside (--history DIRECTORY)");
    const bool is_own = status.uid == sys::effective_uid() || status.uid == 0;
    constexpr unsigned others_write = 0002, sticky = 01000;
    const bool is_open = (status.mode & others_write) != 0 && (status.mode & sticky) == 0;
    if (!is_own || is_open)
      return refused_way(error_code::denied_by_policy,
                         what_ + " lies in " + (path_.empty() ? "/" : path_) + ", which " +
                             (is_own ? "everybody may write" : "belongs to somebody else"));
    return {};
  }

private:
  void push(std::string_view path) {
    std::vector<std::string> names;
    while (!path.empty()) {
      const std::size_t slash = path.find('/');
      const std::string_view name = path.substr(0, slash);
      if (!name.empty() && name != ".") names.emplace_back(name);
      path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    }
    left_.insert(left_.end(), names.rbegin(), names.rend());
  }

  result<void, detailed_error> go_to_top() {
    PADDOCK_TRY(here_, sys::openat(AT_FDCWD, "/", O_PATH | O_DIRECTORY));
    path_.clear();
    return check(here_.get());
  }

  result<void, detailed_error> step(const std::string& name) {
    auto status = sys::status_at(here_.get(), name.c_str(), AT_SYMLINK_NOFOLLOW);
    if (!status && status.error().code == error_code::not_found &&
        missing_ == missing_directories::make) {
      const auto made = sys::mkdirat(here_.get(), name.c_str(), 0700);
      if (!made && made.error().code != error_code::already_exists)
        return detailed_error(made.error(),
                              what_ + " cannot be made in " + (path_.empty() ? "/" : path_));
      if (made) sync_names(here_.get());
      status = sys::status_at(here_.get(), name.c_str(), AT_SYMLINK_NOFOLLOW);
    }
    if (!status) return detailed_error(status.error(), what_ + " is not to be reached in " + path_);
    if (status->kind == entry_kind::symlink) return follow(name, *status);
    auto next = sys::openat(here_.get(), name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW);
    if (!next) return detailed_error(next.error(), path_ + '/' + name + " is no directory");
    here_ = *std::move(next);
    if (name == "..") {
      path_.resize(path_.rfind('/') == std::string::npos ? 0 : path_.rfind('/'));
    } else {
      path_ += '/' + name;
    }
    return check(here_.get());
  }

  result<void, detailed_error> follow(const std::string& name, const file_status& link) {
    if (link.uid != 0 && link.uid != sys::effective_uid())
      return refused_way(error_code::denied_by_policy,
                         path_ + '/' + name + " is a link that belongs to somebody else");
    if (++links_ > links_on_the_way_max)
      return refused_way(error_code::symlink_loop, path_ + '/' + name + " leads nowhere");
    PADDOCK_TRY(const std::string target, sys::readlinkat(here_.get(), name.c_str()));
    if (target.starts_with('/')) {
      PADDOCK_CHECK(go_to_top());
    }
    push(target);
    return {};
  }

  const file_status& workspace_;
  std::string what_;
  missing_directories missing_;
  file_descriptor here_;
  std::string path_;
  std::vector<std::string> left_; ///< components, the next one last
  int links_ = 0;
};

} // namespace

void sync_names(int directory) {
  if (const auto list = sys::openat(directory, ".", O_RDONLY | O_DIRECTORY))
    (void)sys::fsync(list->get());
}

result<private_directory, detailed_error> open_private_directory(const file_status& workspace,
                                                                 std::string_view directory,
                                                                 std::string_view what,
                                                                 missing_directories missing) {
  return way(workspace, what, missing).walk(directory);
}

} // namespace paddock
