// SPDX-License-Identifier: MIT

// Protected names inside commands: what programs outside obey can be neither changed nor made
// there, what is hidden is not there, and ordinary programs work all the same. Each script runs
// as root and as an ordinary user, and beside it runs the control: the same script where nothing is
// protected does what it sets out to do.

#include "support/process/command_fixture.hpp"
#include "support/process/denied_calls.hpp"
#include "support/process/process.hpp"

#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>

#include <gmock/gmock.h>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace paddock::test {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;

constexpr const char* git =
    "git -c user.name=x -c user.email=x@y -c init.defaultBranch=main -c init.templateDir= ";

/// What a program outside would find: every entry with its kind and content, links not followed.
std::map<std::string, std::string> snapshot(const std::string& top) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(top)) {
    std::string& content = found[entry.path().string().substr(top.size() + 1)];
    if (entry.is_symlink()) {
      content = "-> " + fs::read_symlink(entry.path()).string();
    } else if (entry.is_directory()) {
      content = "directory";
    } else {
      std::ifstream in(entry.path(), std::ios::binary);
      content.assign(std::istreambuf_iterator<char>(in), {});
    }
  }
  return found;
}

class Protection : public command_fixture {
protected:
  void SetUp() override {
    ::chmod(tree_.path().c_str(), 0755);
    tree_.directory("ws");
    tree_.directory("outside");
  }

  /// A file of the host, with its parents.
  void put(const std::string& name, std::string_view content = "host") const {
    tree_.directory("ws/" + name.substr(0, name.find('/') == name.npos ? 0 : name.rfind('/')));
    tree_.file("ws/" + name, content);
  }
  /// What a person does beside the agent.
  void on_host(const std::string& script) const {
    const std::string line = "cd " + tree_ / "ws" + " && { " + script + "; } >/dev/null 2>&1";
    ASSERT_EQ(0, std::system(line.c_str())) << script; // NOLINT: the test's own words
  }
  [[nodiscard]] command in_workspace(const std::string& script) const {
    command asked = shell(script);
    asked.confinement = {};
    asked.working_directory = ::open((tree_ / "ws").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    asked.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "LC_ALL=C"};
    return asked;
  }
  static command_outcome outcome_of(const command& asked) {
    auto r = run(asked);
    EXPECT_THAT(r, IsOk());
    ::close(asked.working_directory);
    return r ? *std::move(r) : command_outcome{};
  }
  [[nodiscard]] command_outcome in_fence(const std::string& script) const {
    return outcome_of(in_workspace(script));
  }
  [[nodiscard]] command_outcome unprotected(const std::string& script) const {
    command asked = in_workspace(script);
    asked.confinement.protected_names = {};
    return outcome_of(asked);
  }

  /// The script, with a directory moved by somebody else before it.
  [[nodiscard]] command after_move(const std::string& from, const std::string& to,
                                   const std::string& script) const {
    command asked = in_workspace("echo ready; until test -e go; do :; done; rm go; " + script);
    asked.on_output = [this, from, to, done = std::make_shared<bool>(false)](output_stream,
                                                                             std::string_view) {
      if (std::exchange(*done, true)) return;
      fs::rename(tree_ / "ws/" + from, tree_ / "ws/" + to);
      put("go");
    };
    return asked;
  }

  void give_to(uid_t user) const {
    if (::geteuid() != 0) return;
    for (const auto& entry : fs::recursive_directory_iterator(tree_.path()))
      EXPECT_EQ(0, ::lchown(entry.path().c_str(), user, user));
  }

  [[nodiscard]] bool can_mount() const {
    const auto r = run(in_workspace("true"));
    return r && r->confinement.of(confinement_layer::protected_entries).applied;
  }

  /// `body` as root, if this is root, and as an ordinary user.
  void as_everybody(const std::function<void()>& body) const {
    if (!can_mount()) GTEST_SKIP() << "no mount namespace";
    give_to(::geteuid());
    body();
    if (::geteuid() != 0) return;
    give_to(nobody);
    const auto end = in_child(
        [] {
          return ::access(PADDOCK_TEST_HELPER, X_OK) == 0 && become_nobody() &&
                 ::prctl(PR_SET_DUMPABLE, 1) == 0 && ::access(PADDOCK_TEST_HELPER, X_OK) == 0;
        },
        body);
    if (end == child_end::refused) GTEST_SKIP() << "the build directory is private";
  }
};

// --- ordinary programs --------------------------------------------------------------------------

struct script {
  const char* program;
  const char* text;
};
constexpr script ordinary[] = {
    {"find", "find . -type f"},
    {"grep", "grep -r needle ."},
    {"ls", "ls -laR ."},
    {"tar", "tar cf /tmp/all.tar . && tar tf /tmp/all.tar"},
    {"cp", "cp -r . /tmp/copy && rm -rf /tmp/copy"},
    {"du", "du -a ."},
    {"git", "git status && git add -A && git clean -f -n && git clean -f -x junk"},
    {"node", "mkdir -p t && echo 'require(\"node:test\")(\"x\", () => {})' > t/a.test.js && "
             "node --test"},
    {"python3", "python3 -c 'import os; list(os.walk(\".\", onerror=lambda e: exit(1)))'"},
};

TEST_F(Protection, OrdinaryProgramsWorkBesideAHiddenEntry) {
  put("needle.txt", "needle");
  on_host(std::string(git) + "init -q . && chmod -R a+rwX .");
  for (const bool hidden : {false, true}) {
    SCOPED_TRACE(hidden ? "with .perstack" : "without");
    if (hidden) {
      put(".perstack/state/key");
      put("deep/down/.perstack/key");
    }
    as_everybody([&] {
      for (const auto& [program, text] : ordinary) {
        if (in_fence(std::string("command -v ") + program).exit_code != 0) continue;
        const auto done = in_fence(text);
        EXPECT_EQ(done.exit_code, 0) << text << "\n" << done.out.text() << done.err.text();
        EXPECT_THAT(done.out.text(), testing::Not(HasSubstr("key"))) << text;
      }
      EXPECT_EQ(in_fence("test -e .perstack").exit_code, hidden ? 0 : 1);
      EXPECT_EQ(in_fence("test -z \"$(ls -A .perstack 2>/dev/null)\"").exit_code, 0);
      EXPECT_EQ(in_fence("! touch .perstack/x && ! rmdir .perstack").exit_code, 0);
    });
    // The control: a directory that cannot be read does break them.
    EXPECT_NE(
        in_fence("mkdir locked && chmod 0 locked; find .; s=$?; rmdir locked; exit $s").exit_code,
        0);
  }
  if (tree_.exists("ws/.perstack")) {
    EXPECT_EQ(tree_.content("ws/.perstack/state/key"), "host");
  }
}

TEST_F(Protection, NothingIsLeftInAWorkspaceThatHasNoneOfTheNames) {
  const auto before = snapshot(tree_ / "ws");
  as_everybody([&] { EXPECT_EQ(in_fence("ls -A; test -z \"$(ls -A)\"").exit_code, 0); });
  EXPECT_EQ(snapshot(tree_ / "ws"), before);
}

