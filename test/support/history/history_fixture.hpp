// SPDX-License-Identifier: MIT
#pragma once

// A workspace, a directory for its history beside it, and what is compared of the workspace.

#include "support/files/temp_tree.hpp"
#include "support/matchers.hpp"

#include <paddock/history/history.hpp>

namespace paddock::test {

/// Every entry with kind, mode, time of change, and content or target: what a restore brings back.
inline std::string describe_entries(const std::string& top) {
  std::vector<std::string> rows;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(top, ignored)) {
    struct stat s{};
    if (::lstat(entry.path().c_str(), &s) != 0) continue;
    std::string row = entry.path().string().substr(top.size());
    row += " mode " + std::to_string(S_ISLNK(s.st_mode) ? S_IFLNK : s.st_mode);
    row += " time " + std::to_string(s.st_mtim.tv_sec) + '.' + std::to_string(s.st_mtim.tv_nsec);
    if (S_ISREG(s.st_mode)) {
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), {}};
      const bool is_short = bytes.size() <= 100 && bytes.find('\0') == std::string::npos;
      row += is_short ? ' ' + bytes : " sum " + std::to_string(std::hash<std::string>()(bytes));
    } else if (S_ISLNK(s.st_mode)) {
      row += " -> " + std::filesystem::read_symlink(entry.path()).string();
    }
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end());
  std::string all;
  for (const auto& row : rows)
    all += row + '\n';
  return all;
}

class history_fixture : public testing::Test {
protected:
  void SetUp() override {
    if (!history::have_history()) GTEST_SKIP() << "built without xxHash";
  }
  history_fixture() {
    tree.directory("ws");
    tree.directory("state");
    EXPECT_EQ(::chmod(state_directory().c_str(), 0700), 0);
  }

  [[nodiscard]] std::string workspace() const { return tree.path() + "/ws"; }
  [[nodiscard]] std::string state_directory() const { return tree.path() + "/state"; }
  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(
        std::filesystem::path(workspace() + '/' + name).parent_path());
    tree.file("ws/" + name, bytes);
  }

  [[nodiscard]] std::shared_ptr<history::store>
  open(history::options how = {}, history::session by = history::session::serve) const {
    how.directory = state_directory();
    auto where = root::open(workspace(), root_rules);
    EXPECT_THAT(where, IsOk());
    if (!where) return nullptr;
    auto made = history::store::open(std::make_shared<const root>(*std::move(where)), how, by);
    EXPECT_THAT(made, IsOk());
    return made ? *made : nullptr;
  }
  /// Opened and read in.
  [[nodiscard]] std::shared_ptr<history::store> begun(history::options how = {}) const {
    auto made = open(std::move(how));
    if (made) {
      EXPECT_THAT(made->read_in(), IsOk());
    }
    return made;
  }

  /// When the workspace has these files.
  [[nodiscard]] std::shared_ptr<history::store>
  begun_with(const std::vector<std::pair<std::string, std::string>>& files) const {
    for (const auto& [path, text] : files)
      write(path, text);
    return begun();
  }

  /// Runs a command of a shell in the workspace, recorded.
  void run(history::store& in, const std::string& command) const {
    auto recording = in.before_command("exec", command);
    shell(command);
    EXPECT_EQ(recording.finish(), "");
  }
  /// What a restore has brought, without a conflict; `when` is told where it has not.
  static result<history::restore_outcome, detailed_error>
  restored(history::store& in, const history::restore_request& asked = {}, std::size_t when = 0) {
    auto back = in.restore(asked);
    EXPECT_THAT(back, IsOk()) << when;
    if (!back) return history::restore_outcome{};
    for (const auto& each : back->conflicts)
      ADD_FAILURE() << each.path << ": " << each.reason << " at " << when;
    return back;
  }
  /// Runs it as a person would.
  void shell(const std::string& command) const {
    const std::string line = "cd '" + workspace() + "' && " + command;
    EXPECT_EQ(std::system(line.c_str()), 0) << command;
  }
  [[nodiscard]] std::string now() const { return describe_entries(workspace()); }

  /// "created a; modified b; …"
  static std::string told(const result<history::change_list>& list) {
    if (!list) return "error " + std::string(wire_name(list.error().code));
    std::string text;
    for (const history::change& each : list->changes) {
      text += std::string(history::name_of(each.kind)) + ' ' + each.path;
      if (!each.from.empty()) text += " from " + each.from;
      if (each.files != 1) text += " (" + std::to_string(each.files) + ')';
      text += " by " + std::string(history::name_of(each.by)) + "; ";
    }
    return text;
  }

  temp_tree tree;
  root_options root_rules; ///< that the workspace is opened with
};

} // namespace paddock::test
