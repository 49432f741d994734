// SPDX-License-Identifier: MIT
#pragma once

// What searches are measured on, and the bare walk through it that no search can beat.

#include "scratch.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace paddock::bench {

/// A directory that holds much text people wrote: that of PADDOCK_BENCH_TREE, or where Debian's
/// linux-source was unpacked. Empty: there is none.
inline std::string tree_of_people() {
  if (const char* given = std::getenv("PADDOCK_BENCH_TREE")) return given; // NOLINT
  std::error_code none;
  for (const auto& each : std::filesystem::directory_iterator("/usr/src", none))
    if (each.path().filename().string().starts_with("linux-source") && each.is_directory(none))
      return each.path();
  return {};
}

/// 10,000 files of 12 KiB: a quarter of the lines has `return`, a few have the rarer words.
inline void generate_tree(const scratch& s) {
  constexpr std::string_view lines[] = {"  return value;\n", "  if (size > limit) {\n",
                                        "  auto found = begin->second;\n", "}\n"};
  constexpr std::string_view rare[] = {
      "  case PM_RESUME:\n", "  wait(DEVICE_RESUME);\n", "  link(CFG_BME_EVT);\n",
      "  // the angle \xce\xb1 is small\n", "  // these words count every thing\n"};
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    std::string text;
    while (text.size() < std::size_t{12} * 1024)
      text += lines[random() % std::size(lines)];
    if (i % 100 == 0) text += rare[static_cast<std::size_t>(i / 100) % std::size(rare)];
    s.file("d" + std::to_string(i % 500) + "/f" + std::to_string(i) + ".c", text);
  }
}

/// The tree that is searched.
inline const std::string& searched_tree() {
  static const std::string path = [] {
    std::string found = tree_of_people();
    if (!found.empty()) return found;
    static const scratch made;
    generate_tree(made);
    return made.path();
  }();
  return path;
}

/// What a bare walk does with each file.
enum class visit : std::uint8_t { name, status, content };

/// Enters all directories, by as many threads as are asked for.
class bare_walk {
public:
  bare_walk(const std::string& top, visit what) : what_(what), pending_{top} {}

  /// Files met.
  std::uint64_t run(unsigned threads) {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < threads; ++i)
      others.emplace_back([this] { work(); });
    work();
    others.clear();
    return files_;
  }

private:
  void work() {
    std::vector<char> buffer(std::size_t{1} << 20);
    std::vector<std::string> below;
    std::uint64_t files = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      more_.wait(lock, [this] { return !pending_.empty() || busy_ == 0; });
      if (pending_.empty()) break;
      const std::string directory = std::move(pending_.back());
      pending_.pop_back();
      ++busy_;
      lock.unlock();
      files += enter(directory, below, buffer);
      lock.lock();
      --busy_;
      for (std::string& each : below)
        pending_.push_back(std::move(each));
      below.clear();
      more_.notify_all();
    }
    files_ += files;
  }

  std::uint64_t enter(const std::string& path, std::vector<std::string>& below,
                      std::vector<char>& buffer) const {
    DIR* directory = ::opendir(path.c_str());
    if (directory == nullptr) return 0;
    std::uint64_t files = 0;
    while (const dirent* entry = ::readdir(directory)) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == ".." || name == ".git") continue;
      if (entry->d_type == DT_DIR) below.push_back(path + "/" + entry->d_name);
      if (entry->d_type != DT_REG) continue;
      ++files;
      look_at(::dirfd(directory), entry->d_name, buffer);
    }
    ::closedir(directory);
    return files;
  }

  void look_at(int directory, const char* name, std::vector<char>& buffer) const {
    if (what_ == visit::status) {
      struct statx status{};
      static_cast<void>(
          ::statx(directory, name, AT_SYMLINK_NOFOLLOW, STATX_TYPE | STATX_SIZE, &status));
    }
    if (what_ != visit::content) return;
    const int fd = ::openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat status{};
    if (fd < 0) return;
    if (::fstat(fd, &status) == 0) {
      ssize_t left = status.st_size;
      while (left > 0) {
        const ssize_t n = ::read(fd, buffer.data(), buffer.size());
        if (n <= 0) break;
        left -= n;
      }
    }
    ::close(fd);
  }

  const visit what_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<std::string> pending_;
  unsigned busy_ = 0;
  std::uint64_t files_ = 0;
};

} // namespace paddock::bench