TEST_F(Protection, GitGoesOnWorking) {
  put("f", "1");
  on_host(std::string(git) + "init -q . && " + git + "add f && " + git + "commit -qm one && " +
          git + "branch other");
  const std::string config = tree_.content("ws/.git/config");
  as_everybody([&] {
    for (const std::string step :
         {"echo 2 >> f && %commit -qam two", "%checkout -q other && %checkout -q main",
          "%checkout -q -b third && %checkout -q main && %branch -q -D third",
          "echo 3 >> f && %stash -q && %stash pop -q && %checkout -q f",
          "%tag -f t && %merge -q other && %gc -q && %log --oneline && %diff --stat",
          "%worktree add -q /tmp/w main~1 --detach && %worktree remove /tmp/w",
          "rm -rf sub && %init -q sub && cd sub && %config user.name ed && %commit -q "
          "--allow-empty -m x",
          "rm -rf copy && %clone -q . copy && cd copy && %config user.name ed && %commit -q "
          "--allow-empty -m x"}) {
      std::string text = step;
      for (std::size_t at; (at = text.find('%')) != std::string::npos;)
        text.replace(at, 1, git);
      const auto done = in_fence(text);
      EXPECT_EQ(done.exit_code, 0) << text << "\n" << done.out.text() << done.err.text();
      EXPECT_TRUE(done.moved_aside.empty()) << text << ": " << describe(done.moved_aside.front());
    }
    // What a command has made is its own in the next one as well.
    EXPECT_EQ(in_fence("git -C copy config core.pager cat && rm -rf copy sub").exit_code, 0);
  });
  EXPECT_EQ(tree_.content("ws/.git/config"), config);
}

TEST_F(Protection, NpmInstallGoesOnWorking) {
  put("package.json", R"({"name":"x","version":"1.0.0"})");
  as_everybody([&] {
    if (in_fence("command -v npm").exit_code != 0) return;
    const auto done = in_fence("npm install --offline --no-audit --no-fund");
    EXPECT_EQ(done.exit_code, 0) << done.out.text() << done.err.text();
    EXPECT_TRUE(done.moved_aside.empty());
  });
}

// --- what is there stays as it is ---------------------------------------------------------------

constexpr script attacks[] = {
    {"write", "echo evil > .git/config"},
    {"append", "echo evil >> .git/config"},
    {"replace", "echo evil > n && mv -f n .git/config"},
    {"remove", "rm -f .git/config"},
    {"git_config", "git config core.fsmonitor evil"},
    {"config_of_a_repository_below", "git -C sub config core.fsmonitor evil"},
    {"add_hook", "echo evil > .git/hooks/post-checkout"},
    {"change_hook", "echo evil > .git/hooks/pre-commit"},
    {"mode_of_hook",
     "chmod 777 .git/hooks/pre-commit && stat -c %a .git/hooks/pre-commit | grep 777"},
    {"replace_hooks", "mv .git/hooks .git/h && mkdir .git/hooks"},
    {"link_hooks", "rm -r .git/hooks && ln -s ../evil .git/hooks"},
    {"move_repository", "mv .git old && mkdir .git && cp -r old/. .git"},
    {"exchange_repository",
     "git init -q new && python3 -c 'import ctypes; exit(0 if "
     "ctypes.CDLL(None).renameat2(-100, b\"new/.git\", -100, b\".git\", 2) == 0 else 1)'"},
    {"mount_point_below", "mv sub/.git sub/old && mkdir sub/.git"},
    {"submodule", "echo evil > .git/modules/m/config"},
    {"submodule_hook", "echo evil > .git/modules/m/hooks/x"},
    {"move_submodules", "mv .git/modules .git/m && mkdir .git/modules"},
    {"move_nested_submodules", "mv .git/modules/m/modules .git/modules/m/m2"},
    {"move_worktrees", "mv .git/worktrees .git/w && mkdir .git/worktrees"},
    {"move_agents_below", "mv sub/.agents sub/a && mkdir sub/.agents"},
    {"worktree", "echo ../evil > .git/worktrees/w/commondir"},
    {"git_file", "echo 'gitdir: ../evil' > linked/.git"},
    {"replace_git_file", "rm linked/.git && mkdir linked/.git"},
    {"bare", "echo evil > bare.git/config"},
    {"bare_hook", "echo evil > bare.git/hooks/x"},
    {"editor", "echo evil > .vscode/tasks.json"},
    {"new_in_editor", "echo evil > .vscode/settings.json"},
    {"move_editor", "mv .vscode v && mkdir .vscode"},
    {"editor_below", "echo evil > sub/.vscode/tasks.json"},
    {"direnv", "echo evil > .envrc"},
    {"remove_direnv", "rm .envrc"},
    {"link_over_direnv", "ln -sf evil .envrc"},
    {"hard_link", "ln .envrc h && echo evil > h"},
    {"attributes", "touch -d @1 .envrc && stat -c %Y .envrc | grep -x 1"},
    {"own_skills", "echo evil > .agents/sys.skills/s/SKILL.md"},
    {"move_agents", "mv .agents a && mkdir .agents"},
    {"through_link", "echo evil > .claude/settings.json"},
    {"target_of_link", "echo evil > dot/claude/settings.json"},
    {"move_place_of_target",
     "mv dot dot2 && mkdir -p dot/claude && echo evil > dot/claude/settings.json"},
    {"move_link_on_the_way", "ln -sfn evil by && readlink by | grep evil"},
    {"move_behind_two_links", "mv far/away far/a && mkdir far/away"},
    {"move_further_away", "mv far f && mkdir far"},
    {"move_target_of_link_below", "mv sub/own sub/o && mkdir sub/own"},
    {"replace_link", "ln -sfn evil .claude && readlink .claude | grep evil"},
    {"remove_link", "rm .claude"},
    {"move_link", "mv .claude c"},
    {"through_descriptor", "exec 5<.envrc && echo evil > /proc/self/fd/5"},
    {"through_proc", "echo evil > /proc/self/cwd/.envrc"},
    {"truncate", "truncate -s 0 .envrc"},
    {"hidden_write", "echo evil > .perstack/key"},
    {"hidden_read", "cat .perstack/key"},
    {"hidden_below", "cat deep/down/.perstack/key"},
    {"hidden_move", "mv .perstack p && cat p/key"},
    {"hidden_beneath_a_repository", "cat .git/lfs/.perstack/key"},
    {"hidden_beneath_hooks", "cat .git/hooks/.perstack/key"},
    {"hidden_beneath_no_repository", "cat named/.git/y/.perstack/key"},
    {"separate", "echo evil > .git/sep/sub/config"},
    {"separate_hook", "echo evil > .git/sep/sub/hooks/x"},
    {"repository_in_a_repository", "echo evil > .git/wt/r/.git/config"},
    {"unmount", "umount .git/config && echo evil > .git/config"},
    {"remount", "mount -o remount,rw,bind .envrc && echo evil > .envrc"},
};

