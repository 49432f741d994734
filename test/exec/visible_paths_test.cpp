// SPDX-License-Identifier: MIT

// Who decides what a confined command sees: the policy, and neither the command's environment nor
// anything that the command could change.

#include "support/process/command_fixture.hpp"
#include "support/process/denied_calls.hpp"
#include "support/process/told.hpp"

namespace paddock::test {
namespace {

using testing::HasSubstr;

/// outside/ holds an installation (tool) and what is nobody's business (secret).
class VisiblePaths : public command_fixture {
protected:
  VisiblePaths() {
    ::chmod(tree_.path().c_str(), 0755);
    tree_.directory("workspace/.perstack");
    for (const char* file : {"outside/secret", "outside/tool/bin/plain", "outside/tool/lib/library",
                             "outside/tool/secret", "outside/loose/file", "home/secret"}) {
      tree_.directory(std::filesystem::path(file).parent_path().string());
      tree_.file(file, "#!/bin/sh\necho ran\n");
      ::chmod((tree_ / file).c_str(), 0755);
    }
    workspace_ = ::open((tree_ / "workspace").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  }
  ~VisiblePaths() override { ::close(workspace_); }

  void SetUp() override {
    const auto report = probe_confinement({}, PADDOCK_TEST_HELPER);
    if (!report || !report->complete()) GTEST_SKIP() << "a layer is unavailable";
  }

  [[nodiscard]] command in_workspace(const std::string& script) const {
    auto asked = shell(script);
    asked.confinement = {};
    asked.confinement.search_path = "/usr/bin:/bin";
    asked.confinement.home = tree_ / "home";
    asked.working_directory = asked.workspace = workspace_;
    return asked;
  }
  /// What the script prints.
  [[nodiscard]] static std::string output(const command& asked) {
    const auto r = run(asked);
    return r ? r->out.text() : "not run: " + std::string(wire_name(r.error().code));
  }
  /// The names among these, in the test's directory, that can be read in a command.
  [[nodiscard]] std::string readable(command asked, const std::vector<std::string>& names) const {
    asked.argv = {"sh", "-c",
                  "for f; do test -r \"$f\" && echo \"${f#" + tree_.path() + "/}\"; done", "sh"};
    for (const std::string& name : names)
      asked.argv.push_back(tree_ / name);
    std::string found = output(asked);
    std::ranges::replace(found, '\n', ' ');
    return found;
  }

  /// What a command is told, on a machine that may lack something.
  [[nodiscard]] std::string tell(command asked, machine kind) const {
    return told_by([&] {
      become(kind);
      const auto r = run(asked);
      const auto& layer =
          (r ? r->confinement : r.error().confinement).of(confinement_layer::file_system);
      std::string text = r ? "ran: " + r->out.text() : std::string(wire_name(r.error().code));
      text += layer.applied ? " applied" : " missing: " + layer.missing;
      return text;
    });
  }

  int workspace_ = -1;
};

const std::vector<std::string> everything = {"outside/secret",           "outside/tool/bin/plain",
                                             "outside/tool/lib/library", "outside/tool/secret",
                                             "outside/loose/file",       "home/secret"};

TEST_F(VisiblePaths, TheCommandsEnvironmentShowsNothing) {
  tree_.link("workspace/link", tree_ / "outside");
  const std::string t = tree_.path();
  const struct {
    const char* name;
    std::string path;
    std::string home;
  } cases[] = {
      {"a directory", t + "/outside", t + "/home"},
      {"programs", t + "/outside/tool/bin", t + "/home"},
      {"with dots", "/usr/../" + t + "/outside", t + "/home"},
      {"by a link in the workspace", t + "/workspace/link", t + "/home"},
      {"below such a link", t + "/workspace/link/tool/bin", t + "/home"},
      {"the system's configuration", "/etc", t + "/home"},
      {"home outside", "", t + "/outside"},
      {"home in a protected entry", "", t + "/workspace/.perstack/x/y"},
      {"the same with dots", "", "/usr/.." + t + "/workspace/.perstack/x/y"},
      {"the same by a link", "", t + "/workspace/link/../workspace/.perstack/x/y"},
      {"no home at all", "", "/"},
  };
  const std::string usual = readable(in_workspace(""), everything);
  EXPECT_EQ(usual, "");
  const std::string listing =
      "ls -a / /etc /usr " + t + " " + t + "/workspace 2>&1; ls " + t + "/outside 2>&1";
  const std::string seen = output(in_workspace(listing));
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    auto asked = in_workspace(listing);
    asked.environment = {"PATH=/usr/bin:/bin:" + c.path, "HOME=" + c.home};
    EXPECT_EQ(output(asked), seen);
    EXPECT_EQ(readable(asked, everything), "");
    EXPECT_FALSE(tree_.exists("workspace/.perstack/x"));
  }
  // The control: what the policy says is seen.
  auto asked = in_workspace(listing);
  asked.confinement.search_path += ":" + t + "/outside";
  EXPECT_NE(output(asked), seen);
  EXPECT_THAT(readable(asked, everything), HasSubstr("outside/secret"));
}

TEST_F(VisiblePaths, TheSearchPathShowsPrograms) {
  const std::string t = tree_.path();
  tree_.link("workspace/link", tree_ / "outside");
  tree_.link("outside/tool/link", tree_ / "workspace/link");
  tree_.link("alias", tree_ / "outside/tool/bin");
  tree_.link("chain", tree_ / "workspace/link");
  tree_.directory("extra");
  tree_.link("extra/link", tree_ / "outside");
  const std::string tool = "outside/tool/bin/plain outside/tool/lib/library ";
  const struct {
    const char* name;
    std::string search_path;
    bool extra; ///< whether the directory of that name may be changed
    std::string shown;
  } cases[] = {
      {"nothing", "", false, ""},
      {"what lies beside programs", t + "/outside/tool/bin", false, tool},
      {"with a slash at the end", t + "/outside/tool/bin/", false, tool},
      {"with dots", t + "/workspace/../outside/tool/bin", false, tool},
      {"by a link", t + "/alias", false, tool},
      {"another directory", t + "/outside/loose", false, "outside/loose/file "},
      {"a file", t + "/outside/secret", false, ""},
      {"below a file", t + "/outside/secret/bin", false, ""},
      {"that is not there", t + "/absent/bin", false, ""},
      {"relative", "outside/tool/bin:.:..:", false, ""},
      {"home", t + "/home", false, ""},
      {"above home", t, false, ""},
      {"the root directory", "/:/..://", false, ""},
      {"by a link in the workspace", t + "/workspace/link", false, ""},
      {"below a link in the workspace", t + "/workspace/link/tool/bin", false, ""},
      {"by a link to such a link", t + "/chain", false, ""},
      {"below a link to such a link", t + "/outside/tool/link/tool/bin", false, ""},
      {"by a link elsewhere", t + "/extra/link/tool/bin", false, tool},
      {"the same where it may be changed", t + "/extra/link/tool/bin", true, ""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    auto asked = in_workspace("");
    asked.confinement.search_path = "/usr/bin:" + c.search_path;
    if (c.extra) asked.confinement.write_paths = {tree_ / "extra"};
    EXPECT_EQ(readable(asked, everything), c.shown);
  }
}

TEST_F(VisiblePaths, AWritableDirectoryOfTheSearchPathShowsNothingElse) {
  auto asked = in_workspace("");
  asked.confinement.search_path = "/usr/bin:" + tree_ / "outside/tool/bin";
  EXPECT_EQ(readable(asked, everything), "outside/tool/bin/plain outside/tool/lib/library ");
  asked.confinement.write_paths = {tree_ / "outside/tool/bin"};
  EXPECT_EQ(readable(asked, everything), "outside/tool/bin/plain ");
}

TEST_F(VisiblePaths, AProgramThatIsALinkToElsewhereRuns) {
  tree_.directory("bin");
  tree_.link("bin/plain", tree_ / "outside/tool/bin/plain");
  tree_.link("bin/loose", tree_ / "outside/loose/file");
  tree_.link("workspace/link", tree_ / "outside/loose/file");
  tree_.link("bin/misled", tree_ / "workspace/link");
  const struct {
    const char* program;
    std::string output;
  } cases[] = {{"plain", "ran\n"},
               {"loose", "ran\n"},
               {"misled", "not run: not_found"},
               {"..", "not run: permission_denied"},
               {".", "not run: permission_denied"},
               {"absent", "not run: not_found"}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.program);
    auto asked = in_workspace("");
    asked.argv = {c.program};
    asked.environment = {"PATH=/usr/bin:" + tree_ / "bin"};
    asked.confinement.search_path = "/usr/bin:" + tree_ / "bin";
    EXPECT_EQ(output(asked), c.output);
    // The command's own search path does not lead anywhere else.
    asked.confinement.search_path = "/usr/bin";
    EXPECT_THAT(output(asked), testing::StartsWith("not run"));
  }
}

TEST_F(VisiblePaths, TheWorkspaceHasNoSecondName) {
  tree_.file("workspace/.perstack/secret", "secret");
  tree_.link("alias", tree_ / "workspace");
  tree_.link("other", tree_ / "outside/loose");
  auto asked = in_workspace("");
  asked.confinement.read_paths = {tree_ / "alias", tree_ / "other"};
  const std::vector<std::string> names = {"alias/.perstack/secret", "other/file"};
  EXPECT_EQ(readable(asked, names), "other/file ");
  asked.confinement.write_paths = std::exchange(asked.confinement.read_paths, {});
  EXPECT_EQ(readable(asked, names), "other/file ");
}

TEST_F(VisiblePaths, HomeIsEmptyWhateverItIs) {
  const std::string t = tree_.path();
  tree_.link("home-link", tree_ / "home");
  tree_.directory("workspace/inner");
  tree_.file("workspace/file");
  tree_.file("workspace/inner/file");
  tree_.link("workspace/home-link", tree_ / "home");
  const struct {
    const char* name;
    std::string home;
    std::string listing; ///< of the home directory
  } cases[] = {
      {"usual", t + "/home", ""},
      {"a link", t + "/home-link", ""},
      {"with dots", t + "/workspace/../home/.", ""},
      {"a slash at the end", t + "/home/", ""},
      {"not there", t + "/absent/home", ""},
      {"the workspace", t + "/workspace", "file\nhome-link\ninner\n"},
      {"above the workspace", t, "workspace\n"},
      {"in the workspace", t + "/workspace/inner", "file\n"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    auto asked = in_workspace("ls \"$HOME/\" && touch \"$HOME/.written\" && rm \"$HOME/.written\"");
    asked.environment.push_back("HOME=" + c.home);
    asked.confinement.home = c.home;
    const auto r = run(asked);
    ASSERT_THAT(r, IsOk());
    EXPECT_EQ(r->exit_code, 0) << r->err.text();
    EXPECT_EQ(r->out.text(), c.listing);
    EXPECT_FALSE(tree_.exists("absent"));
  }
  for (const char* none : {"", "/", "//", "relative", "/..", "/dev/null"}) {
    SCOPED_TRACE(none);
    auto asked = in_workspace("test -c /dev/null && echo fine");
    asked.confinement.home = none;
    EXPECT_EQ(output(asked), "fine\n");
  }
  auto asked = in_workspace("ls " + t + "/home; echo fine");
  asked.confinement.home = t + "/workspace/home-link"; // somebody else decides what that is
  EXPECT_EQ(output(asked), "fine\n");
}

TEST_F(VisiblePaths, ThePolicyStartsWithTheEnvironmentOfThisProcess) {
  const confinement_policy policy;
  const char* path = std::getenv("PATH");
  const char* home = std::getenv("HOME");
  EXPECT_EQ(policy.search_path, path == nullptr ? "" : path);
  EXPECT_EQ(policy.home, home == nullptr ? "" : home);
  EXPECT_EQ(process_variable("PADDOCK_NO_SUCH_VARIABLE"), "");
  EXPECT_EQ(process_variable("PAT"), "");
  for (std::string confinement_policy::* member :
       {&confinement_policy::search_path, &confinement_policy::home}) {
    auto asked = in_workspace("");
    asked.confinement.*member = std::string("/a\0/b", 5);
    EXPECT_EQ(output(asked), "not run: invalid_argument");
  }
}

// --- paths that cannot be had -------------------------------------------------------------------

/// home/cache is a cache; beside it lies what is nobody's business.
class CachePaths : public VisiblePaths {
protected:
  CachePaths() {
    for (const char* file : {"home/cache/old", "home/cache/deep/er"}) {
      tree_.directory(std::filesystem::path(file).parent_path().string());
      tree_.file(file, "fetched\n");
    }
    ::chmod((tree_ / "home").c_str(), 0755);
  }
  [[nodiscard]] command with_cache(const std::string& script) const {
    auto asked = in_workspace("cd " + tree_ / "home/cache" + " && " + script);
    asked.confinement.cache_paths = {tree_ / "home/cache"};
    return asked;
  }
};

TEST_F(CachePaths, AreReadAndNothingElse) {
  const std::vector<std::string> names = {"home/cache/old", "home/cache/deep/er", "home/secret"};
  EXPECT_EQ(readable(with_cache(""), names), "home/cache/old home/cache/deep/er ");
  EXPECT_EQ(readable(in_workspace(""), names), ""); // the control
}

TEST_F(CachePaths, AreTheCommandsOwnCopy) {
  const std::string attack =
      "echo new > old; rm deep/er; rmdir deep; mkdir deep; echo made > made; ln made linked; "
      "mv made moved; chmod 777 .; cat old moved linked; ls deep | wc -l";
  const std::string told = output(with_cache(attack));
  // Where an overlay cannot be had, nothing of it can be changed.
  EXPECT_THAT(told, testing::AnyOf("new\nmade\nmade\n0\n", "fetched\n1\n"));
  EXPECT_EQ(tree_.content("home/cache/old"), "fetched\n");
  EXPECT_EQ(tree_.content("home/cache/deep/er"), "fetched\n");
  EXPECT_FALSE(tree_.exists("home/cache/made"));
  EXPECT_FALSE(tree_.exists("home/cache/moved"));
  EXPECT_EQ(output(with_cache("cat old deep/er")), "fetched\nfetched\n"); // of the next one, too
}

TEST_F(CachePaths, LeadNowhere) {
  tree_.link("home/cache/link", tree_ / "outside/secret");
  tree_.link("home/cache/up", "../secret");
  const auto asked =
      with_cache("for f in link up deep/../../secret; do cat $f 2>/dev/null; done; cat old");
  EXPECT_EQ(output(asked), "fetched\n");
  EXPECT_EQ(tree_.content("home/cache/link"), tree_.content("outside/secret")); // the control
  EXPECT_EQ(output(with_cache("ln old $OLDPWD/old; cat old")), "fetched\n");
  EXPECT_FALSE(tree_.exists("workspace/old")); // no link to a file of the cache
}

TEST_F(CachePaths, DoNotUncoverWhatTheWorkspaceProtects) {
  tree_.file("workspace/.perstack/kept", "hidden");
  auto asked = in_workspace("cat .perstack/kept " + tree_ / "workspace/.perstack/kept");
  asked.confinement.cache_paths = {tree_.path(), tree_ / "workspace",
                                   tree_ / "workspace/.perstack"};
  EXPECT_EQ(output(asked), "");
  EXPECT_EQ(tree_.content("workspace/.perstack/kept"), "hidden");
}

TEST_F(CachePaths, ThatAreGoneAreNone) {
  auto asked = with_cache("cat old");
  asked.confinement.cache_paths.push_back(tree_ / "home/gone");
  asked.confinement.cache_paths.push_back(tree_ / "home/secret"); // no directory
  EXPECT_EQ(output(asked), "fetched\n");
  asked.confinement.cache_paths.emplace_back("relative");
  EXPECT_EQ(output(asked), "not run: invalid_argument");
}

TEST_F(CachePaths, AreOnlyReadWhereThereIsNoOverlay) {
  const auto asked = with_cache("cat old; echo new > old; echo new > made");
  for (const machine kind : {machine::without_namespaces, machine::without_mount_attributes})
    EXPECT_EQ(tell(asked, kind), "ran: fetched\n applied");
  EXPECT_EQ(tree_.content("home/cache/old"), "fetched\n");
  EXPECT_FALSE(tree_.exists("home/cache/made"));
}

class UnreachablePath : public VisiblePaths {};

TEST_F(UnreachablePath, TakesTheLayerAway) {
  tree_.link("dangling", tree_ / "nowhere");
  tree_.link("loop", "loop");
  tree_.link("workspace/link", tree_ / "outside");
  tree_.link("misled", tree_ / "workspace/link");
  const struct {
    const char* path;
    const char* why; ///< null: it can be had
  } cases[] = {
      {"absent", "No such file or directory"},     {"dangling", "No such file or directory"},
      {"outside/secret/below", "Not a directory"}, {"loop", "Too many levels of symbolic links"},
      {"misled", "Operation not permitted"},       {"outside", nullptr}};
  for (const auto kind : {machine::whole, machine::without_namespaces})
    for (const bool writes : {false, true})
      for (const auto& c : cases) {
        SCOPED_TRACE(std::string(c.path) + (writes ? " written" : " read") +
                     (kind == machine::whole ? "" : " without namespaces"));
        auto asked = in_workspace("cat " + tree_ / "home/secret" + " 2>/dev/null || echo denied");
        const std::string path = tree_ / c.path;
        (writes ? asked.confinement.write_paths : asked.confinement.read_paths) = {path};
        const std::string required = tell(asked, kind);
        if (c.why == nullptr) {
          EXPECT_EQ(required, "ran: denied\n applied");
          continue;
        }
        EXPECT_EQ(required, "confinement_unavailable missing: path " + path + ": " + c.why);
        // Nothing is given up for it: the rest holds.
        asked.confinement.file_system = demand::best_effort;
        EXPECT_EQ(tell(asked, kind), "ran: denied\n missing: path " + path + ": " + c.why);
      }
}

TEST_F(UnreachablePath, IsFoundByTheProbe) {
  tree_.file("workspace/.perstack/kept");
  confinement_policy policy;
  policy.read_paths = {tree_ / "outside"};
  const auto fine = probe_confinement(policy, PADDOCK_TEST_HELPER, workspace_);
  ASSERT_THAT(fine, IsOk());
  EXPECT_TRUE(fine->complete()) << fine->of(confinement_layer::file_system).missing;
  policy.read_paths.push_back(tree_ / "absent");
  const auto lost = probe_confinement(policy, PADDOCK_TEST_HELPER, workspace_);
  ASSERT_THAT(lost, IsOk());
  EXPECT_EQ(lost->unmet(),
            " file_system (path " + tree_ / "absent" + ": No such file or directory)");
  policy.read_paths = {"/tmp"}; // there is still a place outside to try
  const auto elsewhere = probe_confinement(policy, PADDOCK_TEST_HELPER, workspace_);
  ASSERT_THAT(elsewhere, IsOk());
  EXPECT_TRUE(elsewhere->satisfied()) << elsewhere->unmet();
  EXPECT_TRUE(tree_.exists("workspace/.perstack/kept"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(tree_ / "workspace"), {}), 1);
}

TEST_F(UnreachablePath, IsNoneInWhatCanBeChangedAnyway) {
  auto asked = in_workspace("echo fine");
  asked.confinement.read_paths = {tree_ / "workspace/absent"};
  asked.confinement.write_paths = {tree_ / "workspace", tree_ / "workspace/gone"};
  EXPECT_EQ(output(asked), "fine\n");
}

TEST_F(UnreachablePath, IsOneThatThisUserMayNotPass) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may pass everywhere";
  ASSERT_EQ(0, ::chmod((tree_ / "outside/loose").c_str(), 0));
  auto asked = in_workspace("true");
  asked.confinement.read_paths = {tree_ / "outside/loose/file"};
  EXPECT_THAT(tell(asked, machine::whole), HasSubstr("Permission denied"));
  ASSERT_EQ(0, ::chmod((tree_ / "outside/loose").c_str(), 0755));
}

TEST_F(UnreachablePath, ThereMayNotBeTooMany) {
  auto asked = in_workspace("true");
  tree_.directory("many");
  for (int i = 0; i < 600; ++i) {
    const std::string name = "many/" + std::to_string(i);
    tree_.file(name);
    asked.confinement.read_paths.push_back(tree_ / name);
  }
  EXPECT_THAT(tell(asked, machine::whole), HasSubstr("confinement_unavailable missing: path"));
}

} // namespace
} // namespace paddock::test
