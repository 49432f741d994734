// SPDX-License-Identifier: MIT
#include "path/directory_moves.hpp"

#include <chrono>
#include <map>
#include <set>
#include <utility>

namespace paddock {
namespace {

// None of these ends: threads may outlive static objects.
std::mutex& guard() {
  static auto& one = *new std::mutex;
  return one;
}

using identity = std::pair<std::uint64_t, std::uint64_t>;
using kept_paths = std::multiset<std::string, std::less<>>;

std::map<identity, kept_paths>& all() {
  static auto& one = *new std::map<identity, kept_paths>;
  return one;
}

identity identity_of(const file_status& top) {
  return {top.device, top.inode};
}

} // namespace

std::shared_timed_mutex& directory_moves() {
  static auto& one = *new std::shared_timed_mutex;
  return one;
}

kept_directories::kept_directories(const file_status& top, std::vector<std::string> paths)
    : top_(top), paths_(std::move(paths)) {
  if (paths_.empty()) return;
  const std::scoped_lock lock(guard());
  all()[identity_of(top_)].insert(paths_.begin(), paths_.end());
}

kept_directories::kept_directories(kept_directories&& other) noexcept
    : top_(other.top_), paths_(std::exchange(other.paths_, {})) {}

kept_directories::~kept_directories() {
  if (paths_.empty()) return;
  const std::scoped_lock lock(guard());
  const auto of_top = all().find(identity_of(top_));
  for (const std::string& path : paths_)
    of_top->second.erase(of_top->second.find(path));
  if (of_top->second.empty()) all().erase(of_top);
}

bool kept_directories::contain(const file_status& top, std::string_view path) {
  const std::scoped_lock lock(guard());
  const auto of_top = all().find(identity_of(top));
  return of_top != all().end() && of_top->second.contains(path);
}

result<directory_move> directory_move::begin(const char* operation) {
  directory_move made(operation);
  made.alone_ = std::unique_lock(directory_moves(), std::defer_lock);
  if (!made.alone_.try_lock_for(std::chrono::milliseconds(directory_move_wait_ms)))
    return error{error_code::timed_out, 0, operation};
  return made;
}

result<void> directory_move::check(const file_status& top, std::string_view path) const {
  if (kept_directories::contain(top, path)) return error{error_code::conflict, 0, operation_};
  return {};
}

} // namespace paddock
