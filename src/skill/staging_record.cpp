// SPDX-License-Identifier: MIT
#include "skill/staging_record.hpp"

#include "file/directory_stream.hpp"
#include "file/replace.hpp"
#include "path/private_directory.hpp"
#include "sys/syscall.hpp"

#include <fcntl.h>

#include <array>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {
namespace {

constexpr std::size_t record_bytes_max = 256; ///< three lines

/// What tells an object from others: the directory of the hidden name first, then what may stand
/// there.
std::string line_of_object(const file_status& object) {
  return std::to_string(object.device) + ' ' + std::to_string(object.inode) + ' ' +
         std::to_string(object.has_birth_time ? object.created_ns : 0) + '\n';
}

file_descriptor open_staging_state(const root& base, const std::string& directory,
                                   missing_directories missing) {
  if (directory.empty()) return {};
  auto state =
      open_private_directory(base.status(), directory, "the directory of the history", missing);
  return state ? std::move(state->fd) : file_descriptor();
}

/// False: it is locked already, or removed.
bool lock(int file) {
  if (!sys::try_flock(file)) return false;
  const auto status = sys::fstat(file);
  return status && status->links == 1;
}

void remove_record(int state, int user, const component& hidden) {
  const auto there = sys::entry_status_at(user, hidden.c_str());
  if (!there && there.error().code == error_code::not_found)
    (void)sys::unlinkat(state, hidden.c_str(), 0).has_value();
}

void take_up(int state, int user, const component& hidden,
             const std::function<void(own_entry)>& remove) {
  const auto file = sys::openat(state, hidden.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  if (!file || !lock(file->get())) return; // its change lives
  std::array<char, record_bytes_max> buffer{};
  const auto read = sys::read(file->get(), buffer);
  const auto home = sys::status_at(user, "");
  if (!read || !home) return;
  const std::string_view text(buffer.data(), *read);
  const std::string first = line_of_object(*home);
  if (!text.empty() && !text.starts_with(first)) return; // of other skills
  auto object = sys::openat(user, hidden.c_str(), O_PATH | O_NOFOLLOW);
  const auto status = object ? sys::status_at(object->get(), "") : object.error();
  const bool is_known = status && text.find('\n' + line_of_object(*status)) != text.npos;
  if (is_known) {
    remove({.name = hidden, .made = *std::move(object)});
    return remove_record(state, user, hidden);
  }
  if (text == first) // killed before it could say which one: nothing is in it yet
    (void)sys::unlinkat(user, hidden.c_str(), AT_REMOVEDIR).has_value();
  (void)sys::unlinkat(state, hidden.c_str(), 0).has_value();
}

} // namespace

staging_record::staging_record(const root& base, const std::string& state_directory, int user,
                               const component& hidden)
    : state_(open_staging_state(base, state_directory, missing_directories::make)), user_(user),
      hidden_(hidden) {
  const auto home = sys::status_at(user, "");
  if (!state_ || !home) return;
  constexpr int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW;
  auto file = sys::openat(state_.get(), hidden.c_str(), flags, 0600);
  if (!file || !lock(file->get())) return; // one that is not locked yet counts as left
  file_ = *std::move(file);
  add(*home);
}

void staging_record::add(const file_status& object) const {
  if (file_) (void)write_all(file_.get(), line_of_object(object)).has_value();
}

staging_record::~staging_record() {
  if (file_) remove_record(state_.get(), user_, hidden_);
}

void remove_abandoned(const root& base, const std::string& state_directory, int user,
                      const std::function<void(own_entry)>& remove) {
  const auto state = open_staging_state(base, state_directory, missing_directories::leave);
  if (!state) return;
  const auto list = sys::openat(state.get(), ".", O_RDONLY | O_DIRECTORY);
  std::vector<component> names;
  const auto add = [&](std::string_view name, unsigned char) {
    if (auto hidden = component::from(name); name.starts_with(staging_prefix) && hidden)
      names.push_back(*hidden);
    return true;
  };
  if (!list || !for_each_entry(list->get(), add)) return;
  for (const component& hidden : names)
    take_up(state.get(), user, hidden, remove);
}

} // namespace paddock
