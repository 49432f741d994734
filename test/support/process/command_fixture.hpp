// SPDX-License-Identifier: MIT
#pragma once

// Running commands in a temporary directory, and finding what they leave behind.

#include "support/files/temp_tree.hpp"
#include "support/matchers.hpp"

#include <paddock/exec/command.hpp>

#include <dirent.h>
#include <poll.h>

namespace paddock::test {

/// The processes that have `cookie` in their command line; dead ones have none.
inline std::vector<pid_t> processes_with(std::string_view cookie) {
  std::vector<pid_t> found;
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return found;
  while (const dirent* entry = ::readdir(proc)) {
    const std::string name = entry->d_name;
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string line(4096, '\0');
    const int file = ::open(("/proc/" + name + "/cmdline").c_str(), O_RDONLY | O_CLOEXEC);
    const ssize_t size =
        ::read(file, line.data(), line.size()); // a process that ends gives an error
    if (file >= 0) ::close(file);
    line.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
    const auto id = static_cast<pid_t>(std::stol(name));
    if (id != ::getpid() && line.find(cookie) != std::string::npos) found.push_back(id);
  }
  ::closedir(proc);
  return found;
}

/// Gives the kernel (not the code under test) time to act on something that has been decided.
template <class Condition> bool eventually(Condition holds) {
  for (int attempt = 0; attempt < 2000; ++attempt) {
    if (holds()) return true;
    ::poll(nullptr, 0, 10);
  }
  return false;
}

/// The whole suite runs once with each; PADDOCK_TEST_CONFINEMENT names it.
inline bool is_confined() {
  const char* name = std::getenv("PADDOCK_TEST_CONFINEMENT");
  return name != nullptr && std::string_view(name) == "default";
}

class command_fixture : public testing::Test {
protected:
  command_fixture()
      : directory_(::open(tree_.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)),
        cookie_("cookie-" + std::to_string(::getpid()) + "-" + std::to_string(next_cookie_++)) {}
  ~command_fixture() override {
    ::close(directory_);
    for (const pid_t left : processes_with(cookie_))
      ::kill(left, SIGKILL);
  }

  [[nodiscard]] command make(std::vector<std::string> argv) const {
    command asked{.argv = std::move(argv),
                  .environment = {"PATH=/usr/bin:/bin"},
                  .working_directory = directory_,
                  .helper = PADDOCK_TEST_HELPER};
    if (is_confined())
      asked.confinement.read_paths = {PADDOCK_TEST_CHILD, PADDOCK_TEST_HELPER};
    else
      asked.confinement = confinement_policy::host();
    return asked;
  }
  [[nodiscard]] command shell(const std::string& script) const {
    return make({"sh", "-c", script, cookie_});
  }
  /// test/support/process/command_child.cpp
  [[nodiscard]] command child(const std::string& mode) const {
    return make({PADDOCK_TEST_CHILD, mode, cookie_});
  }

  /// How leftovers are ended here.
  static tree_kill strongest_kill() {
    return is_confined() ? tree_kill::pid_namespace : tree_kill::subreaper;
  }

  temp_tree tree_;
  int directory_;
  std::string cookie_;

private:
  static inline int next_cookie_ = 0;
};

} // namespace paddock::test
