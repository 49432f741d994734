// SPDX-License-Identifier: MIT
#include "history/work_marks.hpp"

#include "file/directory_stream.hpp"
#include "file/leftover.hpp"
#include "file/replace.hpp"
#include "history/file_index.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/detail/utf8.hpp>

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <set>
#include <system_error>
#include <utility>

namespace paddock::history {
namespace {

constexpr std::size_t told_bytes_max = 4096; ///< of the command line
constexpr std::size_t idle_max = 8;
constexpr std::uint64_t mark_bytes_max = std::uint64_t{4} << 20U;

std::string_view first_of(std::string_view text) {
  if (text.size() <= told_bytes_max) return text;
  return detail::truncate_to_valid_prefix(text.substr(0, told_bytes_max));
}

/// Replaces paths by their parent directories; none means the whole workspace.
void widen(std::vector<transition>& paths) {
  std::set<std::string> above;
  bool is_everywhere = false;
  for (const transition& each : paths) {
    is_everywhere = is_everywhere || parent_of(each.path).empty();
    above.emplace(parent_of(each.path));
  }
  paths.clear();
  if (is_everywhere) return;
  for (const std::string& path : above)
    paths.push_back({.path = path});
}

std::string render_mark(const journal_record& work) {
  journal_record told{.kind = record_kind::operation,
                      .time_ms = work.time_ms,
                      .by = work.by,
                      .tool = std::string(first_of(work.tool)),
                      .command = std::string(first_of(work.command)),
                      .server = work.server};
  bool is_told = true;
  for (const transition& each : work.transitions) {
    is_told = is_told && is_path(each.path); // the root is everything
    told.transitions.push_back({.path = each.path});
  }
  if (!is_told) told.transitions.clear();
  std::string bytes = render(told);
  while (bytes.size() > mark_bytes_max && !told.transitions.empty()) {
    widen(told.transitions);
    bytes = render(told);
  }
  return bytes;
}

} // namespace

work_marks::~work_marks() {
  for (const mark& each : idle_)
    (void)sys::unlinkat(directory_, each.name.c_str(), 0);
  if (!serving_.name.empty()) (void)sys::unlinkat(directory_, serving_.name.c_str(), 0);
}

result<void> work_marks::serve_from(std::uint64_t start) {
  mark made{.name = std::string(start_prefix) + std::to_string(start)};
  constexpr std::uint64_t flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
  PADDOCK_TRY(made.lock, sys::openat(directory_, made.name.c_str(), flags, 0600));
  PADDOCK_CHECK(sys::try_flock(made.lock.get()));
  serving_ = std::move(made);
  return {};
}

std::vector<std::uint64_t> work_marks::living_starts() const {
  std::vector<std::uint64_t> all;
  const auto list = sys::openat(directory_, ".", O_RDONLY | O_DIRECTORY);
  if (!list) return all;
  (void)for_each_entry(list->get(), [&](std::string_view name, unsigned char) {
    if (!name.starts_with(start_prefix)) return true;
    const std::string_view digits = name.substr(start_prefix.size());
    std::uint64_t number = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return true;
    const std::string own(name);
    const auto fd = sys::openat(directory_, own.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fd && sys::try_flock(fd->get()))
      (void)sys::unlinkat(directory_, own.c_str(), 0); // its server is gone
    else
      all.push_back(number);
    return true;
  });
  return all;
}

result<work_marks::mark> work_marks::put(const journal_record& work, std::uint64_t room) {
  const std::string bytes = render_mark(work);
  if (bytes.size() > room) return error{error_code::no_space, 0, budget_operation};
  mark made;
  result<void> done;
  if (!idle_.empty()) {
    made = std::move(idle_.back());
    idle_.pop_back();
  } else {
    PADDOCK_TRY(const component name, unused_name(mark_prefix));
    made.name = std::string(name.view());
    constexpr std::uint64_t flags = O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW;
    PADDOCK_TRY(made.lock, sys::openat(directory_, made.name.c_str(), flags, 0600));
    own_.push_back(made.name);
    done = sys::try_flock(made.lock.get());
  }
  if (done) done = write_all(made.lock.get(), bytes);
  if (done) return made;
  (void)sys::unlinkat(directory_, made.name.c_str(), 0);
  std::erase(own_, made.name);
  return done.error();
}

void work_marks::remove(mark&& ended) {
  if (ended.name.empty()) return;
  if (idle_.size() < idle_max && sys::ftruncate(ended.lock.get(), 0)) {
    idle_.push_back(std::move(ended));
    return;
  }
  (void)sys::unlinkat(directory_, ended.name.c_str(), 0);
  std::erase(own_, ended.name);
  ended = {};
}

void work_marks::leave(mark&& ended) {
  std::erase(own_, ended.name);
  ended = {};
}

result<work_marks::state> work_marks::look(std::span<const store_file> files) const {
  state seen;
  for (const store_file& each : files) {
    const std::string& name = each.name;
    if (!name.starts_with(mark_prefix) || std::ranges::find(own_, name) != own_.end()) continue;
    const auto fd = sys::openat(directory_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (!fd && fd.error().code == error_code::not_found) continue; // its process has just ended
    if (!fd) return fd.error();
    const auto locked = sys::try_flock(fd->get());
    if (!locked && locked.error().os_errno != EAGAIN) return locked.error();
    if (locked) seen.left.push_back(name);
    const auto bytes = read_store_file(directory_, name.c_str(), 2 * mark_bytes_max);
    const bool is_gone = !bytes && bytes.error().code == error_code::not_found;
    if (is_gone || (bytes && bytes->empty())) continue; // nothing is under way
    auto work = bytes ? parse_record(*bytes) : std::nullopt;
    if (!work) continue; // work begins when its mark is whole
    (locked ? seen.cut_short : seen.living).push_back(*std::move(work));
  }
  return seen;
}

void work_marks::remove_left(const state& seen) {
  for (const std::string& name : seen.left)
    (void)sys::unlinkat(directory_, name.c_str(), 0);
}

} // namespace paddock::history
