// SPDX-License-Identifier: MIT

// The scratch directories that the commands of a session share.

#include "support/process/command_fixture.hpp"
#include "support/process/denied_calls.hpp"
#include "support/process/told.hpp"

#include <paddock/base/file_descriptor.hpp>

namespace paddock::test {
namespace {

namespace fs = std::filesystem;

class SessionScratch : public command_fixture {
protected:
  SessionScratch() {
    tree_.directory("home");
    tree_.directory("home/src");
    tree_.directory("home/src/project");
    tree_.directory("home/tools");
    tree_.file("home/tools/tool", "shown");
    workspace_ =
        file_descriptor(::open(path("home/src/project").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }

  [[nodiscard]] std::string path(const std::string& name) const { return tree_ / name; }

  [[nodiscard]] confinement_policy own_policy() const {
    confinement_policy policy;
    policy.home = path("home");
    policy.read_paths = {path("home/tools/tool")};
    return policy;
  }
  [[nodiscard]] confinement_policy session_policy() const {
    confinement_policy policy = own_policy();
    policy.scratch = hold_scratch(policy, workspace_.get(), PADDOCK_TEST_HELPER);
    return policy;
  }

  [[nodiscard]] command shell(const confinement_policy& policy, const std::string& script) const {
    return {.argv = {"sh", "-c", script},
            .environment = {"PATH=/usr/bin:/bin", "HOME=" + path("home")},
            .working_directory = workspace_.get(),
            .confinement = policy,
            .helper = PADDOCK_TEST_HELPER};
  }
  /// What it says, and why it ended otherwise.
  [[nodiscard]] std::string said(const confinement_policy& policy,
                                 const std::string& script) const {
    const auto r = run(shell(policy, script));
    if (!r) return std::string("not run:") + r.error().operation + r.error().confinement.unmet();
    return r->out.text() + r->err.text();
  }
  /// Wherever commands have a root directory of their own: no other reason is an excuse.
  [[nodiscard]] bool can_share() const {
    const auto report = probe_confinement(own_policy(), PADDOCK_TEST_HELPER, workspace_.get());
    return report &&
           report->of(confinement_layer::file_system).mechanism.find("mount") != std::string::npos;
  }

  file_descriptor workspace_;
};

constexpr const char* leave_files =
    "umask 077; for d in /tmp /var/tmp \"$HOME\" /dev/shm; do echo kept > $d/left; done";
constexpr const char* count_files =
    "for d in /tmp /var/tmp \"$HOME\" /dev/shm; do cat $d/left 2>/dev/null; done";

TEST_F(SessionScratch, StaysBetweenCommands) {
  if (!can_share()) GTEST_SKIP() << "no session here";
  const confinement_policy session = session_policy();
  EXPECT_EQ(said(session, leave_files), "");
  EXPECT_EQ(said(session, count_files), "kept\nkept\nkept\n"); // all but /dev/shm
  EXPECT_EQ(said(session, "stat -c %a /tmp $HOME"), "1777\n700\n");
}

TEST_F(SessionScratch, OfACallDoesNotStay) {
  EXPECT_EQ(said(own_policy(), leave_files), "");
  EXPECT_EQ(said(own_policy(), count_files), "");
}

TEST_F(SessionScratch, IsNobodyElses) {
  if (!can_share()) GTEST_SKIP() << "no session here";
  const confinement_policy session = session_policy(), other = session_policy();
  EXPECT_EQ(said(session, leave_files), "");
  EXPECT_EQ(said(other, count_files), "");
  EXPECT_EQ(said(own_policy(), count_files), "");
  EXPECT_FALSE(fs::exists("/tmp/left"));
  EXPECT_FALSE(fs::exists(path("home/left")));
  EXPECT_EQ(said(session, count_files), "kept\nkept\nkept\n"); // the control
}

TEST_F(SessionScratch, TheReportSaysWhichItIs) {
  const auto report_of = [&](const confinement_policy& policy) {
    const auto report = probe_confinement(policy, PADDOCK_TEST_HELPER, workspace_.get());
    return report ? *report : confinement_report();
  };
  EXPECT_EQ(report_of(confinement_policy::host()).scratch, scratch_life::none);
  if (!can_share()) GTEST_SKIP() << "no session here";
  const confinement_policy session = session_policy();
  EXPECT_EQ(report_of(own_policy()).scratch, scratch_life::call);
  EXPECT_EQ(report_of(session).scratch, scratch_life::session);
  EXPECT_THAT(report_of(session).of(confinement_layer::file_system).mechanism,
              testing::HasSubstr("scratch of the session"));
  confinement_policy off = session;
  off.file_system = demand::off;
  EXPECT_EQ(report_of(off).scratch, scratch_life::none);
  EXPECT_EQ(report_of(off).no_session, "");
}

/// The control of the next one: of one command alone it may be moved, and nobody else is misled.
TEST_F(SessionScratch, WhatACommandSeesBelowItsOwnMayBeMoved) {
  EXPECT_EQ(said(own_policy(), "mv ~/src ~/moved && ls ~"), "moved\ntools\n");
}

/// What is mounted below it has its place from the beginning, and keeps it.
TEST_F(SessionScratch, WhatCommandsSeeBelowItCannotBeMovedAway) {
  if (!can_share()) GTEST_SKIP() << "no session here";
  const confinement_policy session = session_policy();
  constexpr const char* attacks[] = {"mv ~/src ~/moved",          "mv ~/src/project ~/src/moved",
                                     "rmdir ~/src/project ~/src", "mv ~/tools ~/moved",
                                     "rm -f ~/tools/tool",        "mv -f ~/x ~/tools/tool",
                                     "mkdir ~/d; mv -T ~/d ~/src"};
  for (const char* attack : attacks) {
    SCOPED_TRACE(attack);
    EXPECT_THAT(said(session, std::string("echo x > ~/x; ") + attack), testing::HasSubstr("busy"));
    EXPECT_EQ(said(session, "cat ~/tools/tool; pwd; touch here"),
              "shown" + path("home/src/project") + "\n");
  }
  EXPECT_TRUE(fs::exists(path("home/src/project/here")));
  // What nobody shows there is the command's.
  EXPECT_EQ(said(session, "echo own > ~/tools/other; mv ~/tools/other ~/tools/renamed"), "");
  EXPECT_EQ(said(session, "cat ~/tools/renamed"), "own\n");
  EXPECT_FALSE(fs::exists(path("home/tools/renamed")));
}

TEST_F(SessionScratch, AnotherPolicyGetsItsOwn) {
  if (!can_share()) GTEST_SKIP() << "no session here";
  confinement_policy session = session_policy();
  EXPECT_EQ(said(session, leave_files), "");
  tree_.directory("home/later");
  session.read_paths.push_back(path("home/later"));
  const auto r = run(shell(session, count_files));
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->out.text(), "");
  EXPECT_EQ(r->confinement.scratch, scratch_life::call);
  EXPECT_THAT(r->confinement.no_session, testing::HasSubstr("other paths"));
}

TEST_F(SessionScratch, AnotherWorkspaceGetsItsOwn) {
  if (!can_share()) GTEST_SKIP() << "no session here";
  const confinement_policy session = session_policy();
  EXPECT_EQ(said(session, leave_files), "");
  command asked = shell(session, count_files);
  asked.working_directory = directory_;
  const auto r = run(asked);
  ASSERT_THAT(r, IsOk());
  EXPECT_EQ(r->out.text(), "");
  EXPECT_EQ(r->confinement.scratch, scratch_life::call);
}

/// Protected names hold in a workspace that lies below it.
TEST_F(SessionScratch, ProtectionHoldsBelowIt) {
  if (!can_share()) GTEST_SKIP() << "no session here";
  tree_.directory("home/src/project/.git");
  tree_.directory("home/src/project/.git/hooks");
  tree_.file("home/src/project/.envrc", "operator's");
  confinement_policy session = session_policy();
  session.protected_entries = demand::required;
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(said(session, "echo x > .git/hooks/x; ln -sfn ~/src /tmp/way; "
                              "echo x > /tmp/way/project/.envrc"),
                testing::ContainsRegex("Read-only(.|\n)*Read-only"));
    EXPECT_FALSE(fs::exists(path("home/src/project/.git/hooks/x")));
  }
}

TEST_F(SessionScratch, HoldsNoPrivileges) {
  if (!can_share()) GTEST_SKIP() << "no session here";
  const confinement_policy session = session_policy();
  EXPECT_EQ(said(session, "cp /bin/true ~/s; chmod u+s ~/s 2>/dev/null; stat -c %a ~/s"),
            said(own_policy(), "cp /bin/true ~/s; stat -c %a ~/s"));
  EXPECT_THAT(said(session, "mknod ~/null c 1 3"), testing::HasSubstr("mknod"));
  for (const char* each : {"/tmp", "/var/tmp", "$HOME"})
    EXPECT_THAT(said(session, std::string("findmnt -no OPTIONS -T ") + each +
                                  " 2>/dev/null || grep tmpfs /proc/self/mounts"),
                testing::AllOf(testing::HasSubstr("nosuid"), testing::HasSubstr("nodev")));
}

TEST_F(SessionScratch, IsAsLargeAsThatOfACall) {
  if (!can_share()) GTEST_SKIP() << "no session here";
  const char* sizes = "for d in /tmp /var/tmp \"$HOME\"; do stat -fc '%b %S %c' $d; done";
  const std::string own = said(own_policy(), sizes);
  EXPECT_EQ(said(session_policy(), sizes), own);
  EXPECT_THAT(own, testing::Not(testing::StartsWith("0 ")));
}

TEST_F(SessionScratch, ManyCommandsUseItAtOnce) {
  if (!can_share()) GTEST_SKIP() << "no session here";
  const confinement_policy session = session_policy();
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      const std::string own = std::to_string(i);
      for (int j = 0; j < 5; ++j)
        EXPECT_EQ(said(session, "mkdir -p ~/all; echo " + own + " >> ~/all/" + own), "");
    });
  for (std::thread& each : threads)
    each.join();
  EXPECT_EQ(said(session, "cat ~/all/* | wc -l; ls ~/all | wc -l"), "40\n8\n");
}

