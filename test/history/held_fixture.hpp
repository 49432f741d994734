// SPDX-License-Identifier: MIT
#pragma once

// An agent's directory and a person's repository that can be exchanged while a restore works.

#include "support/history/history_fixture.hpp"

#include <linux/fs.h>

namespace paddock::test {

class held_fixture : public history_fixture {
protected:
  void start_anew() const { shell("rm -rf * .[a-zA-Z]*; rm -rf ../state/*"); }
  void exchange(const char* one, const char* other) const {
    const std::string a = workspace() + '/' + one, b = workspace() + '/' + other;
    (void)::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE);
  }
  /// A person's repositories in `d`, which an agent has removed, and in `clone`.
  [[nodiscard]] std::shared_ptr<history::store> two_repositories(std::uint64_t& to) const {
    write("clone/.git/HEAD", "ref: refs/heads/main\n");
    std::filesystem::create_directories(workspace() + "/clone/.git/hooks");
    std::filesystem::create_directories(workspace() + "/clone/.git/objects");
    std::filesystem::create_directories(workspace() + "/clone/.git/refs");
    write("clone/.git/config", "[core]\n");
    write("clone/mine", "a person's");
    shell("mkdir -p d/.git/hooks d/.git/objects d/.git/refs; echo 'ref: refs/heads/main' > "
          "d/.git/HEAD; echo evil > d/.git/hooks/post-checkout; chmod +x "
          "d/.git/hooks/post-checkout; echo x > d/work");
    const auto store = begun();
    to = store->make_checkpoint("made")->number;
    run(*store, "rm -r d");
    return store;
  }
  /// All files beneath the person's repository, by whichever name it has by now.
  [[nodiscard]] std::set<std::string> in_persons() const {
    std::set<std::string> found;
    for (const auto& top : std::filesystem::directory_iterator(workspace())) {
      if (!std::filesystem::exists(top.path() / "mine")) continue;
      for (const auto& each : std::filesystem::recursive_directory_iterator(top.path()))
        if (each.is_regular_file())
          found.insert(std::filesystem::relative(each.path(), top.path()).string());
    }
    return found;
  }
};

} // namespace paddock::test