class ProtectedEntries : public Protection {
protected:
  void SetUp() override {
    Protection::SetUp();
    for (const char* file :
         {".git/hooks/pre-commit", ".vscode/tasks.json", ".envrc", ".agents/sys.skills/s/SKILL.md",
          "dot/claude/settings.json", ".perstack/key", "deep/down/.perstack/key", "evil/config",
          ".git/lfs/.perstack/key", ".git/hooks/.perstack/key", "named/.git/y/.perstack/key",
          "evil/settings.json", "evil/HEAD"})
      put(file);
    tree_.link("ws/.claude", "dot/claude");
    tree_.link("ws/.codex", "by/codex");
    tree_.link("ws/by", tree_ / "ws/far/away");
    put("far/away/codex/config.toml");
    on_host(std::string(git) + "init -q . && " + git + "init -q sub && " + git +
            "init -q --bare bare.git && " + git + "init -q --bare .git/modules/m && " + git +
            "init -q --bare .git/modules/m/modules/n && " + git +
            "init -q .git/wt/r && mkdir .git/sep apart && " + git +
            "init -q --separate-git-dir=.git/sep/sub apart && " + git +
            "commit -q --allow-empty -m x && " + git +
            "worktree add -q --detach wt && mkdir -p linked && mv .git/worktrees/wt "
            ".git/worktrees/w && rm -r wt");
    put(".git/modules/m/hooks/post-checkout");
    put("bare.git/hooks/post-update");
    put(".git/sep/sub/hooks/post-update");
    put("linked/.git", "gitdir: ../.git/worktrees/w");
    put("sub/.vscode/tasks.json");
    put("sub/own/gemini/settings.json");
    tree_.link("ws/sub/.gemini", "own/gemini");
    put("sub/.agents/sys.skills/s/SKILL.md");
  }
};

TEST_F(ProtectedEntries, CannotBeChanged) {
  const auto before = snapshot(tree_ / "ws");
  as_everybody([&] {
    for (const auto& [name, text] : attacks) {
      SCOPED_TRACE(name);
      const auto done = in_fence(text);
      EXPECT_NE(done.exit_code, 0) << text;
      EXPECT_TRUE(done.exit_code.has_value());
      auto after = snapshot(tree_ / "ws");
      for (const auto& [path, content] : before) {
        EXPECT_EQ(after[path], content) << path;
      }
      for (const char* made : {"n", "new", "h"})
        fs::remove_all(tree_ / (std::string("ws/") + made));
    }
  });
}

