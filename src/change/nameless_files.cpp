// SPDX-License-Identifier: MIT

// Content that gets no name where others reach it before it is whole.

#include "change/change_run.hpp"
#include "file/attributes.hpp"
#include "file/replace.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <cerrno>
#include <vector>

namespace paddock {

result<void> change_run::put_nameless(std::size_t number) {
  at_step(number);
  const change_step& step = plan_.steps[number];
  if (content_ == nullptr) return error{error_code::not_found, ENOENT, "change"};
  PADDOCK_TRY(const std::string_view bytes, content_->bytes(step.content));
  PADDOCK_TRY(const auto file, sys::openat(staging_.descriptor(), ".", O_WRONLY | O_TMPFILE, 0600));
  PADDOCK_CHECK(fill(file.get(), step, bytes));
  PADDOCK_CHECK(sys::fsync(file.get()));
  PADDOCK_TRY(const auto made, sys::fstat(file.get()));
  staged_[number] = stamp_of(made);
  given_[made.inode] = step.wanted.modified_ns;
  if (present_[number].exists()) PADDOCK_CHECK(take_away(number));
  PADDOCK_CHECK(in_parent_of(
      step, [&](int in, const char* there) { return sys::link_nameless(file.get(), in, there); }));
  note(deed::placed, number);
  steps_[number] = progress::made;
  return in_parent_of(step, [&](int in, const char* there) {
    return sys::set_modified(in, there, step.wanted.modified_ns);
  });
}

/// Copies a file that must not get a name where others reach it, to restore it on failure.
result<file_descriptor> change_run::nameless_copy(int in, const char* name,
                                                  const entry_stamp& seen) const {
  PADDOCK_TRY(const component checked, component::from(name));
  PADDOCK_TRY(const auto from, sys::openat(in, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  PADDOCK_TRY(const auto status, sys::fstat(from.get()));
  if (!seen.same_object(stamp_of(status))) return error{error_code::conflict, 0, "change"};
  PADDOCK_TRY(auto to, sys::openat(staging_.descriptor(), ".", O_WRONLY | O_TMPFILE, 0600));
  std::vector<char> buffer(std::size_t{64} * 1024);
  for (;;) {
    PADDOCK_TRY(const auto size, sys::read(from.get(), buffer));
    if (size == 0) break;
    PADDOCK_CHECK(write_all(to.get(), {buffer.data(), size}));
  }
  PADDOCK_TRY(auto there, sys::openat(in, ".", O_PATH | O_DIRECTORY));
  PADDOCK_CHECK(take_over_attributes(
      to.get(), {.parent = std::move(there), .name = checked, .path = name, .existing = status}));
  PADDOCK_CHECK(sys::fchmod(to.get(), status.mode & 07777U));
  return to;
}

} // namespace paddock