std::size_t open_descriptors() {
  const fs::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::vector<std::string> kept_directories() {
  std::vector<std::string> found;
  for (const auto& each : fs::directory_iterator("/tmp"))
    if (each.path().filename().string().starts_with("paddock-session-"))
      found.push_back(each.path());
  return found;
}

TEST_F(SessionScratch, NothingOfItIsLeftHere) {
  if (!can_share()) GTEST_SKIP() << "no session here";
  (void)said(own_policy(), "true"); // what the first command makes
  const std::size_t before = open_descriptors();
  {
    const confinement_policy session = session_policy();
    EXPECT_EQ(said(session, leave_files), "");
    EXPECT_GT(open_descriptors(), before);
  }
  EXPECT_EQ(open_descriptors(), before);
}

// --- with Landlock alone ------------------------------------------------------------------------

/// What a process says that lacks something, as a rule namespaces; it ends as `end` makes it.
std::string from_child(const std::function<std::string()>& act, int signal = 0,
                       machine kind = machine::without_namespaces) {
  return told_through([&](int out) {
    become(kind);
    const std::string text = act();
    (void)!::write(out, text.data(), text.size());
    if (signal != 0) ::raise(signal);
  });
}

/// The keeper ends after the process that it was for, and nobody here waits for it.
bool goes(const std::string& directory) {
  return eventually([&] { return !fs::exists(directory); });
}

class SessionDirectory : public SessionScratch {
protected:
  /// The directory of a session, when two commands have used it; then the session is given up.
  [[nodiscard]] std::string use_session() const {
    const confinement_policy session = session_policy();
    std::string text = said(session, "echo kept > ~/left; pwd > $TMPDIR/where; echo $HOME");
    const std::string directory = text.substr(0, text.find('\n'));
    text += said(session, "cat ~/left; test $HOME = $TMPDIR && echo same");
    text += said(session_policy(), "cat ~/left 2>/dev/null || echo another");
    text += said(own_policy(), "cat ~/left 2>/dev/null || echo own");
    const auto report = probe_confinement(session, PADDOCK_TEST_HELPER, workspace_.get());
    if (report) text += std::string(wire_name(report->scratch)) + report->no_session;
    return text;
  }
};

TEST_F(SessionDirectory, IsKeptAndSharedAndRemoved) {
  const auto before = kept_directories();
  const std::string text = from_child([&] { return use_session(); });
  if (text.starts_with("not run:")) GTEST_SKIP() << text;
  EXPECT_THAT(text, testing::MatchesRegex("/tmp/paddock-session-[0-9]+\nkept\nsame\nanother\nown\n"
                                          "session"));
  EXPECT_TRUE(goes(text.substr(0, text.find('\n'))));
  EXPECT_EQ(kept_directories(), before);
}

TEST_F(SessionDirectory, IsRemovedWhenItsProcessIsKilled) {
  for (const bool is_busy : {false, true}) {
    confinement_policy session;
    const std::string text = from_child(
        [&] {
          session = session_policy();
          std::string all = said(session, "mkdir -p ~/a/b/c; echo $HOME");
          if (is_busy)
            std::thread([this, session] {
              (void)said(session, "i=0; while :; do i=$((i + 1)); mkdir -p ~/$i/$i; done");
            }).detach();
          const std::string busy = all.substr(0, all.find('\n')) + "/1";
          if (is_busy && !eventually([&] { return fs::exists(busy); })) all = "not busy";
          return all;
        },
        SIGKILL);
    if (text.starts_with("not run:")) GTEST_SKIP() << text;
    ASSERT_THAT(text, testing::StartsWith("/tmp/paddock-session-"));
    EXPECT_TRUE(goes(text.substr(0, text.find('\n'))));
  }
}

/// What is left when the keeper, too, was killed: whoever comes next removes it, and only that.
TEST_F(SessionDirectory, IsRemovedByTheNextOneAtLast) {
  const std::string forgotten = "/tmp/paddock-session-12345678901234567890";
  fs::create_directories(forgotten + "/deep/er");
  fs::permissions(forgotten, fs::perms::owner_all);
  const std::string text = from_child([&] {
    const confinement_policy first = session_policy();
    std::string all = said(first, "echo here > ~/left; echo $HOME");
    const confinement_policy second = session_policy();
    return all + said(first, "cat ~/left");
  });
  const bool is_left = fs::exists(forgotten);
  fs::remove_all(forgotten);
  if (text.starts_with("not run:")) GTEST_SKIP() << text;
  EXPECT_FALSE(is_left);
  EXPECT_THAT(text, testing::EndsWith("\nhere\n"));
}

// --- an ordinary user ---------------------------------------------------------------------------

/// As a user without privileges, who makes namespaces in a user namespace.
TEST_F(SessionScratch, IsHadByAnOrdinaryUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "this is one";
  constexpr unsigned somebody = 1234;
  fs::permissions(tree_.path(), fs::perms::all);
  for (const auto& each : fs::recursive_directory_iterator(tree_.path()))
    ASSERT_EQ(::lchown(each.path().c_str(), somebody, somebody), 0);
  const std::string all = told_by([&] {
    const bool is_user = ::setgid(somebody) == 0 && ::setuid(somebody) == 0;
    const confinement_policy session = session_policy();
    std::string text = is_user ? "" : "still root";
    const auto report = probe_confinement(session, PADDOCK_TEST_HELPER, workspace_.get());
    text += report ? std::string(wire_name(report->scratch)) + report->no_session + "\n" : "none\n";
    text += said(session, leave_files);
    text += said(session, count_files);
    for (const network_reach reach : {network_reach::none, network_reach::host_network}) {
      confinement_policy other = session; // in user namespaces of their own
      other.reach = reach;
      text += said(other, "cat /tmp/left; pwd; mv ~/src ~/moved 2>&1 | grep -o busy");
    }
    return text;
  });
  if (all.find("user namespaces") != std::string::npos) GTEST_SKIP() << all;
  const std::string again = "kept\n" + path("home/src/project") + "\nbusy\n";
  EXPECT_EQ(all, "session\nkept\nkept\nkept\n" + again + again);
}

} // namespace
} // namespace paddock::test
