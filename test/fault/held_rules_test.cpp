// SPDX-License-Identifier: MIT

// The rules of protected names count where a change really is made. A second server moves a
// person's repository to the place of an agent's directory and back, at any two system calls of an
// operation: what is protected beside a repository is neither made nor changed in it.

#include "path/entry_lookup.hpp"
#include "support/campaign.hpp"
#include "support/fault/fault_fixture.hpp"
#include "support/fault/faulty_sys.hpp"
#include "support/files/temp_tree.hpp"
#include "support/process/as_nobody.hpp"

#include <paddock/file/change_set.hpp>
#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>
#include <paddock/path/protected_names.hpp>

#include <linux/fs.h>

namespace paddock {
namespace {

using test::injection;
using test::picture;

/// The agent's directory is `d`, the person's repository `p`.
struct bench {
  test::temp_tree t;
  std::optional<paddock::root> root;

  explicit bench(resolver how) {
    t.directory("ws");
    t.directory("state");
    std::filesystem::permissions(t / "state", std::filesystem::perms::owner_all);
    auto opened = paddock::root::open(
        t / "ws", {.resolver = how, .protected_names = usual_protected_names()});
    if (!opened) std::abort();
    root = std::move(*opened);
  }
  void reset(bool has_protected) const {
    for (const auto& each : std::filesystem::directory_iterator(t / "ws"))
      std::filesystem::remove_all(each.path());
    for (const char* each : {"ws/d", "ws/v", "ws/p/.git"})
      t.directory(each);
    t.file("ws/d/plain", "agent's");
    t.file("ws/x", "agent's");
    t.file("ws/v/tasks.json", "agent's");
    t.link("ws/l", "v");
    t.file("ws/p/mine", "person's");
    t.file("ws/p/.git/HEAD", "ref: refs/heads/main\n");
    t.file("ws/p/.git/config", "[core]\n");
    if (!has_protected) return;
    t.file("ws/d/.envrc", "old");
    t.file("ws/p/.envrc", "old");
  }
  [[nodiscard]] std::string persons() const { return t.exists("ws/p/mine") ? "ws/p" : "ws/d"; }
  void exchange() const {
    const std::string one = t / "ws/d", other = t / "ws/p";
    (void)::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
  }
  bool change(const std::vector<file_change>& changes) const {
    return apply_changes(*root, changes, {.state_directory = t / "state"}).has_value();
  }
};

struct operation {
  const char* name;
  std::function<bool(const bench&)> run; ///< whether it says that it was done
  bool has_protected = false;            ///< there is such a file in both directories before
};

void PrintTo(const operation& each, std::ostream* out) {
  *out << each.name;
}

file_change made(const char* path) {
  return {.action = change_action::create, .path = path, .bytes = "evil"};
}
file_change moved_to(const char* path, const char* from) {
  return {.action = change_action::move, .path = path, .from = from};
}

const std::vector<operation>& operations() {
  static const std::vector<operation> all{
      {"write", [](const bench& b) { return write_file(*b.root, "d/.envrc", "evil").has_value(); }},
      {"write_with_parents",
       [](const bench& b) {
         return write_file(*b.root, "d/.vscode/tasks.json", "evil").has_value();
       }},
      {"replace",
       [](const bench& b) { return write_file(*b.root, "d/.envrc", "evil").has_value(); }, true},
      {"append",
       [](const bench& b) { return append_file(*b.root, "d/.envrc", "evil").has_value(); }, true},
      {"remove", [](const bench& b) { return remove_file(*b.root, "d/.envrc").has_value(); }, true},
      {"move_away", [](const bench& b) { return move_entry(*b.root, "d/.envrc", "y").has_value(); },
       true},
      {"move_file",
       [](const bench& b) { return move_entry(*b.root, "x", "d/.envrc").has_value(); }},
      {"move_directory",
       [](const bench& b) { return move_entry(*b.root, "v", "d/.vscode").has_value(); }},
      {"move_link",
       [](const bench& b) { return move_entry(*b.root, "l", "d/.vscode").has_value(); }},
      {"create_together",
       [](const bench& b) {
         return b.change({made("d/.envrc"), made("d/n"), made("d/.vscode/tasks.json")});
       }},
      {"replace_together",
       [](const bench& b) {
         return b.change({made("d/n"),
                          {.action = change_action::replace, .path = "d/.envrc", .bytes = "evil"}});
       },
       true},
      {"remove_together",
       [](const bench& b) {
         return b.change({made("d/n"), {.action = change_action::remove, .path = "d/.envrc"}});
       },
       true},
      {"move_together",
       [](const bench& b) {
         return b.change({moved_to("d/.envrc", "x"), moved_to("d/.vscode", "l")});
       }},
  };
  return all;
}

class held_rules_test : public testing::TestWithParam<std::tuple<resolver, operation>> {
protected:
  /// What is protected in the person's repository.
  [[nodiscard]] picture protected_now() const {
    picture all = picture_of(b.t, b.persons());
    std::erase_if(all, [](const auto& each) {
      return !each.first.starts_with(".envrc") && !each.first.starts_with(".vscode");
    });
    return all;
  }
  struct run_end {
    bool is_done;
    std::size_t calls;
  };
  run_end run(const operation& what, const std::set<std::size_t>& exchanged_before) const {
    b.reset(what.has_protected);
    const picture before = protected_now();
    injection others({.before = [&](std::size_t call) {
      if (exchanged_before.contains(call)) b.exchange();
    }});
    const bool is_done = what.run(b);
    const std::size_t calls = injection::calls();
    others.end();
    EXPECT_EQ(before, protected_now())
        << what.name << " at " << testing::PrintToString(exchanged_before);
    return {is_done, calls};
  }
  /// Pairs of calls that are near, for what looks once, and any third after them, for what looks
  /// again before it acts. The undisturbed run is the control.
  void try_all(const operation& what) const {
    constexpr std::size_t near = 12, next = 3, places = 12;
    const auto [is_done, calls] = run(what, {});
    EXPECT_TRUE(is_done);
    std::size_t number = 0;
    for (std::size_t first = 1; first <= calls && !HasFailure(); ++first)
      for (std::size_t second = first; second <= first + near && !HasFailure(); ++second) {
        (void)run(what, {first, second});
        for (std::size_t third = second + 1; third <= calls && second < first + next;
             third += calls / places + 1)
          if (number++ % test::campaign_step() == 0) (void)run(what, {first, second, third});
      }
  }

