// SPDX-License-Identifier: MIT
#include "history/opened_up.hpp"

#include "file/attributes.hpp"
#include "history/path_tops.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <ranges>
#include <utility>

namespace paddock::history {
namespace {

constexpr unsigned enter_and_list = 0700, read_file = 0400;

} // namespace

bool opened_up::open_one(const std::string& path, const known_state& state) {
  const auto fd = open_plain(*of_.workspace, path, O_PATH);
  const auto status = fd ? sys::status_at(fd->get(), "") : result<file_status>(fd.error());
  if (!status || status->inode != state.inode || known_kind_of(status->kind) != state.kind)
    return false;
  const unsigned was = status->mode & 07777U;
  const unsigned now = was | (state.kind == known_kind::directory ? enter_and_list : read_file);
  if (now == was || !sys::chmod_opened(fd->get(), now)) return false;
  entries_[path] = {.inode = status->inode, .was = was, .now = now};
  of_.closed_modes[path] = static_cast<std::uint16_t>(was);
  return true;
}

std::vector<std::string> closed_by_agent(const path_changes& all, const restore_request& request) {
  std::vector<std::string> paths;
  const path_tops asked(request.paths);
  for (const auto& [path, each] : all) {
    const bool is_closed = each.after.exists() && each.after.held == holding::unreadable;
    const bool is_agents = each.by_agent && (!each.other_since || request.force);
    if (is_closed && is_agents && asked.mean(path)) paths.push_back(path);
  }
  return paths;
}

bool opened_up::open_some(const path_changes& all, const restore_request& request, cause& by) {
  std::vector<std::string> paths = closed_by_agent(all, request);
  std::erase_if(paths, [&](const std::string& path) { return entries_.contains(path); });
  if (paths.empty()) return false;
  by = all.at(paths.front()).last;
  // For this restore the one who closed it is its own agent, also if it had an earlier server.
  if (const std::uint64_t own = of_.own_server(); own != 0) by.server = own;
  // What is found open after a kill is put down to the one who closed it.
  if (auto mark = of_.put_mark(by, paths)) marks_.push_back(*std::move(mark));
  bool is_any = false;
  for (const std::string& path : paths)
    is_any = open_one(path, all.at(path).after) || is_any;
  return is_any;
}

result<void> opened_up::look(const cause& by, const restore_request& request) {
  path_tops tops;
  for (const auto& [path, each] : entries_)
    tops.add(path);
  PADDOCK_TRY(auto found, scan(*of_.workspace, of_.index, of_.scanning(request.bounds)));
  scan_outcome within{.closed = found.closed, .opened = found.opened};
  std::erase_if(found.met, [&](met_entry& each) {
    const bool is_within = tops.cover(each.path);
    if (is_within) within.met.push_back(std::move(each));
    return is_within;
  });
  std::erase_if(found.gone, [&](std::string& path) {
    const bool is_within = tops.cover(path);
    if (is_within) within.gone.push_back(std::move(path));
    return is_within;
  });
  std::erase_if(within.closed, [&](const std::string& path) { return !tops.cover(path); });
  std::erase_if(within.opened, [&](const std::string& path) { return !tops.cover(path); });
  PADDOCK_CHECK(of_.absorb(std::move(within), by, {}, store::impl::whose::as_said));
  return of_.absorb(std::move(found), of_.unannounced());
}

result<void> opened_up::open_all(std::uint64_t offset, const restore_request& request) {
  for (;;) {
    PADDOCK_TRY(const path_changes all,
                changes_since(of_, offset, {.who = request.by, .bounds = request.bounds}));
    cause by;
    if (!open_some(all, request, by)) return {};
    PADDOCK_CHECK(look(by, request));
  }
}

void opened_up::close(const std::vector<restore_step>& restored) {
  std::map<std::string_view, const known_state*> wanted;
  for (const restore_step& each : restored)
    wanted[each.path] = &each.wanted;
  for (const auto& [path, each] : std::views::reverse(entries_)) { // what is in them first
    of_.closed_modes.erase(path);
    const auto fd = open_plain(*of_.workspace, path, O_PATH);
    const auto status = fd ? sys::status_at(fd->get(), "") : result<file_status>(fd.error());
    // What has another mode by now has it from somebody else, or from the restore.
    if (!status || status->inode != each.inode || (status->mode & 07777U) != each.now) continue;
    const auto found = wanted.find(path);
    const bool is_restored = found != wanted.end() && found->second->exists();
    (void)sys::chmod_opened(fd->get(), is_restored ? found->second->mode & ~set_id_bits : each.was);
  }
  entries_.clear();
  for (work_marks::mark& each : marks_)
    of_.marks.remove(std::move(each));
  marks_.clear();
}

} // namespace paddock::history
