// SPDX-License-Identifier: MIT

// What is published and what is removed is what was made and what was looked at: whichever
// directory gets the name of the skill, or the hidden one, at whichever system call.

#include "support/campaign.hpp"
#include "support/fault/faulty_sys.hpp"
#include "support/files/skill_fixture.hpp"

#include <linux/fs.h>

namespace paddock {
namespace {

namespace fs = std::filesystem;

enum class exchanged : unsigned char { hidden, published };

struct operation {
  const char* name;
  std::function<bool(const skill_store&, const std::string& folder)> run;
  bool has_old = true;
  const char* after = "new"; ///< in the skill's text, when it was done
};

const operation operations[] = {
    {"add",
     [](const skill_store& store, const std::string&) {
       return store.add("demo", "demo", "new").has_value();
     },
     false},
    {"import",
     [](const skill_store& store, const std::string& folder) {
       return store.import(folder, {.id = "demo"}).has_value();
     },
     false},
    {"overwrite",
     [](const skill_store& store, const std::string& folder) {
       return store.import(folder, {.id = "demo", .overwrite = overwrite::replace}).has_value();
     }},
    {"remove",
     [](const skill_store& store, const std::string&) { return store.remove("demo").has_value(); },
     true, ""},
};

class skill_held : public test::skill_fixture {
protected:
  void start_anew(bool has_old) const {
    fs::remove_all(t / user);
    fs::remove_all(t / "ws/mine");
    t.directory(user);
    t.directory("ws/mine");
    t.file("ws/mine/text", "a person's");
    if (has_old) put_user("demo", "old");
  }
  [[nodiscard]] std::string hidden_path() const {
    const auto found = hidden();
    return found.empty() ? skill_path(".none") : skill_path(found.front());
  }
  [[nodiscard]] bool exchange(exchanged what) const {
    const std::string one = what == exchanged::hidden ? hidden_path() : skill_path("demo");
    return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, (t / "ws/mine").c_str(), RENAME_EXCHANGE) ==
           0;
  }
  [[nodiscard]] bool is_new() const {
    std::ifstream in(skill_path("demo/SKILL.md"));
    return std::string(std::istreambuf_iterator<char>(in), {}).find("new") != std::string::npos;
  }
  [[nodiscard]] std::size_t persons_texts() const {
    std::size_t found = 0;
    for (const auto& each : fs::recursive_directory_iterator(t / "ws"))
      found += each.path().filename() == "text" ? 1U : 0U;
    return found;
  }
  [[nodiscard]] bool is_done(const operation& op) const {
    return *op.after == '\0' ? !fs::exists(skill_path("demo")) : is_new();
  }
};

TEST_F(skill_held, another_directory_is_neither_published_nor_removed) {
  t.directory("out/demo");
  t.file("out/demo/SKILL.md", test::skill_md("demo", "new"));
  const std::string folder = t / "out/demo";
  for (const operation& op : operations)
    for (const exchanged what : {exchanged::hidden, exchanged::published}) {
      std::size_t met = 0;
      // Only what has the skill's name before the operation looks is the skill.
      bool is_looked_at = !op.has_old || what == exchanged::hidden;
      for (std::size_t at = 1;; ++at) {
        start_anew(op.has_old);
        const auto store = open_store();
        bool was_done = false, is_hit = false;
        test::injection injected({.before = [&](std::size_t call) {
          if (call != at) return;
          is_hit = true;
          was_done = is_done(op);
          met += exchange(what) ? 1U : 0U;
        }});
        const bool says_done = op.run(store, folder);
        injected.end();
        is_looked_at = is_looked_at || persons_texts() == 1;
        EXPECT_EQ(persons_texts(), is_looked_at ? 1U : 0U) << op.name << " at " << at;
        EXPECT_TRUE(!says_done || was_done || is_done(op)) << op.name << " at " << at;
        if (HasFailure()) return;
        if (is_hit) continue;
        EXPECT_TRUE(says_done && is_done(op) && is_looked_at) << op.name; // the control
        break;
      }
      // The control: there was something to exchange, but for what is only there when it is done.
      if (op.has_old || what == exchanged::hidden) {
        EXPECT_GT(met, 1U) << op.name;
      }
    }
}

/// The same where they are exchanged again and again.
TEST_F(skill_held, nor_is_it_lost_however_often_they_are_exchanged) {
  t.directory("out/demo");
  t.file("out/demo/SKILL.md", test::skill_md("demo", "new"));
  for (const operation& op : operations)
    for (const std::size_t every : {1U, 2U, 3U})
      for (std::size_t at = 1;; at += test::campaign_step()) {
        start_anew(op.has_old);
        const auto store = open_store();
        bool is_hit = false;
        test::injection injected({.before = [&](std::size_t call) {
          if (call < at || (call - at) % every != 0) return;
          is_hit = true;
          (void)exchange(exchanged::hidden);
        }});
        (void)op.run(store, t / "out/demo");
        injected.end();
        EXPECT_EQ(persons_texts(), 1U) << op.name << " at " << at << " every " << every;
        if (HasFailure()) return;
        if (!is_hit) break;
      }
}

class skill_notes : public skill_held {
protected:
  skill_notes() {
    t.directory("notes");
    t.directory("out/demo");
    t.file("out/demo/SKILL.md", test::skill_md("demo", "new"));
    EXPECT_EQ(0, ::chmod((t / "notes").c_str(), 0700));
    start_anew(false);
  }
  [[nodiscard]] skill_store open_noting() const {
    return open_store({.state_directory = t / "notes"});
  }
  /// Imports, and calls this when the files are written.
  template <class Do> auto import_and(const skill_store& store, Do then) const {
    return store.import(t / "out/demo", {.on_progress = [&](auto...) { then(); }});
  }
  void be_killed_in_an_import() const {
    const pid_t child = ::fork();
    if (child == 0) (void)import_and(open_noting(), [] { ::_exit(0); });
    int status = 0;
    ASSERT_EQ(child, ::waitpid(child, &status, 0));
    ASSERT_EQ(1U, hidden().size());
  }
};

TEST_F(skill_notes, a_change_that_lives_keeps_its_directory) {
  const auto one = open_noting(), other = open_noting();
  EXPECT_TRUE(import_and(one, [&] {
    EXPECT_TRUE(other.add("beside", "Beside", "Meanwhile."));
    EXPECT_EQ(1U, hidden().size());
  }));
  EXPECT_TRUE(is_new());
  EXPECT_TRUE(hidden().empty());
}

TEST_F(skill_notes, what_somebody_has_put_in_its_place_stays) {
  be_killed_in_an_import();
  ASSERT_TRUE(exchange(exchanged::hidden));
  EXPECT_TRUE(open_noting().add("next", "Next", "Comes next."));
  EXPECT_EQ(1U, persons_texts());
  EXPECT_EQ(1U, hidden().size());
  EXPECT_TRUE(fs::is_empty(t / "notes"));
}

TEST_F(skill_notes, other_skills_leave_it_alone) {
  be_killed_in_an_import();
  const auto elsewhere = open_store({.user_directory = "mine", .state_directory = t / "notes"});
  EXPECT_TRUE(elsewhere.add("next", "Next", "Comes next."));
  EXPECT_EQ(1U, hidden().size());
  EXPECT_TRUE(open_noting().add("next", "Next", "Comes next."));
  EXPECT_TRUE(hidden().empty());
  EXPECT_TRUE(fs::is_empty(t / "notes"));
}

TEST_F(skill_notes, an_agent_that_can_write_the_notes_is_not_believed) {
  t.directory("ws/notes");
  EXPECT_EQ(0, ::chmod((t / "ws/notes").c_str(), 0700));
  EXPECT_TRUE(open_store({.state_directory = t / "ws/notes"}).add("one", "One", "Is added."));
  EXPECT_TRUE(fs::is_empty(t / "ws/notes"));
}

} // namespace
} // namespace paddock