  bench b{std::get<0>(GetParam())};
};
INSTANTIATE_TEST_SUITE_P(every, held_rules_test,
                         testing::Combine(testing::Values(resolver::openat2, resolver::walker),
                                          testing::ValuesIn(operations())),
                         [](const auto& of) {
                           return std::string(std::get<1>(of.param).name) +
                                  (std::get<0>(of.param) == resolver::walker ? "_walker" : "");
                         });

TEST_P(held_rules_test, nothing_protected_changes_beside_a_repository) {
  try_all(std::get<1>(GetParam()));
}

/// A repository may get the place of a directory that the change is to make.
TEST(held_rules, a_new_directory_that_is_a_repository_by_then_gets_no_hooks) {
  const bench b(resolver::openat2);
  const std::string bare = b.t / "ws/p/bare", place = b.t / "ws/n";
  std::size_t met = 0;
  for (std::size_t at = 1;; ++at) {
    b.reset(false);
    for (const char* each : {"ws/p/bare/objects", "ws/p/bare/refs", "ws/p/bare/hooks"})
      b.t.directory(each);
    b.t.file("ws/p/bare/HEAD", "ref: refs/heads/main\n");
    bool is_hit = false;
    injection others({.before = [&](std::size_t call) {
      if (call != at) return;
      is_hit = true;
      met += ::renameat2(AT_FDCWD, bare.c_str(), AT_FDCWD, place.c_str(), RENAME_NOREPLACE) == 0;
    }});
    const bool is_done = b.change({made("n/objects/zz"), made("n/hooks/post-receive")});
    others.end();
    const std::string there = b.t.exists("ws/n/HEAD") ? "ws/n" : "ws/p/bare";
    EXPECT_FALSE(b.t.exists(there + "/hooks/post-receive")) << "at " << at;
    if (HasFailure()) return;
    if (is_hit) continue;
    EXPECT_TRUE(is_done); // the control
    break;
  }
  EXPECT_GT(met, 5u);
}

/// What is moved is what was looked at.
TEST(held_rules, a_directory_that_has_the_name_by_then_is_not_moved_as_a_file) {
  const bench b(resolver::openat2);
  const std::string file = b.t / "ws/x", other = b.t / "ws/v";
  for (const bool is_set : {false, true})
    for (std::size_t at = 1;; ++at) {
      b.reset(false);
      bool is_hit = false;
      injection others({.before = [&](std::size_t call) {
        if (call != at) return;
        is_hit = true;
        (void)::renameat2(AT_FDCWD, file.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
      }});
      const bool is_done = is_set ? b.change({moved_to("p/.vscode", "x")})
                                  : move_entry(*b.root, "x", "p/.vscode").has_value();
      others.end();
      EXPECT_FALSE(b.t.exists("ws/p/.vscode/tasks.json")) << at;
      EXPECT_EQ(b.t.exists("ws/p/.vscode"), is_done) << at;
      if (HasFailure()) return;
      if (!is_hit) break;
    }
}

/// Each of them alone is allowed; the last one never.
TEST(held_rules, two_calls_at_once_make_no_repository) {
  const bench b(resolver::openat2);
  const std::atomic<bool> is_cancelled = true; // so that the inner one does not wait for the outer
  const auto write = [&](const char* path, bool is_inner) {
    const work_bounds bounds = is_inner ? work_bounds{.cancelled = &is_cancelled} : work_bounds{};
    return write_file(*b.root, path, "evil", {.bounds = bounds}).has_value();
  };
  const char* const pairs[][2] = {
      {"d/config", "d/HEAD"}, {"d/HEAD", "d/config"}, {"d/objects/x", "d/HEAD"}};
  for (const auto& [outer, inner] : pairs)
    for (std::size_t at = 1;; ++at) {
      b.reset(false);
      const bool has_config = std::string_view(outer) == "d/objects/x";
      if (has_config) {
        b.t.file("ws/d/config", "evil");
      } else {
        b.t.directory("ws/d/objects");
      }
      bool is_hit = false;
      injection others({.before = [&](std::size_t call) {
        if (call != at) return;
        is_hit = true;
        (void)write(inner, true);
      }});
      (void)write(outer, false);
      others.end();
      EXPECT_FALSE(b.t.exists("ws/d/HEAD") && b.t.exists("ws/d/config") &&
                   b.t.exists("ws/d/objects"))
          << outer << ", " << inner << " at " << at;
      if (HasFailure()) return;
      if (!is_hit) break;
    }
}

/// Nor does one that makes what is missing in whatever has come to the place by then.
TEST(held_rules, parents_are_not_made_in_a_repository_that_comes_meanwhile) {
  for (const resolver how : {resolver::openat2, resolver::walker}) {
    const bench b(how);
    const std::string from = b.t / "ws/e", to = b.t / "ws/n";
    std::size_t met = 0;
    for (std::size_t at = 1;; ++at) {
      b.reset(false);
      b.t.directory("ws/e");
      b.t.file("ws/e/HEAD", "ref: refs/heads/main\n");
      b.t.file("ws/e/config", "evil");
      bool is_hit = false;
      injection others({.before = [&](std::size_t call) {
        if (call != at) return;
        is_hit = true;
        met += ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0;
      }});
      const bool is_done = write_file(*b.root, "n/objects/x", "x").has_value();
      others.end();
      EXPECT_FALSE(b.t.exists("ws/n/HEAD") && b.t.exists("ws/n/objects")) << "at " << at;
      if (HasFailure()) return;
      if (is_hit) continue;
      EXPECT_TRUE(is_done); // the control
      break;
    }
    EXPECT_GT(met, 2u);
  }
}

struct removal {
  const char* name;
  std::function<void(const bench&)> run; ///< removes `n`, which it finds or makes
  bool is_there = false;
  bool fails_renames = false;
};
class held_removal_test : public testing::TestWithParam<removal> {};
INSTANTIATE_TEST_SUITE_P(
    every, held_removal_test,
    testing::Values(removal{"recursive",
                            [](const bench& b) {
                              (void)remove_directory(*b.root, "n", {.recursive = recursion::yes});
                            },
                            true},
                    removal{"parents_of_a_file",
                            [](const bench& b) { (void)write_file(*b.root, "n/f", "agent's"); },
                            false, true},
                    removal{"parents_of_a_change",
                            [](const bench& b) { EXPECT_FALSE(b.change({made("n/f")})); }, false,
                            true}),
    [](const auto& each) { return std::string(each.param.name); });

/// Another directory that has the name by then stays with what is in it. The kernel makes and
/// removes an empty one by its name alone, so the moments beside these two are left.
TEST_P(held_removal_test, what_was_looked_at_goes_and_nothing_else) {
  const bench b(resolver::openat2);
  const std::string place = b.t / "ws/n", others = b.t / "ws/q";
  for (const bool is_filled : {true, false}) {
    std::size_t met = 0, lost = 0;
    for (std::size_t at = 1;; ++at) {
      b.reset(false);
      b.t.directory("ws/q");
      if (is_filled) b.t.file("ws/q/mine", "person's");
      if (GetParam().is_there) b.t.directory("ws/n");
      const auto looked = [&] { // before that, the other one is what it is asked for
        injection look({});
        if (GetParam().is_there) (void)b.root->locate("n", final_link::keep);
        return injection::calls();
      }();
      bool is_hit = false;
      injection disturbed({.os_errno_of =
                               [](std::string_view name) {
                                 return GetParam().fails_renames &&
                                                (name == "renameat2" || name == "linkat")
                                            ? EIO
                                            : 0;
                               },
                           .before =
                               [&](std::size_t call) {
                                 if (call != at + looked) return;
                                 is_hit = true;
                                 if (::rename(place.c_str(), (b.t / "ws/aside").c_str()) != 0)
                                   return;
                                 ++met;
                                 (void)::rename(others.c_str(), place.c_str());
                               }});
      GetParam().run(b);
      disturbed.end();
      const bool is_left = b.t.exists("ws/n") || b.t.exists("ws/q");
      lost += is_left ? 0U : 1U;
      if (is_filled) {
        EXPECT_TRUE(b.t.exists("ws/n/mine") || b.t.exists("ws/q/mine")) << "at " << at;
      }
      if (HasFailure()) return;
      if (!is_hit) break;
    }
    EXPECT_GT(met, 1u); // the control
    EXPECT_LE(lost, is_filled ? 0u : 2u);
  }
}

TEST(held_rules, what_cannot_be_looked_at_may_be_there) {
  const bench b(resolver::openat2);
  b.reset(false);
  const lookup_from look(b.root->descriptor(), "");
  EXPECT_TRUE(look.has("p", ".git"));
  EXPECT_FALSE(look.has("d", ".git"));
  EXPECT_FALSE(look.has("x", ".git"));
  EXPECT_TRUE(look.has("d", std::string(300, 'a')));
}

TEST(held_rules, a_directory_may_be_called_deleted) {
  const bench b(resolver::openat2);
  b.reset(false);
  b.t.directory("ws/a (deleted)");
  EXPECT_TRUE(b.change({made("a (deleted)/f")}));
}

/// The control: who asks by path and acts in the directory that was opened before loses.
TEST(held_rules_control, a_path_asked_after_the_open_is_overtaken) {
  const bench b(resolver::openat2);
  std::size_t lost = 0;
  for (std::size_t first = 1; first < 12; ++first)
    for (std::size_t second = first + 1; second < 12; ++second) {
      b.reset(false);
      injection others({.before = [&](std::size_t call) {
        if (call == first || call == second) b.exchange();
      }});
      const auto in = b.root->open_beneath("d", access::inspect);
      if (in && b.root->check_changeable("d/.envrc"))
        (void)::close(::openat(in->fd.get(), ".envrc", O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
      others.end();
      lost += b.t.exists(b.persons() + "/.envrc") ? 1U : 0U;
    }
  EXPECT_GT(lost, 0U);
}

TEST(held_rules_too, as_an_ordinary_user) {
  test::run_as_nobody("*held_rules*:*held_removal*:-held_rules_too.*");
}

} // namespace
} // namespace paddock
