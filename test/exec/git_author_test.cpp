// SPDX-License-Identifier: MIT

// Who a commit is by that a command makes: the one that git names outside, with the same home.

#include "support/process/command_fixture.hpp"
#include "support/process/denied_calls.hpp"
#include "support/process/told.hpp"

#include <paddock/exec/confinement.hpp>

namespace paddock::test {
namespace {

class GitAuthor : public command_fixture {
protected:
  GitAuthor() {
    ::unsetenv("XDG_CONFIG_HOME");
    ::chmod(tree_.path().c_str(), 0755);
    tree_.directory("home/.config/git");
    tree_.directory("workspace");
  }

  void SetUp() override {
    if (outside("git --version").find("git version") != 0) GTEST_SKIP() << "there is no git";
  }

  [[nodiscard]] command in_workspace(const std::string& script) const {
    auto asked = shell(script);
    asked.environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=" + tree_ / "home", "LC_ALL=C"};
    asked.working_directory = asked.workspace = directory_of_workspace();
    return asked;
  }
  /// What the script prints where git reads the user's files.
  [[nodiscard]] std::string outside(const std::string& script) const {
    auto asked = in_workspace(script);
    asked.confinement = confinement_policy::host();
    return output(asked);
  }
  [[nodiscard]] std::string inside(const std::string& script) const {
    auto asked = in_workspace(script);
    asked.confinement = {};
    asked.confinement.home = tree_ / "home";
    asked.confinement.author = git_author_of(tree_ / "home");
    return output(asked);
  }
  [[nodiscard]] static std::string output(const command& asked) {
    const auto r = run(asked);
    ::close(asked.working_directory);
    return r ? r->out.text() : "not run: " + std::string(wire_name(r.error().code));
  }

private:
  [[nodiscard]] int directory_of_workspace() const {
    return ::open((tree_ / "workspace").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  }
};

struct configuration {
  const char* name;
  const char* global; ///< ~/.gitconfig
  const char* other;  ///< ~/.config/git/config
};

constexpr configuration configurations[] = {
    {"nothing", "", ""},
    {"usual", "[user]\n\tname = Ann Example\n\temail = ann@example.org\n", ""},
    {"in the other file", "", "[user]\nname=Ann\nemail=a@b\n"},
    {"the first file counts", "[user]\nname=Ann\n", "[user]\nname=Bob\nemail=bob@b\n"},
    {"the last value counts", "[user]\nname=A\nname=B\n[core]\nname=C\n[user]\nemail=x@y\n", ""},
    {"case and blanks", "  [uSER]\n[USER]\r\n  NAME\t=  Ann  B \r\n\teMail=a@b", ""},
    {"on the line of the section", "[user] name = Ann\n[user]email=a@b\n", ""},
    {"another section", "[user \"x\"]\nname=No\n[users]\nemail=no@x\n", ""},
    {"comments", "# [user]\n[user] ; c\n;name=No\nname = Ann # c\nemail = a@b;c\n", ""},
    {"quotes", "[user]\nname = \" Ann \\\"the\\\" #1; \" B\nemail = \"a\"@\"b\"  \n", ""},
    {"a backslash", "[user]\nname = Ann\\\\B\nemail = a@b\\\\\n", ""},
    {"a value of two lines", "[user]\nname = Ann \\\n  Example\nemail = a@b\n", ""},
    {"commas, colons, other letters", "[user]\nname = Dr. \xc3\x84nn, B: & C\nemail = a@b\n", ""},
    {"a mark at the beginning", "\xef\xbb\xbf[user]\nname = Ann\nemail = a@b\n", ""},
    {"an empty one", "[user]\nname =\nemail = a@b\n", "[user]\nname = Bob\n"},
    {"a name without a value", "[user]\nemail = a@b\n[core]\nbare\n[user]\nname = Ann\n", ""},
};

TEST_F(GitAuthor, IsReadAsGitReadsIt) {
  for (const configuration& each : configurations) {
    SCOPED_TRACE(each.name);
    tree_.file("home/.gitconfig", each.global);
    tree_.file("home/.config/git/config", each.other);
    const git_author found = git_author_of(tree_ / "home");
    EXPECT_EQ(found.name + "\n" + found.email + "\n",
              outside("cd /; for k in name email; do git config user.$k || echo; done"));
  }
  EXPECT_EQ(git_author_of("").name, git_author_of("relative").name);
}

TEST_F(GitAuthor, IsNobodysWhereThereIsNoFileToRead) {
  const std::string none = git_author_of(tree_ / "absent").name;
  tree_.file("home/.gitconfig", "[user]\nname = Ann\n");
  EXPECT_EQ(git_author_of(tree_ / "home").name, "Ann");
  for (const char* what : {"mkfifo", "mkdir", "ln -s /dev/zero"}) {
    SCOPED_TRACE(what);
    (void)outside("rm -rf ../home/.gitconfig; " + std::string(what) + " ../home/.gitconfig");
    EXPECT_EQ(git_author_of(tree_ / "home").name, none);
  }
  for (const std::string text : {"[", "[user", "[user]\nname", "[user]\n=x"}) {
    (void)outside("rm -rf ../home/.gitconfig");
    tree_.file("home/.gitconfig", text);
    EXPECT_EQ(git_author_of(tree_ / "home").name, none) << text;
  }
}

constexpr const char* commit =
    "git commit -q --allow-empty -m x 2>&1 && git log -1 --format='%an <%ae> %cn <%ce>'";

struct commit_case {
  const char* name;
  const char* before; ///< in the repository, outside
  const char* prefix; ///< of the commit
};

constexpr commit_case commit_cases[] = {
    {"by the user", ":", ""},
    {"the repository names another", "git config user.name Repo; git config user.email r@r", ""},
    {"the repository names half of one", "git config user.email r@r", ""},
    {"the command names another", ":", "export GIT_AUTHOR_NAME=Env GIT_COMMITTER_EMAIL=env@env; "},
    {"only the address of EMAIL", ":", "export EMAIL=mail@mail; "},
    {"nobody is guessed", "git config user.useConfigOnly true", ""},
};

TEST_F(GitAuthor, OfACommitInsideIsTheOneOutside) {
  const auto report = probe_confinement({}, PADDOCK_TEST_HELPER);
  if (!report || !report->complete()) GTEST_SKIP() << "a layer is unavailable";
  for (const configuration& each : configurations) {
    SCOPED_TRACE(each.name);
    tree_.file("home/.gitconfig", each.global);
    tree_.file("home/.config/git/config", each.other);
    for (const commit_case& how : commit_cases) {
      SCOPED_TRACE(how.name);
      const bool is_first = &each == configurations + 1;
      if (!is_first && &how != commit_cases) continue;
      (void)outside(std::string("rm -rf .git; git init -q 2>/dev/null; ") + how.before);
      const std::string script = std::string(how.prefix) + commit;
      EXPECT_EQ(inside(script), outside(script));
    }
  }
}

TEST_F(GitAuthor, IsAllThatACommandSeesOfTheFiles) {
  const auto report = probe_confinement({}, PADDOCK_TEST_HELPER);
  if (!report || !report->complete()) GTEST_SKIP() << "a layer is unavailable";
  tree_.file("home/.gitconfig",
             "[user]\nname = A\\\\B\\\"\nemail = a@b\n[http]\nextraHeader = secret\n");
  EXPECT_NE(outside("git config --list --global").find("secret"), std::string::npos);
  EXPECT_EQ(inside("cat /etc/gitconfig"), "[user]\n\tname = \"A\\\\B\\\"\"\n\temail = \"a@b\"\n");
  EXPECT_EQ(inside("ls -A ~; (echo x >>/etc/gitconfig) 2>&- || echo kept"), "kept\n");
  tree_.file("home/.gitconfig", "[user]\nname = \"A\\nB\"\n"); // would be a line of its own
  EXPECT_EQ(inside("cat /etc/gitconfig 2>/dev/null"), "");
}

TEST_F(GitAuthor, IsNobodyWhereThePolicyNamesNobody) {
  const auto report = probe_confinement({}, PADDOCK_TEST_HELPER);
  if (!report || !report->complete()) GTEST_SKIP() << "a layer is unavailable";
  tree_.file("home/.gitconfig", configurations[1].global);
  auto asked = in_workspace("git config user.name || echo nobody");
  asked.confinement = {};
  asked.confinement.home = tree_ / "home";
  EXPECT_EQ(output(asked), "nobody\n"); // the control: nothing but the policy shows one
  EXPECT_EQ(inside("git config user.name"), "Ann Example\n");
}

/// Where Landlock stands alone the home directory is one that the helper has made.
TEST_F(GitAuthor, IsKnownWithoutNamespaces) {
  tree_.file("home/.gitconfig", "[user]\nname = Ann\nemail = a@b\n");
  (void)outside("git init -q 2>/dev/null");
  const std::string told = told_by([&]() -> std::string {
    become(machine::without_namespaces);
    auto asked = in_workspace(commit);
    asked.confinement = confinement_policy::best_effort();
    asked.confinement.home = tree_ / "home";
    asked.confinement.author = git_author_of(tree_ / "home");
    const auto r = run(asked);
    const bool fixed = r && r->confinement.of(confinement_layer::file_system).mechanism ==
                                "Landlock, filter of attribute calls, broker of attributes";
    return !r ? "not run" : !fixed ? "no Landlock" : r->out.text();
  });
  if (told == "no Landlock") GTEST_SKIP() << "there is no Landlock";
  EXPECT_EQ(told, "Ann <a@b> Ann <a@b>\n");
}

} // namespace
} // namespace paddock::test
