// SPDX-License-Identifier: MIT
#pragma once

// Commands with Landlock alone, as this kernel or an older one has it, beside the same without a
// fence.

#include "support/process/command_fixture.hpp"
#include "support/process/denied_calls.hpp"
#include "support/process/older_landlock.hpp"
#include "support/process/told.hpp"

#include <grp.h>

namespace paddock::test {

struct fenced_as {
  bool ordinary = false;
  int landlock = 0; ///< 0: this kernel's
};

class broker_fixture : public command_fixture, public testing::WithParamInterface<fenced_as> {
protected:
  static constexpr unsigned nobody = 65534;

  void SetUp() override {
    if (GetParam().landlock != 0 && !can_imitate_older_landlock) GTEST_SKIP() << "another machine";
    for (const char* name : {"ws", "shared"}) {
      tree_.directory(name);
      give_away(std::string("/") + name);
    }
    give_away("");
  }
  void give_away(const std::string& name) const {
    const std::string path = tree_.path() + name;
    EXPECT_EQ(::chmod(path.c_str(), 0755), 0);
    if (is_ordinary()) {
      EXPECT_EQ(::chown(path.c_str(), nobody, nobody), 0);
    }
  }
  [[nodiscard]] static bool is_ordinary() { return GetParam().ordinary; }
  static void become_user() {
    if (is_ordinary() &&
        (::setgroups(0, nullptr) != 0 || ::setgid(nobody) != 0 || ::setuid(nobody) != 0))
      ::_exit(2);
  }
  /// As many domains as a process may have.
  static void use_up_landlock() {
    const std::uint64_t handled = 1U << 6U; // LANDLOCK_ACCESS_FS_MAKE_CHAR
    int ruleset = -1;
    do {
      ::close(ruleset);
      ruleset = static_cast<int>(::syscall(444, &handled, sizeof handled, 0));
    } while (ruleset >= 0 && ::syscall(446, ruleset, 0) == 0);
    if (errno != E2BIG) ::_exit(2);
    ::close(ruleset);
  }
  [[nodiscard]] command asked_for(bool is_fenced, const std::string& script) const {
    command asked = make({"/bin/sh", "-c", script});
    const std::string workspace = tree_.path() + "/ws";
    asked.working_directory = ::open(workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    asked.timeout_ms = 20'000; // nothing here takes long
    asked.confinement = !is_fenced             ? confinement_policy::host()
                        : has_all_of_landlock_ ? confinement_policy::best_effort()
                                               : confinement_policy{};
    if (is_fenced) {
      asked.confinement.protected_entries = demand::best_effort;
      asked.confinement.read_paths = {tree_.path()};
      asked.confinement.write_paths = {tree_.path() + "/shared"};
    }
    return asked;
  }
  static std::string output_of(const command_outcome& ran) {
    return ran.out.text() + ran.err.text() + " " + std::to_string(ran.exit_code.value_or(-1));
  }
  /// Runs it in a process of its own, which has no namespaces, or has them all and no fence.
  [[nodiscard]] std::string
  run_where(bool is_fenced, const std::string& script,
            const std::function<std::string(const command_outcome&)>& tell = output_of) const {
    return told_by([&] {
      if (is_fenced && GetParam().landlock != 0) become_older_landlock(GetParam().landlock);
      become_user();
      if (is_fenced) become(machine::without_namespaces);
      if (has_listener_ && !is_listened_to()) ::_exit(2);
      if (is_fenced && has_all_of_landlock_) use_up_landlock();
      const auto ran = run(asked_for(is_fenced, script));
      return ran ? tell(*ran) : explain(ran.error());
    });
  }

  bool has_listener_ = false;        ///< of somebody else
  bool has_all_of_landlock_ = false; ///< so a command gets none, and runs with what there is
};

inline std::string name_of(const testing::TestParamInfo<fenced_as>& of) {
  return (of.param.ordinary ? "ordinary" : "root") +
         (of.param.landlock == 0 ? std::string()
                                 : "_landlock_" + std::to_string(of.param.landlock));
}

} // namespace paddock::test