TEST_F(ProtectedEntries, CouldBeChangedWithoutProtection) {
  // The control of the test above. Some attacks need what no command has anyway.
  const std::set<std::string_view> fail_anyway = {"unmount", "remount", "through_descriptor"};
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  fs::copy(tree_ / "ws", tree_ / "outside/copy",
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  for (const auto& [name, text] : attacks) {
    SCOPED_TRACE(name);
    const auto done = unprotected(text);
    if (!fail_anyway.contains(name)) {
      EXPECT_EQ(done.exit_code, 0) << text << "\n" << done.err.text();
    }
    fs::remove_all(tree_ / "ws");
    fs::copy(tree_ / "outside/copy", tree_ / "ws",
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  }
}

TEST_F(ProtectedEntries, CanBeReadAndAreWhatTheyWere) {
  as_everybody([&] {
    const auto done = in_fence("cat .envrc .vscode/tasks.json .claude/settings.json "
                               ".git/hooks/pre-commit .agents/sys.skills/s/SKILL.md && git status "
                               "--porcelain && git -C sub status --porcelain");
    EXPECT_EQ(done.exit_code, 0) << done.err.text();
    EXPECT_TRUE(done.moved_aside.empty());
    EXPECT_TRUE(done.uncovered.empty());
    EXPECT_EQ(done.confinement.of(confinement_layer::protected_entries).missing, "");
  });
}

TEST_F(ProtectedEntries, ALinkThatLeadsElsewhereIsTold) {
  tree_.link("ws/.idea", "later/idea");
  as_everybody([&] {
    EXPECT_THAT(in_fence("mkdir later && mv sub sub2 && mv sub2 sub").led_elsewhere,
                testing::IsEmpty());
    const auto done = in_fence("mkdir later/idea");
    EXPECT_EQ(done.exit_code, 0) << done.err.text();
    EXPECT_EQ(done.led_elsewhere, std::vector<std::string>{".idea"});
    EXPECT_NE(in_fence("mv later l").exit_code, 0);
    fs::remove_all(tree_ / "ws/later");
  });
  give_to(::geteuid());
  const auto end = in_child(
      [] {
        become(machine::without_namespaces);
        return true;
      },
      [&] {
        command asked = in_workspace("mv dot dot2 && mkdir -p dot/claude");
        asked.confinement = confinement_policy::best_effort();
        EXPECT_EQ(outcome_of(asked).led_elsewhere, std::vector<std::string>{".claude"});
      });
  EXPECT_EQ(end, child_end::finished);
}

TEST_F(ProtectedEntries, AreNotHeldWithoutMountsAndTheReportSaysSo) {
  const auto end = in_child(
      [] {
        become(machine::without_namespaces);
        return true;
      },
      [&] {
        command asked = in_workspace("cat .perstack/key && echo evil > .envrc && mkdir .cursor");
        asked.confinement = confinement_policy::best_effort();
        const auto done = outcome_of(asked);
        EXPECT_EQ(done.exit_code, 0);
        const auto& row = done.confinement.of(confinement_layer::protected_entries);
        EXPECT_FALSE(row.applied);
        EXPECT_NE(row.missing, "");
        ASSERT_EQ(done.moved_aside.size(), 1U); // this much can be done all the same
        EXPECT_EQ(done.moved_aside[0].path, ".cursor");
      });
  EXPECT_EQ(end, child_end::finished);
}

// --- what is not there cannot appear ------------------------------------------------------------

struct appearance {
  const char* text;
  std::vector<std::string> moved;
  const char* content; ///< of the one that was moved, below its new name: "file=content"
};

std::vector<appearance> appearances() {
  return {
      {"mkdir .vscode && echo evil > .vscode/tasks.json", {".vscode"}, "/tasks.json"},
      {"echo evil > .envrc", {".envrc"}, ""},
      {"ln -s evil .claude", {".claude"}, nullptr},
      {"mkfifo .bashrc", {".bashrc"}, nullptr},
      {"mkdir -p .perstack && echo evil > .perstack/key", {".perstack"}, "/key"},
      {"mkdir -p .agents/sys.skills && echo evil > .agents/sys.skills/x",
       {".agents/sys.skills"},
       "/x"},
      {"mkdir -p evil/sys.skills && ln -s evil .agents", {".agents"}, nullptr},
      {"echo evil > repo/.git/commondir", {"repo/.git/commondir"}, ""},
      {"mkdir repo/.git/hooks && echo evil > repo/.git/hooks/post-checkout",
       {"repo/.git/hooks"},
       "/post-checkout"},
      {"mkdir .zed .idea && chmod 500 .", {".idea", ".zed"}, nullptr},
      {"mkdir .zed && echo evil > .zed/tasks.json && chmod 0 .zed", {".zed"}, nullptr},
      {"mkdir plain/.vscode && touch plain/.envrc .vscode2 && git init -q fresh", {}, nullptr},
  };
}

TEST_F(Protection, WhatAppearsIsMovedAside) {
  put("plain/f");
  on_host(std::string(git) + "init -q repo && rm -rf repo/.git/hooks");
  as_everybody([&] {
    for (const auto& [text, moved, content] : appearances()) {
      SCOPED_TRACE(text);
      const auto done = in_fence(text);
      EXPECT_EQ(done.exit_code, 0) << done.err.text();
      ::chmod((tree_ / "ws").c_str(), 0755);
      std::vector<std::string> paths;
      for (const auto& each : done.moved_aside) {
        paths.push_back(each.path);
        EXPECT_EQ(each.os_errno, 0);
        EXPECT_FALSE(tree_.exists("ws/" + each.path));
        EXPECT_THAT(each.moved_to, testing::StartsWith(each.path + ".made-by-command-"));
        ASSERT_TRUE(tree_.exists("ws/" + each.moved_to));
        if (content != nullptr) {
          EXPECT_EQ(tree_.content("ws/" + each.moved_to + content), "evil\n");
        }
        const bool is_hidden = each.rule.mode == protection::hidden;
        EXPECT_THAT(describe(each), HasSubstr(is_hidden ? ", which is hidden like it"
                                                        : "--unprotect " + each.rule.name));
        EXPECT_EQ(is_hidden, each.path.starts_with(".perstack"));
        ::chmod((tree_ / "ws/" + each.moved_to).c_str(), 0755);
        fs::remove_all(tree_ / "ws/" + each.moved_to);
      }
      std::ranges::sort(paths);
      EXPECT_EQ(paths, moved);
      for (const char* made : {"evil", ".agents", "plain/.vscode", "fresh"})
        fs::remove_all(tree_ / "ws/" + made);
    }
  });
}

TEST_F(Protection, WhatIsMovedAsideFromAHiddenNameIsHidden) {
  as_everybody([&] {
    for (const bool hidden : {true, false}) {
      const std::string name = hidden ? ".perstack" : ".zed"; // the other one is the control
      const auto made = in_fence("mkdir " + name + " && echo evil > " + name + "/f");
      ASSERT_EQ(made.moved_aside.size(), 1U) << made.err.text();
      const std::string file = made.moved_aside[0].moved_to + "/f";
      const auto seen = in_fence("cat " + file);
      EXPECT_EQ(seen.out.text(), hidden ? "" : "evil\n");
      const auto files = root::open(tree_ / "ws");
      ASSERT_THAT(files, IsOk());
      EXPECT_EQ(read_file(*files, file).has_value(), !hidden);
      EXPECT_EQ(write_file(*files, file, "x").has_value(), !hidden);
      fs::remove_all(tree_ / "ws/" + made.moved_aside[0].moved_to);
    }
  });
}

TEST_F(Protection, ANoticeNamesTheRuleThatWasMet) {
  on_host(std::string(git) + "init -q repo && rm -rf repo/.git/hooks");
  as_everybody([&] {
    auto asked =
        in_workspace("mkdir -p conf/hooks && touch conf/hooks/x && mkdir repo/.git/hooks && "
                     "echo 1 > .envrc");
    protect(asked.confinement.protected_names, {"conf/hooks"});
    const auto done = outcome_of(asked);
    std::map<std::string, std::string> told;
    for (const auto& each : done.moved_aside)
      told[each.path] = describe(each).substr(describe(each).rfind("; "));
    EXPECT_EQ(told, (std::map<std::string, std::string>{
                        {"conf/hooks", "; --protect conf/hooks was given at the start"},
                        {"repo/.git/hooks", "; a person can allow it with --unprotect .git/hooks"},
                        {".envrc", "; a person can allow it with --unprotect .envrc"}}));
    for (const auto& each : done.moved_aside)
      fs::remove_all(tree_ / "ws/" + each.moved_to);
  });
}

constexpr const char* evil_repository =
    "cp -r sub/.git evil && git config -f evil/config core.fsmonitor 'touch ../ran; false'";

/// Where git, run by a person afterwards, finds the agent's configuration.
TEST_F(Protection, WhatAppearsInARepositoryThatIsMovedIsMovedAside) {
  on_host(std::string(git) + "init -q sub && touch sub/f && git -C sub add f");
  as_everybody([&] {
    EXPECT_EQ(in_fence(evil_repository).exit_code, 0);
    const auto done =
        outcome_of(after_move("sub", "sub2", "echo ../../evil > sub2/.git/commondir"));
    EXPECT_EQ(done.exit_code, 0) << done.err.text();
    ASSERT_EQ(done.moved_aside.size(), 1U);
    EXPECT_EQ(done.moved_aside[0].path, "sub2/.git/commondir");
    EXPECT_TRUE(tree_.exists("ws/" + done.moved_aside[0].moved_to));
    EXPECT_EQ(in_fence("mkdir plain").exit_code, 0);
    const auto other =
        outcome_of(after_move("sub2", "plain/sub2",
                              "cp -r plain/sub2 sub2 && echo x > sub2/.git/commondir && "
                              "echo ../../../evil > plain/sub2/.git/commondir"));
    EXPECT_EQ(other.exit_code, 0) << other.err.text();
    EXPECT_EQ(other.moved_aside.size(), 2U); // in the one that was moved, and in its successor
    EXPECT_FALSE(tree_.exists("ws/sub2/.git/commondir"));
    EXPECT_FALSE(tree_.exists("ws/plain/sub2/.git/commondir"));
    fs::remove_all(tree_ / "ws/sub2");
    fs::rename(tree_ / "ws/plain/sub2", tree_ / "ws/sub");
    for (const char* made : {"plain", "evil"})
      fs::remove_all(tree_ / (std::string("ws/") + made));
    fs::remove(tree_ / ("ws/sub" + done.moved_aside[0].moved_to.substr(4)));
  });
  give_to(::geteuid());
  for (const bool held : {true, false}) { // the second is the control
    const auto both = [&](command asked) {
      if (!held) asked.confinement.protected_names = {};
      return outcome_of(asked).exit_code;
    };
    EXPECT_EQ(both(in_workspace(evil_repository)), 0);
    EXPECT_EQ(both(after_move("sub", "sub2", "echo ../../evil > sub2/.git/commondir")), 0);
    on_host("mv sub2 sub");
    on_host("cd sub && git status || :");
    EXPECT_EQ(tree_.exists("ws/ran"), !held);
    on_host("rm -rf evil ran");
  }
}

/// Where this process may not have that many files open, and that is said.
TEST_F(Protection, MoreRepositoriesThanOpenFiles) {
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  on_host(std::string(git) + "init -q r0 && for n in $(seq 199); do cp -r r0 r$n; done");
  // A first look at so many directories may take longer than a command waits for.
  ASSERT_TRUE(eventually([&] {
    return in_fence("true").confinement.of(confinement_layer::protected_entries).missing.empty();
  }));
  constexpr const char* attack = "ulimit -Sn; echo evil > s/.git/commondir; "
                                 "echo evil > r1/.git/commondir";
  for (const rlim_t hard : {rlim_t{1024}, rlim_t{128}}) {
    SCOPED_TRACE(hard);
    const bool enough = hard > 200;
    EXPECT_EQ(in_child(
                  [&] {
                    const rlimit few{128, hard};
                    return ::setrlimit(RLIMIT_NOFILE, &few) == 0;
                  },
                  [&] {
                    const auto done = outcome_of(after_move("r0", "s", attack));
                    EXPECT_EQ(done.out.text(), "ready\n128\n"); // raised for the helper only
                    EXPECT_THAT(done.moved_aside, testing::SizeIs(testing::Ge(enough ? 2U : 1U)));
                    const auto& row = done.confinement.of(confinement_layer::protected_entries);
                    EXPECT_TRUE(row.applied);
                    EXPECT_EQ(row.missing.empty(), enough) << row.missing;
                  }),
              child_end::finished);
    on_host("rm -f s/.git/commondir* && mv s r0");
  }
}

TEST_F(Protection, WhatAppearsIsMovedAsideAlsoWhenTheCommandIsKilled) {
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  command asked = in_workspace("mkdir .vscode; while :; do sleep 1; done");
  asked.timeout_ms = 300;
  asked.kill_grace_ms = 0;
  const auto done = outcome_of(asked);
  EXPECT_EQ(done.ended, ending::timed_out);
  ASSERT_EQ(done.moved_aside.size(), 1U);
  EXPECT_FALSE(tree_.exists("ws/.vscode"));
}

TEST_F(Protection, WhatAppearsIsMovedAsideAlsoWhenThisProcessDies) {
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  const pid_t host = ::fork();
  if (host == 0) {
    (void)run(in_workspace("mkdir .vscode; while :; do sleep 1; done"));
    ::_exit(0);
  }
  EXPECT_TRUE(eventually([&] { return tree_.exists("ws/.vscode"); })); // the window
  ::kill(host, SIGKILL);
  ::waitpid(host, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return !tree_.exists("ws/.vscode"); }));
}

