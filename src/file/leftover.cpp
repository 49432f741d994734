// SPDX-License-Identifier: MIT
#include "file/leftover.hpp"

#include "sys/random_hex.hpp"
#include "sys/syscall.hpp"

#include <paddock/base/detail/ascii.hpp>

#include <fcntl.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace paddock {
namespace {

constexpr std::size_t random_bytes = 16;
constexpr std::size_t leftovers_remembered_max = 32; // each holds a descriptor

struct names {
  std::mutex mutex;
  std::vector<std::string> used; // as many as there are operations at work
};

names& names_of_process() {
  static names all;
  return all;
}

struct memory {
  std::mutex mutex;
  struct record {
    file_status directory;
    own_entry entry;
  };
  std::vector<record> records;
};

memory& memory_of_process() {
  static memory all;
  return all;
}

} // namespace

result<component> unused_name(std::string_view prefix) {
  PADDOCK_TRY(const std::string random, sys::random_hex(random_bytes));
  return component::from(std::string(prefix) + random);
}

bool is_temporary_name(std::string_view name) noexcept {
  if (!name.starts_with(temporary_prefix)) return false;
  name.remove_prefix(temporary_prefix.size());
  return name.size() == 2 * random_bytes && detail::is_lower_hex(name);
}

name_in_use::name_in_use(const component& name) : name_(name) {
  auto& all = names_of_process();
  const std::lock_guard lock(all.mutex);
  all.used.emplace_back(name.view());
}

name_in_use::~name_in_use() {
  auto& all = names_of_process();
  const std::lock_guard lock(all.mutex);
  const auto mine = std::find(all.used.begin(), all.used.end(), name_.view());
  std::swap(*mine, all.used.back());
  all.used.pop_back();
}

bool is_passing(int directory, std::string_view name) {
  if (!name.starts_with(temporary_prefix)) return false;
  {
    auto& all = names_of_process();
    const std::lock_guard lock(all.mutex);
    if (std::find(all.used.begin(), all.used.end(), name) != all.used.end()) return true;
  }
  const auto there = sys::entry_status_at(directory, name.data());
  return !there && there.error().code == error_code::not_found;
}

result<bool> is_there(int directory, const own_entry& entry) {
  PADDOCK_TRY(const auto made, sys::status_at(entry.made.get(), ""));
  const auto named = sys::status_at(directory, entry.name.c_str(), AT_SYMLINK_NOFOLLOW);
  if (!named && named.error().code != error_code::not_found) return named.error();
  return named && named->same_object(made);
}

void remember(int directory, own_entry entry) {
  const auto home = sys::status_at(directory, "");
  if (!home) return;
  auto& all = memory_of_process();
  const std::lock_guard lock(all.mutex);
  if (all.records.size() == leftovers_remembered_max) all.records.erase(all.records.begin());
  all.records.push_back({.directory = *home, .entry = std::move(entry)});
}

std::vector<own_entry> take_remembered(int directory) {
  std::vector<own_entry> found;
  auto& all = memory_of_process();
  const std::lock_guard lock(all.mutex);
  if (all.records.empty()) return found;
  const auto home = sys::status_at(directory, "");
  if (!home) return found;
  std::erase_if(all.records, [&](memory::record& one) {
    if (!one.directory.same_object(*home)) return false;
    const auto there = is_there(directory, one.entry);
    if (there && *there) found.push_back(std::move(one.entry));
    return there.has_value();
  });
  return found;
}

} // namespace paddock
