// SPDX-License-Identifier: MIT

// What changes files as a patch in the hands of a person, who runs `paddock apply`; the rest
// through the library.

#include "performers.hpp"

#include <paddock/mcp/json.hpp>

namespace paddock::test::corpus {
namespace {

std::string patch_for(const request& asked) {
  const std::string begin = "*** Begin Patch\n", end = "*** End Patch\n";
  if (asked.what == action::write)
    return begin + "*** Add File: " + asked.path + "\n+" + asked.other + '\n' + end;
  if (asked.what == action::remove_file)
    return begin + "*** Delete File: " + asked.path + '\n' + end;
  if (asked.what == action::edit)
    return "--- a/" + asked.path + "\n+++ b/" + asked.path +
           "\n@@ -1 +1 @@\n-inside\n\\ No newline at end of file\n+changed\n";
  return "diff --git a/" + asked.path + " b/" + asked.other +
         "\nsimilarity index 100%\nrename from " + asked.path + "\nrename to " + asked.other + '\n';
}

/// Everything that the program writes, and how it ends.
struct run_end {
  std::string output;
  int status = -1;
};

run_end run_apply(const std::string& workspace, const std::string& patch) {
  std::array<int, 2> to{}, from{};
  if (::pipe(to.data()) != 0 || ::pipe(from.data()) != 0) std::abort();
  const std::string history = std::filesystem::path(workspace).parent_path() / "history";
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(to[0], STDIN_FILENO);
    ::dup2(from[1], STDOUT_FILENO);
    ::dup2(from[1], STDERR_FILENO);
    for (const int fd : {to[0], to[1], from[0], from[1]})
      ::close(fd);
    ::execl(PADDOCK_TEST_PROGRAM, PADDOCK_TEST_PROGRAM, "apply", "--json", "--workspace",
            workspace.c_str(), "--history", history.c_str(), "-", nullptr);
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  // It reads all before it writes more than a pipe holds.
  for (std::string_view rest = patch; !rest.empty();) {
    const ssize_t n = ::write(to[1], rest.data(), rest.size());
    if (n < 0) break;
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  ::close(to[1]);
  run_end end;
  std::array<char, 4096> buffer;
  for (ssize_t n = 0; (n = ::read(from[0], buffer.data(), buffer.size())) > 0;)
    end.output.append(buffer.data(), static_cast<std::size_t>(n));
  ::close(from[0]);
  EXPECT_EQ(pid, ::waitpid(pid, &end.status, 0));
  return end;
}

class apply final : public performer {
public:
  apply(std::string workspace, workspaces of)
      : workspace_(std::move(workspace)), rest_(through_library(std::move(of))) {
    (void)std::signal(SIGPIPE, SIG_IGN); // a program that has refused reads no further
  }

  answer perform(const request& asked) override {
    if (!changes_a_file(asked.what) || asked.mounted != mounts::enter) return rest_->perform(asked);
    const auto [output, status] = run_apply(workspace_, patch_for(asked));
    answer a{.code = {}, .text = {}, .raw = output};
    const bool is_orderly = WIFEXITED(status) && WEXITSTATUS(status) <= 2;
    EXPECT_TRUE(is_orderly) << status << ": " << output;
    if (status != 0) a.code = error_code::invalid_argument;
    return a;
  }

private:
  std::string workspace_;
  std::unique_ptr<performer> rest_;
};

} // namespace

/// The control: one that refuses everything would come through every row.
TEST(ThroughApply, AnHonestPatchIsApplied) {
  const std::string top = testing::TempDir() + "through_apply." + std::to_string(::getpid());
  const std::string workspace = top + "/workspace";
  std::filesystem::create_directories(workspace);
  const auto [output, status] =
      run_apply(workspace, patch_for({.what = action::write, .path = "f", .other = "text"}));
  EXPECT_EQ(status, 0) << output;
  EXPECT_TRUE(std::filesystem::exists(workspace + "/f"));
  std::filesystem::remove_all(top);
}

std::unique_ptr<performer> through_apply(const std::string& workspace, workspaces of) {
  return std::make_unique<apply>(workspace, std::move(of));
}

} // namespace paddock::test::corpus