TEST_F(Protection, WhatOneCommandMakesIsNotProtectedByAnother) {
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  constexpr const char* wait_for = "until test -e %; do sleep 0.02; done; ";
  const auto until = [&](const std::string& name) {
    return std::string(wait_for).replace(14, 1, name);
  };
  std::thread first([&] { (void)in_fence("mkdir .vscode; " + until("go")); });
  EXPECT_TRUE(eventually([&] { return tree_.exists("ws/.vscode"); }));
  command_outcome second;
  std::thread overlapping([&] {
    second =
        in_fence("touch begun; " + until("over") + "mkdir .vscode; echo evil >.vscode/tasks.json");
  });
  EXPECT_TRUE(eventually([&] { return tree_.exists("ws/begun"); }));
  put("go");
  first.join();
  EXPECT_FALSE(tree_.exists("ws/.vscode")); // the control: it could be made again
  put("over");
  overlapping.join();
  EXPECT_EQ(second.exit_code, 0) << second.err.text();
  EXPECT_FALSE(tree_.exists("ws/.vscode"));
  EXPECT_EQ(second.moved_aside.size(), 1U);
}

TEST_F(Protection, ALockedDirectoryHidesNothingForTheNextCommand) {
  put("lock/in/.perstack/state", "secret");
  on_host(std::string(git) + "init -q sub");
  constexpr const char* lock = "chmod 000 sub lock";
  constexpr const char* unlock = "chmod 755 sub lock; cat lock/in/.perstack/state; "
                                 "echo evil >>sub/.git/config; true";
  as_everybody([&] {
    for (const char* half : {"chmod 000 sub lock", "chmod 400 sub lock", "chmod 100 sub lock"}) {
      (void)in_fence(half);
      EXPECT_EQ(in_fence(unlock).out.text(), "") << half;
      on_host("chmod 755 sub lock");
      EXPECT_THAT(tree_.content("ws/sub/.git/config"), testing::Not(HasSubstr("evil"))) << half;
    }
  });
  if (::geteuid() != 0) return; // what an ordinary user may not look into stays locked anyway
  (void)unprotected(lock);
  const auto without = unprotected(unlock);
  EXPECT_EQ(without.out.text(), "secret") << without.err.text(); // the control
}

/// Locked by a command, it is somebody else's repository all the same: nothing of it is taken for
/// what a command has made, and a command that runs meanwhile does not get to make it again.
TEST_F(Protection, ALockedRepositoryLosesNothing) {
  const auto body = [&] {
    for (const std::string where : {"", "sub/"})
      for (const std::string lock :
           {"chmod 0 %.git", "chmod 300 %.git", "chmod 400 %.git", "chmod 0 %.agents",
            "mkdir %.git/modules/n && chmod 0 %.git/modules"}) {
        SCOPED_TRACE(where + lock);
        on_host("rm -rf .git .agents sub; mkdir -p sub; cd ./" + where + " && " + git +
                "init -q . && mkdir -p .git/hooks .git/modules .agents/sys.skills && "
                "echo host >.git/hooks/pre-commit && echo host >.agents/sys.skills/s");
        const auto before = snapshot(tree_ / "ws");
        std::string locked = lock;
        for (std::size_t at; (at = locked.find('%')) != std::string::npos;)
          locked.replace(at, 1, where);
        command first = in_workspace(locked +
                                     "; echo ready; until test -e go; do :; done; rm go; "
                                     "chmod 755 `find . -type d`; cd ./" +
                                     where +
                                     "; echo evil >.git/config; mkdir .git/hooks; "
                                     "mkdir .agents/sys.skills; echo evil >.agents/sys.skills/s; "
                                     "rmdir .git/modules/n");
        first.on_output = [&, done = std::make_shared<bool>(false)](output_stream,
                                                                    std::string_view) {
          if (std::exchange(*done, true)) return;
          const auto second = in_fence("true");
          EXPECT_EQ(second.exit_code, 0);
          EXPECT_TRUE(second.confinement.of(confinement_layer::protected_entries).applied);
          EXPECT_TRUE(second.moved_aside.empty()) << describe(second.moved_aside.front());
          EXPECT_EQ(second.uncovered, std::vector<std::string>{});
          put("go");
        };
        const auto done = outcome_of(first);
        EXPECT_TRUE(done.moved_aside.empty()) << describe(done.moved_aside.front());
        on_host("chmod 755 `find . -type d`");
        EXPECT_EQ(snapshot(tree_ / "ws"), before);
      }
  };
  as_everybody(body);
  give_to(::geteuid());
  if (::geteuid() == 0) {
    EXPECT_EQ(in_child(become_bound_by_modes, body), child_end::finished);
  }
  on_host("rm -rf .git .agents sub; " + std::string(git) + "init -q .");
  const auto before = snapshot(tree_ / "ws");
  (void)unprotected("chmod 0 .git; chmod 755 .git; echo evil >.git/config");
  EXPECT_NE(snapshot(tree_ / "ws"), before); // the control
}

TEST_F(Protection, WhereTheTopIsABareRepositoryCommandsRun) {
  for (const char* made : {"git init -q --bare .", "echo x >HEAD; mkdir objects",
                           "echo x >HEAD; ln -s . objects; mkdir .git"}) {
    SCOPED_TRACE(made);
    as_everybody([&] {
      on_host(std::string("rm -rf -- * .git; ") + made + "; echo host >config; mkdir -p hooks");
      const auto done = in_fence("echo evil >config; echo evil >hooks/x; echo fine >description");
      EXPECT_TRUE(done.confinement.of(confinement_layer::protected_entries).applied);
      EXPECT_EQ(tree_.content("ws/description"), "fine\n") << done.err.text();
      EXPECT_EQ(tree_.content("ws/config"), "host\n");
      EXPECT_FALSE(tree_.exists("ws/hooks/x"));
      on_host("rm -rf config hooks");
      EXPECT_EQ(in_fence("echo evil >config; mkdir hooks").moved_aside.size(), 2U);
      EXPECT_FALSE(tree_.exists("ws/config"));
      EXPECT_EQ(unprotected("echo fine >config").exit_code, 0); // the control
    });
  }
}

