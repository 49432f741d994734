// SPDX-License-Identifier: MIT
#include "change/private_staging.hpp"

#include "file/directory_stream.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>
#include <linux/fs.h>

#include <cerrno>
#include <string_view>
#include <utility>

namespace paddock {
namespace {

constexpr unsigned owner_alone = 0700;

} // namespace

result<private_staging> private_staging::find(const root& workspace, int own,
                                              const std::string& name) {
  private_staging found;
  found.name_ = name;
  found.top_ = workspace.descriptor();
  for (const int home : {own, workspace.descriptor()}) {
    auto fd = sys::openat(home, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!fd && fd.error().code == error_code::not_found) continue;
    PADDOCK_TRY(found.fd_, std::move(fd));
    PADDOCK_TRY(const auto status, sys::fstat(found.fd_.get()));
    if (status.uid != sys::effective_uid()) return error{error_code::conflict, 0, "staging"};
    found.home_ = home;
    found.is_out_of_reach_ = home == own;
    return found;
  }
  return error{error_code::not_found, ENOENT, "staging"};
}

result<private_staging> private_staging::take(const root& workspace, int own,
                                              const std::string& name) {
  auto before = find(workspace, own, name);
  if (before || before.error().code != error_code::not_found) return before;
  const int top = workspace.descriptor();
  // Made in the workspace and moved out of it: if that goes, so does the way back.
  PADDOCK_CHECK(sys::mkdirat(top, name.c_str(), owner_alone));
  if (sys::renameat2(top, name.c_str(), own, name.c_str(), RENAME_NOREPLACE)) {
    // Whoever has opened it there has it open still: another one is made in its place.
    if (!sys::unlinkat(own, name.c_str(), AT_REMOVEDIR)) {
      // What somebody has put in its place goes back to where it was.
      (void)sys::renameat2(own, name.c_str(), top, name.c_str(), RENAME_NOREPLACE);
      return error{error_code::conflict, 0, "staging"};
    }
    PADDOCK_CHECK(sys::mkdirat(own, name.c_str(), owner_alone));
    return find(workspace, own, name);
  }
  PADDOCK_TRY(auto made, find(workspace, own, name));
  PADDOCK_TRY(const auto inside, made.names());
  if (!inside.empty()) return error{error_code::conflict, 0, "staging"};
  return made;
}

result<std::vector<std::string>> private_staging::names() const {
  std::vector<std::string> all;
  PADDOCK_TRY(const auto list, sys::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY));
  PADDOCK_CHECK(for_each_entry(list.get(), [&](std::string_view name, unsigned char) {
    all.emplace_back(name);
    return true;
  }));
  return all;
}

result<void> private_staging::remove() const {
  return sys::unlinkat(home_, name_.c_str(), AT_REMOVEDIR);
}

result<void> private_staging::show(const component& as) {
  PADDOCK_CHECK(sys::renameat2(home_, name_.c_str(), top_, as.c_str(), RENAME_NOREPLACE));
  name_ = as.view();
  home_ = top_;
  is_out_of_reach_ = false;
  return {};
}

} // namespace paddock
