// SPDX-License-Identifier: MIT

// Many adapters on one workspace, all alive at once, changing the same files: nobody ever sees a
// torn file, no adapter loses an update to itself, and none leaves anything behind. What one
// adapter writes may be overtaken by another that had read the file before; that is counted.
//
// PADDOCK_LOAD_ADAPTERS makes the everyday number a campaign.

#include "support/files/temp_tree.hpp"
#include "support/load/line_peer.hpp"
#include "support/mcp/request_lines.hpp"

#include <sys/resource.h>

namespace paddock {
namespace {

constexpr std::size_t shared_files = 2; // few, so that adapters meet
constexpr unsigned own_edits = 4;       // of one round, all in flight at once

/// A line that shows whether it is whole.
std::string line_of(std::size_t adapter, std::size_t version) {
  std::string text = "adapter " + std::to_string(adapter) + " version " + std::to_string(version);
  text.append(version % 50, '.');
  return text + " #" + std::to_string(std::hash<std::string>{}(text)) + "\n";
}

/// The versions of the lines of `content` by adapter; what is wrong with it otherwise.
std::string read_versions(std::string_view content, std::vector<std::size_t>& versions) {
  versions.clear();
  while (!content.empty()) {
    const auto end = content.find('\n');
    if (end == std::string_view::npos) return "a line without end: " + std::string(content);
    const std::string line(content.substr(0, end + 1));
    content.remove_prefix(end + 1);
    std::size_t adapter = 0, version = 0;
    if (std::sscanf(line.c_str(), "adapter %zu version %zu", &adapter, &version) != 2 ||
        line != line_of(adapter, version))
      return "a torn line: " + line;
    versions.push_back(version);
    if (adapter + 1 != versions.size()) return "a line at the wrong place: " + line;
  }
  return {};
}

class member {
public:
  member(const std::string& workspace, std::size_t number, std::size_t members)
      : program(workspace, {"--exec", "off"}), number_(number), members_(members) {
    ask("healthCheck", "{}",
        [](mcp::json_view result) { return result["status"].string() == "ok"; });
  }

  [[nodiscard]] bool idle() const { return expected_.empty(); }
  [[nodiscard]] std::size_t overtaken() const { return overtaken_; }
  [[nodiscard]] std::size_t conflicts() const { return conflicts_; }
  [[nodiscard]] std::string own_file() const { return "own-" + std::to_string(number_); }

  void take_answers() {
    while (const auto line = program.peer.take())
      answer(*line);
    if (program.peer.ended()) ADD_FAILURE() << "adapter " << number_ << " ended";
  }

  [[nodiscard]] std::size_t rounds() const { return rounds_; }
  void start_round() {
    const std::string file = "shared-" + std::to_string((++rounds_ + number_) % shared_files);
    ask("readTextFile", R"({"path":")" + file + R"("})", [this, file](mcp::json_view result) {
      const std::string wrong =
          read_versions(result["content"].string().value_or("not read"), versions_);
      EXPECT_EQ("", wrong) << file;
      EXPECT_EQ(members_, versions_.size()) << file;
      if (!wrong.empty() || versions_.size() != members_) return false;
      change(file, versions_[number_]);
      return true;
    });
  }

  test::adapter_program program;

private:
  using judge = std::function<bool(mcp::json_view)>;

  void ask(std::string_view tool, const std::string& arguments, judge right) {
    const auto e = number_ % 2 == 0 ? test::era::modern : test::era::legacy;
    const std::string id = std::to_string(++last_id_);
    program.peer.put(test::call_line(e, id, tool, arguments));
    expected_.emplace(id, std::move(right));
  }

  void answer(std::string_view line) {
    const auto parsed = document_.parse(line);
    ASSERT_TRUE(parsed) << line;
    const auto found = expected_.find((*parsed)["id"].text());
    ASSERT_NE(expected_.end(), found) << line;
    const judge right = std::move(found->second);
    expected_.erase(found);
    const auto result = (*parsed)["result"];
    std::string text;
    result["content"].for_each_element(
        [&](mcp::json_view block) { text = block["text"].string().value_or(""); });
    const auto value = text_.parse(text);
    ASSERT_TRUE(value) << line;
    EXPECT_TRUE(right(*value)) << line;
  }

  /// Its line of a file that all change, a line in a log, and several at once in a file of its own.
  void change(const std::string& file, std::size_t version) {
    ask("editTextFile",
        R"({"path":")" + file + R"(","oldText":)" + test::json_string(line_of(number_, version)) +
            R"(,"newText":)" + test::json_string(line_of(number_, rounds_)) + "}",
        [this](mcp::json_view result) {
          const auto error = result["error"].string().value_or("");
          overtaken_ += error == "no_match" ? 1U : 0U; // somebody put the older line back
          conflicts_ += error == "conflict" ? 1U : 0U;
          return error.empty() || error == "no_match" || error == "conflict";
        });
    const auto succeeds = [](mcp::json_view result) { return !result["error"].exists(); };
    ask("appendTextFile",
        R"({"path":"log","text":)" + test::json_string(line_of(number_, rounds_)) + "}", succeeds);
    for (unsigned i = 0; i < own_edits; ++i)
      ask("editTextFile",
          R"({"path":")" + own_file() + R"(","oldText":"count:","newText":"count:x"})", succeeds);
  }

  std::size_t number_;
  std::size_t members_;
  std::size_t rounds_ = 0;
  std::size_t overtaken_ = 0;
  std::size_t conflicts_ = 0;
  std::size_t last_id_ = 0;
  std::map<std::string, judge> expected_;
  std::vector<std::size_t> versions_;
  mcp::json_document document_;
  mcp::json_document text_;
};

class adapters : public testing::Test {
protected:
  using clock = std::chrono::steady_clock;