TEST_F(Protection, ARepositoryThatACommandMakesInANewWorkspaceIsItsOwn) {
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  EXPECT_EQ(in_fence("git init -q r").exit_code, 0);
  const auto next = in_fence("git -C r config a.b d && rm -rf r");
  EXPECT_EQ(next.exit_code, 0) << next.err.text();
}

TEST_F(Protection, SomebodyElsesEntryIsNotLostEither) {
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  put(".perstack/key");
  command asked = in_workspace("echo ready; until test -e go; do :; done; cat .perstack/key");
  asked.on_output = [&](output_stream, std::string_view) {
    if (tree_.exists("ws/go")) return;
    put(".idea/workspace.xml"); // an editor is opened
    fs::rename(tree_ / "ws/.perstack", tree_ / "ws/.perstack.old");
    put(".perstack/key");
    put("go");
  };
  const auto done = outcome_of(asked);
  ASSERT_EQ(done.moved_aside.size(), 1U);
  EXPECT_EQ(tree_.content("ws/" + done.moved_aside[0].moved_to + "/workspace.xml"), "host");
  EXPECT_EQ(done.uncovered, std::vector<std::string>{".perstack"}); // and it is said
}

TEST_F(Protection, AFullVolumeMakesNoDifference) {
  const auto end = in_child(
      [&] { return private_mounts() && mount_tmpfs(tree_ / "ws", "nr_inodes=3,size=64k"); },
      [&] {
        put("one");
        put("two");
        EXPECT_NE(::mkdir((tree_ / "ws/three").c_str(), 0777), 0); // the control: it is full
        const auto done = in_fence("cat one two");
        EXPECT_EQ(done.exit_code, 0) << done.err.text();
        const auto& row = done.confinement.of(confinement_layer::protected_entries);
        EXPECT_TRUE(row.applied) << row.missing;
      });
  if (end == child_end::refused) GTEST_SKIP() << "no mounts";
}

// --- by the command's environment ---------------------------------------------------------------

TEST_F(Protection, TheCommandsEnvironmentDoesNotLeadToAHiddenEntry) {
  put(".perstack/secret");
  tree_.link("ws/bin", ".perstack");
  const auto before = snapshot(tree_ / "ws");
  as_everybody([&] {
    const std::string ws = tree_ / "ws";
    for (const std::string& variable :
         {"HOME=/usr/.." + ws + "/.perstack/x/y", "HOME=" + ws + "/bin",
          "HOME=" + ws + "/.perstack", "PATH=/usr/bin:/bin:/tmp/.." + ws + "/bin",
          "PATH=/usr/bin:/bin:" + ws + "/.perstack"}) {
      command asked = in_workspace("! cat .perstack/secret && ! cat bin/secret && ! ls " + ws +
                                   "/.perstack/x && ! mkdir .perstack/y");
      std::erase_if(asked.environment, [&](const std::string& each) {
        return each.starts_with(variable.substr(0, 5));
      });
      asked.environment.push_back(variable);
      EXPECT_EQ(outcome_of(asked).exit_code, 0) << variable;
    }
  });
  EXPECT_EQ(snapshot(tree_ / "ws"), before);
}

// --- the list -----------------------------------------------------------------------------------

TEST_F(Protection, TheListCanBeChanged) {
  put("Makefile");
  put(".envrc");
  put("secrets");
  as_everybody([&] {
    command asked = in_workspace("echo x > .envrc && ! cat secrets && ! (echo x > Makefile)");
    ASSERT_TRUE(unprotect(asked.confinement.protected_names, ".envrc"));
    protect(asked.confinement.protected_names, {"Makefile"});
    protect(asked.confinement.protected_names, {"secrets", protection::hidden});
    const auto done = outcome_of(asked);
    EXPECT_EQ(done.exit_code, 0) << done.err.text();
    EXPECT_EQ(tree_.content("ws/Makefile"), "host");
  });
}

TEST_F(Protection, WhereARepositoryIsTheDirectoryDoesNotBecomeAnother) {
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  const std::string attack =
      "echo spoilt > .git/HEAD && mkdir -p objects refs hooks && echo 'ref: refs/heads/main' > HEAD"
      " && git config -f config alias.evil '!touch ran'";
  for (const std::string where : {"", "deep/sub/"}) { // the top, and what is found below it
    SCOPED_TRACE(where);
    const std::string there = "cd ./" + where + " && ";
    const auto obeys = [&] {
      on_host(there + "rm -f ran; git -c safe.directory='*' -c safe.bareRepository=all evil || :");
      return tree_.exists("ws/" + where + "ran");
    };
    on_host("mkdir -p ./" + where + " && " + there + git + "init -q . && " + attack);
    EXPECT_TRUE(obeys()); // the control: made by somebody outside
    on_host(there + "rm -rf ran objects refs hooks HEAD config; "
                    "echo 'ref: refs/heads/main' > .git/HEAD");
    const auto done = in_fence(there + attack);
    EXPECT_EQ(done.exit_code, 0) << done.err.text();
    ASSERT_EQ(done.moved_aside.size(), 1U);
    EXPECT_EQ(done.moved_aside[0].path, where + "HEAD");
    EXPECT_THAT(describe(done.moved_aside[0]),
                EndsWith("; git keeps its own there, and by that name would take the directory for "
                         "a repository; use another name"));
    EXPECT_FALSE(obeys());
    on_host(there + "rm -rf objects refs hooks HEAD* config && echo x > HEAD");
    // The half that is missing then.
    const auto half = in_fence(there + "mkdir objects");
    ASSERT_EQ(half.moved_aside.size(), 1U);
    EXPECT_THAT(describe(half.moved_aside[0]), HasSubstr("git keeps its own there"));
    on_host(there + "rm -rf HEAD objects*");
    EXPECT_EQ(in_fence(there + "mkdir objects x; echo x > x/HEAD").moved_aside.size(), 0U);
    on_host(there + "rm -rf .git objects x");
  }
}

/// What is in a hidden entry is nobody's but a person's, whatever else the list says of it.
TEST_F(Protection, ANameBeneathAHiddenOneIsHiddenWithIt) {
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  const protected_name above{"conf", protection::hidden};
  const protected_name beneath{"conf/key"};
  const protected_name later{"conf/later"};
  const std::vector<std::vector<protected_name>> lists = {
      {above, beneath, later}, {beneath, later, above}, {beneath, later}}; // the last: the control
  for (const auto& list : lists) {
    const bool hidden = list.size() == 3;
    SCOPED_TRACE(hidden ? list.front().name : "control");
    on_host("rm -rf conf go");
    put("conf/key", "host");
    command asked = in_workspace("echo ready; until test -e go; do :; done; cat conf/key");
    for (const protected_name& each : list)
      protect(asked.confinement.protected_names, each);
    asked.on_output = [&](output_stream, std::string_view) {
      if (tree_.exists("ws/go")) return;
      put("conf/later", "host");
      put("go");
    };
    const auto done = outcome_of(asked);
    EXPECT_EQ(done.out.text(), hidden ? "ready\n" : "ready\nhost");
    EXPECT_EQ(done.moved_aside.size(), hidden ? 0U : 1U);
    EXPECT_EQ(tree_.exists("ws/conf/later"), hidden);
    EXPECT_EQ(tree_.content("ws/conf/key"), "host");
    const auto files = root::open(tree_ / "ws", {.protected_names = list});
    ASSERT_THAT(files, IsOk());
    EXPECT_EQ(read_file(*files, "conf/key").has_value(), !hidden);
    EXPECT_THAT(write_file(*files, "conf/key", "x"),
                IsError(hidden ? error_code::protected_entry : error_code::write_protected));
  }
}

TEST_F(Protection, PathsOfTheProgramItselfCannotBeReplaced) {
  put("build/tools/server");
  constexpr const char* attack[] = {"echo evil > build/tools/server", "rm build/tools/server",
                                    "mv build b && mkdir build", "mv build/tools build/t",
                                    "cp build/tools/server s && mv -f s build/tools/server"};
  as_everybody([&] {
    for (const char* text : attack) {
      command asked = in_workspace(text);
      asked.confinement.read_only_paths = {tree_ / "ws/build/tools/server", "/usr/bin/true"};
      EXPECT_NE(outcome_of(asked).exit_code, 0) << text;
      EXPECT_EQ(tree_.content("ws/build/tools/server"), "host") << text;
    }
    command asked = in_workspace("echo x > build/tools/other && echo y > build/new");
    asked.confinement.read_only_paths = {tree_ / "ws/build/tools/server"};
    EXPECT_EQ(outcome_of(asked).exit_code, 0);
  });
  give_to(::geteuid());
  EXPECT_EQ(in_fence(attack[0]).exit_code, 0); // the control
}

// --- repositories are found ---------------------------------------------------------------------

TEST_F(Protection, RepositoriesAreFoundWhereverTheyAreAndWheneverTheyAppear) {
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  const auto is_held = [&](const std::string& where) {
    return in_fence("git -C " + where + " config core.fsmonitor evil").exit_code != 0;
  };
  EXPECT_EQ(in_fence("true").exit_code, 0); // the workspace has been looked at
  on_host(std::string(git) + "init -q a/b/c/one");
  EXPECT_TRUE(is_held("a/b/c/one")); // made by a person, between two commands
  EXPECT_EQ(in_fence("mkdir -p x && git init -q x/own && git init -q x/moved").exit_code, 0);
  EXPECT_FALSE(is_held("x/own"));
  on_host("mv a/b/c/one x/other");
  EXPECT_TRUE(is_held("x/other")); // by whatever name
  on_host("rm -rf x/own && " + std::string(git) + "init -q x/own");
  EXPECT_TRUE(is_held("x/own")); // another one of the same name
  EXPECT_FALSE(is_held("x/moved"));
}

struct way_out {
  const char* name;
  const char* first;  ///< what a command does
  const char* second; ///< what the next one then could do
};
constexpr way_out ways_out[] = {
    {"into_gits_own", "git init -q fresh && mv -T d fresh/.git/d && mv -T r fresh/.git/r",
     "cat fresh/.git/d/.perstack/key; echo evil >>fresh/.git/r/.git/config"},
    {"into_the_repository", "mv -T d .git/d; mv -T r .git/r",
     "cat .git/d/.perstack/key; echo evil >>.git/r/.git/config"},
    {"below_a_long_path", R"(/usr/bin/python3 -c '
import os
top = os.open(".", os.O_PATH)
for i in range(22): os.mkdir("0" * 200); os.chdir("0" * 200)
for name in "dr": os.rename(name, name, src_dir_fd=top)')",
     R"(/usr/bin/python3 -c '
import os
for i in range(22): os.chdir("0" * 200)
print(open("d/.perstack/key").read(), open("r/.git/config", "a").write("evil"))')"},
    {"beside_a_lock", "chmod 311 .", "cat d/.perstack/key; echo evil >>r/.git/config"},
    {"by_an_exchange", "mkdir -p e/.git e/.perstack; mv -T d f && mv -T e d",
     "cat f/.perstack/key"},
};

TEST_F(Protection, WhatIsHeldCannotBeTakenToWhereNobodyLooks) {
  as_everybody([&] {
    for (const way_out& way : ways_out) {
      SCOPED_TRACE(way.name);
      for (const bool held : {true, false}) { // the second is the control
        on_host("chmod 755 .; rm -rf -- * .git; " + std::string(git) + "init -q . && " + git +
                "init -q r && mkdir -p d/.perstack && echo secret >d/.perstack/key && "
                "stat -c %i r/.git/config >../number");
        std::string told;
        for (const char* script : {way.first, way.second}) {
          command asked = in_workspace(script);
          if (!held) asked.confinement.protected_names = {};
          const auto r = run(asked);
          ::close(asked.working_directory);
          if (r) told = r->out.text() + r->err.text();
        }
        EXPECT_EQ(told.find("secret") != told.npos, !held) << told;
        if (held)
          on_host("chmod 755 . && test \"$(stat -c %i r/.git/config)\" = \"$(cat ../number)\" "
                  "&& ! grep evil r/.git/config");
      }
    }
  });
}

/// What a protected link leads to becomes a mount of its own: here the whole repository, on top of
/// what has been mounted on the way to it.
TEST_F(Protection, ALinkToItsOwnRepositoryUncoversNothing) {
  as_everybody([&] {
    on_host("rm -rf s; " + std::string(git) + "init -q s && " + git +
            "init -q s/z && mkdir -p s/a/.perstack && echo secret >s/a/.perstack/key && "
            "rm -rf s/.git/hooks && ln -s .. s/.git/hooks");
    const std::string attack = "cat s/a/.perstack/key; echo evil >>s/z/.git/config";
    EXPECT_EQ(in_fence(attack).out.text(), "");
    on_host("! grep evil s/z/.git/config");
    EXPECT_EQ(unprotected(attack).out.text(), "secret\n"); // the control
    on_host("grep evil s/z/.git/config");
  });
}

TEST_F(Protection, WhatARunningCommandKeepsStaysInPlaceForTheToolsToo) {
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  put("a/d/.perstack/key");
  put("plain/d/file");
  auto top = root::open(tree_ / "ws");
  ASSERT_THAT(top, IsOk());
  std::vector<std::optional<error_code>> codes;
  command asked = in_workspace("echo ready; until test -e go; do :; done");
  asked.on_output = [&](output_stream, std::string_view) {
    if (tree_.exists("ws/go")) return;
    for (const char* from : {"a/d", "a", "plain"}) {
      const auto done = move_entry(*top, from, std::string(from) + "2");
      codes.push_back(done ? std::nullopt : std::optional(done.error().code));
    }
    put("go");
  };
  EXPECT_EQ(outcome_of(asked).exit_code, 0);
  EXPECT_THAT(codes, testing::ElementsAre(error_code::conflict, error_code::conflict,
                                          std::nullopt)); // the last one is the control
  EXPECT_THAT(move_entry(*top, "a/d", "a/e"), IsOk());
}

TEST_F(Protection, ASubmoduleMayBeCalledLikeWhatGitKeeps) {
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  on_host(std::string(git) + "init -q .");
  for (const std::string name : {"hooks", "info", "logs", "objects", "refs", "lib"}) {
    SCOPED_TRACE(name);
    on_host(std::string(git) + "init -q --bare .git/modules/" + name);
    const std::string attack = "echo evil >>.git/modules/" + name + "/config";
    EXPECT_NE(in_fence(attack).exit_code, 0);
    EXPECT_EQ(unprotected(attack).exit_code, 0); // the control
  }
}

TEST_F(Protection, AWorkspaceThatCannotBeListedIsRefused) {
  as_everybody([&] {
    if (::geteuid() == 0) return; // may list everything
    ::chmod((tree_ / "ws").c_str(), 0311);
    command asked = in_workspace("true");
    const auto refused = run(asked);
    ::close(asked.working_directory);
    ::chmod((tree_ / "ws").c_str(), 0755);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, error_code::permission_denied);
    EXPECT_STREQ(refused.error().operation, "workspace");
    EXPECT_EQ(in_fence("true").exit_code, 0);        // the control
    EXPECT_EQ(in_fence("chmod 311 .").exit_code, 0); // what a command closes is opened again
    EXPECT_EQ(in_fence("true").exit_code, 0);
  });
}