  void run(std::size_t count, std::size_t rounds) {
    if (!enough_descriptors(4 * count + 64)) GTEST_SKIP() << "too few descriptors are allowed";
    build(count);
    const auto began = clock::now();
    start(count);
    const auto started = clock::now();
    wait_for_all(rounds);
    const std::chrono::duration<double> spent = clock::now() - started;
    const std::chrono::duration<double> starting = started - began;
    report(rounds, starting.count(), spent.count());
    end();
    if (!HasFailure()) judge(count, rounds);
  }

private:
  static bool enough_descriptors(std::size_t wanted) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, std::max<rlim_t>(limit.rlim_cur, wanted));
    return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur >= wanted;
  }

  void build(std::size_t count) {
    std::string all;
    for (std::size_t n = 0; n < count; ++n) {
      all += line_of(n, 0);
      tree.file("own-" + std::to_string(n), "count:\n");
    }
    for (std::size_t n = 0; n < shared_files; ++n)
      tree.file("shared-" + std::to_string(n), all);
    tree.file("log");
  }

  /// Not all at once: the machine is to be loaded by their work, not by their birth.
  void start(std::size_t count) {
    constexpr std::size_t at_once = 32;
    while (members.size() < count && !HasFailure()) {
      const std::size_t wanted = std::min(count, members.size() + at_once);
      while (members.size() < wanted)
        members.push_back(std::make_unique<member>(tree.path(), members.size(), count));
      wait_for_all(0);
    }
  }

  /// Until all have done so many rounds, each at its own pace.
  void wait_for_all(std::size_t rounds) {
    std::vector<pollfd> entries;
    while (!HasFailure()) {
      entries.clear();
      bool busy = false;
      for (const auto& m : members) {
        if (m->idle() && m->rounds() < rounds) m->start_round();
        busy = busy || !m->idle();
        entries.push_back(m->program.peer.wants_to_write());
        entries.push_back(m->program.peer.wants_to_read());
      }
      if (!busy) return;
      if (::poll(entries.data(), entries.size(), test::silence_ms) <= 0) FAIL() << "nothing moves";
      for (std::size_t n = 0; n < members.size(); ++n) {
        if (entries[2 * n].revents != 0) members[n]->program.peer.write_some();
        if (entries[2 * n + 1].revents == 0) continue;
        members[n]->program.peer.read_some();
        members[n]->take_answers();
      }
    }
  }

  void report(std::size_t rounds, double starting, double spent) const {
    std::size_t overtaken = 0, conflicts = 0, resident = 0;
    for (const auto& m : members) {
      overtaken += m->overtaken();
      conflicts += m->conflicts();
      resident += m->program.view().resident_kib();
    }
    const std::size_t changes = rounds * members.size() * (own_edits + 2);
    std::printf(
        "[ adapters ] %zu alive at once, started in %.1f s; %zu changes in %.1f s (%.0f/s); "
        "%zu edits overtaken by another adapter, %zu refused as conflicts; %zu KiB resident "
        "each on average\n",
        members.size(), starting, changes, spent, static_cast<double>(changes) / spent, overtaken,
        conflicts, resident / std::max<std::size_t>(members.size(), 1));
  }

  void end() {
    for (const auto& m : members)
      m->program.peer.close_input();
    for (const auto& m : members)
      EXPECT_EQ(0, m->program.exit_code());
  }

  void judge(std::size_t count, std::size_t rounds) {
    std::vector<std::size_t> versions;
    for (std::size_t n = 0; n < shared_files; ++n) {
      EXPECT_EQ("", read_versions(tree.content("shared-" + std::to_string(n)), versions));
      EXPECT_EQ(count, versions.size());
    }
    std::map<std::string, std::size_t> logged;
    std::string line;
    std::istringstream log(tree.content("log"));
    while (std::getline(log, line))
      ++logged[line + "\n"];
    EXPECT_EQ(count * rounds, logged.size());
    const std::string own = "count:" + std::string(rounds * own_edits, 'x') + "\n";
    for (std::size_t n = 0; n < count; ++n) {
      EXPECT_EQ(own, tree.content(members[n]->own_file()));
      for (std::size_t round = 1; round <= rounds; ++round)
        EXPECT_EQ(1U, logged[line_of(n, round)]) << "adapter " << n << ", round " << round;
    }
    for (const auto& entry : std::filesystem::directory_iterator(tree.path()))
      EXPECT_FALSE(entry.path().filename().string().starts_with(".paddock-")) << entry.path();
  }

  test::temp_tree tree;
  std::vector<std::unique_ptr<member>> members;
};

TEST_F(adapters, many_on_one_workspace_tear_nothing) {
  run(test::number_from_environment("PADDOCK_LOAD_ADAPTERS", 16), 20);
}

TEST(adapters_control, torn_lines_are_noticed) {
  std::vector<std::size_t> versions;
  const std::string whole = line_of(0, 1) + line_of(1, 7);
  EXPECT_EQ("", read_versions(whole, versions));
  EXPECT_EQ((std::vector<std::size_t>{1, 7}), versions);
  for (std::size_t size = 1; size < whole.size(); ++size)
    EXPECT_TRUE(!read_versions(whole.substr(0, size), versions).empty() || versions.size() == 1);
  EXPECT_NE("", read_versions(line_of(1, 7) + line_of(0, 1), versions));
  EXPECT_NE("", read_versions("adapter 0 version 1 #1\n", versions));
}

} // namespace
} // namespace paddock