TEST_F(Protection, ARepositoryStaysOneWithoutWhatGitTellsItBy) {
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  on_host(std::string(git) + "init -q --bare b.git && mkdir plain");
  EXPECT_EQ(in_fence("mv b.git/HEAD b.git/H && mv b.git/objects b.git/o").exit_code, 0);
  EXPECT_NE(in_fence("echo evil > b.git/config").exit_code, 0);
  EXPECT_EQ(in_fence("echo fine > plain/config").exit_code, 0); // the control
}

TEST_F(Protection, WhatIsInAHiddenEntryDoesNotEndCommands) {
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  put(".perstack/x/.perstack/key");
  put("deep/.perstack/x/.perstack/key");
  on_host(std::string(git) + "init -q .perstack/r && " + git + "init -q deep/.perstack/r");
  EXPECT_EQ(in_fence("test -z \"$(ls -A .perstack deep/.perstack | grep key)\"").exit_code, 0);
}

// --- there are bounds ---------------------------------------------------------------------------

/// `count` directories with a hidden entry each, below one whose path has about `bytes`.
void make_hidden(const std::string& top, int count, std::size_t bytes) {
  std::string below = top + "/many";
  while (below.size() - top.size() < bytes)
    below.append("/").append(200, 'n');
  for (int i = 0; i < count; ++i)
    fs::create_directories(below + "/" + std::to_string(i) + "/.perstack");
}

TEST_F(Protection, MoreHiddenEntriesThanCanBeCoveredAreSaid) {
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  constexpr struct {
    int count;
    std::size_t bytes;
  } trees[] = {
      {1'300, 10}, {1'300, 3'400}, {300, 3'400}}; // of the last, what leads there is too much
  for (const auto& [count, bytes] : trees) {
    SCOPED_TRACE(std::to_string(count) + " of " + std::to_string(bytes));
    put("zz/.perstack/key"); // was there first
    make_hidden(tree_ / "ws", count, bytes);
    const auto missing_of = [&] {
      std::string missing = "in time";
      for (int i = 0; i < 50 && missing.find("in time") != missing.npos; ++i) {
        command asked = in_workspace("cat zz/.perstack/key");
        asked.timeout_ms = 600'000; // mounts of many tests at once wait for each other
        const auto done = outcome_of(asked);
        EXPECT_TRUE(done.exit_code.has_value());
        EXPECT_NE(done.exit_code, 0);
        missing = done.confinement.of(confinement_layer::protected_entries).missing;
      }
      return missing;
    };
    EXPECT_THAT(missing_of(), HasSubstr("hidden entries more than can be covered"));
    command asked = in_workspace("true");
    asked.confinement.protected_entries = demand::required;
    asked.timeout_ms = 600'000;
    const auto refused = run(asked);
    ASSERT_THAT(refused, IsError(error_code::confinement_unavailable));
    EXPECT_THAT(refused.error().confinement.unmet(),
                HasSubstr("hidden entries more than can be covered"));
    fs::remove_all(tree_ / "ws/many"); // the control
    EXPECT_EQ(missing_of(), "");
    EXPECT_EQ(outcome_of(asked).exit_code, 0);
  }
}

/// Where no path leads nothing can be protected: that is said, with what to do, and everything else
/// stays held. `depth` names of `bytes` each lead to what is made by `script`.
TEST_F(Protection, WhatNoPathCanNameIsSaid) {
  if (!can_mount()) GTEST_SKIP() << "no mount namespace";
  put(".perstack/key");
  put("sub/.perstack/key");
  on_host(std::string(git) + "init -q zz");
  const std::size_t room = 4095 - (tree_ / "ws/").size();
  constexpr const char* deep = R"(python3 -c '
import os, sys
left = int(sys.argv[1])
while left > 0:
    name = "d" * min(200, left); left -= len(name) + 1
    os.makedirs(name, exist_ok=True); os.chdir(name)
if sys.argv[2] == "hidden": os.mkdir(".perstack")
if sys.argv[2] == "link":
    os.makedirs(".git"); os.symlink("../x", ".git/hooks"); os.mkdir("x")
' )";
  const struct {
    const char* name;
    std::size_t bytes;
    const char* made;
    bool held;
  } trees[] = {{"a_tree", 6'000, "nothing", false},
               {"a_hidden_name", room - 5, "hidden", false},
               {"a_link_of_a_repository", room - 5, "link", false},
               {"the_control", room - 50, "link", true}};
  for (const auto& tree : trees) {
    SCOPED_TRACE(tree.name);
    on_host(std::string(deep) + std::to_string(tree.bytes) + " " + tree.made);
    layer_report row;
    do {
      const auto done = in_fence("cat .perstack/key sub/.perstack/key; echo evil >zz/.git/config");
      EXPECT_EQ(done.out.text(), "");
      row = done.confinement.of(confinement_layer::protected_entries);
    } while (row.missing.find("in time") != row.missing.npos);
    EXPECT_EQ(row.applied, tree.held) << row.missing;
    EXPECT_THAT(tree_.content("ws/zz/.git/config"), testing::Not(HasSubstr("evil")));
    EXPECT_THAT(shortfall(row), testing::Not(HasSubstr("user namespaces")));
    if (!tree.held) {
      EXPECT_THAT(row.missing, HasSubstr("begins with d"));
      EXPECT_THAT(row.missing, HasSubstr("rm -rf"));
    }
    if (tree.bytes > 5'000) {
      const auto top = root::open(tree_ / "ws");
      ASSERT_THAT(top, IsOk());
      EXPECT_THAT(remove_directory(*top, std::string(200, 'd'), {.recursive = recursion::yes}),
                  IsOk());
    }
    on_host("rm -rf d*"); // the other remedy
    EXPECT_TRUE(in_fence("true").confinement.of(confinement_layer::protected_entries).applied);
  }
}

} // namespace
} // namespace paddock::test
