// SPDX-License-Identifier: MIT

// Every system call of every operation fails in turn, with every errno that a disk, a quota or a
// full table gives. Whatever fails: no descriptor is left open, nothing temporary stays, what was
// there is there as before or as it was to become, and the error says which of the two a person can
// do something about.

#include "support/fault/fault_fixture.hpp"
#include "support/fault/faulty_sys.hpp"
#include "support/matchers.hpp"
#include "support/process/descriptors.hpp"

namespace paddock {
namespace {

using test::fault;
using test::has;
using test::injection;
using test::is_part_of;
using test::lasting;
using test::operation;
using test::outcome;
using test::picture;
using test::trait;
using test::workbench;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int injected_once[] = {EINTR, ENOSPC, EIO, EMFILE, ENOMEM, EDQUOT, EACCES};
constexpr int injected_for_ever[] = {ENOSPC, EIO, EMFILE};

/// One operation without faults, and what its results are to be compared with.
struct reference {
  picture before;
  picture after;
  outcome said;
  std::size_t calls = 0;
};

/// One try with a fault.
struct attempt {
  picture before;
  picture now;
  outcome said;
  std::string failing; ///< the call
  std::size_t failed = 0;
  std::vector<std::string> descriptors_before;
  std::vector<std::string> descriptors_now;
};

attempt try_once(const workbench& w, const operation& op, const fault& f) {
  attempt done;
  done.descriptors_before = test::open_descriptors();
  {
    fault on_this_disk = f;
    on_this_disk.files = w.files;
    injection bad_day(on_this_disk);
    done.said = op.run(w);
    bad_day.end();
    done.failed = injection::failed();
    done.failing = injection::failing();
  }
  done.descriptors_now = test::open_descriptors();
  done.now = picture_of(w.t, "ws");
  return done;
}

/// Takes empty directories out that are not in `old`: parents whose removal failed too.
void take_empty_parents(picture& now, const picture& old) {
  for (auto at = now.end(); at != now.begin();) {
    --at;
    const auto next = std::next(at);
    const bool used = next != now.end() && next->first.starts_with(at->first + '/');
    if (!used && !old.contains(at->first) && at->second.ends_with(" directory")) at = now.erase(at);
  }
}

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_error(const attempt& a, const fault& f, std::vector<std::string>& complaints) {
  const auto& e = *a.said.error;
  const auto says = [&](error_code code) { return e.code == code; };
  const bool writes = is_one_of(a.failing, {"openat", "write", "writev", "mkdirat", "renameat2",
                                            "linkat", "fdatasync", "fsync"});
  if (f.os_errno != EIO && f.os_errno != EINTR && says(error_code::io))
    complaints.push_back("the error is a general one");
  if ((f.os_errno == ENOSPC || f.os_errno == EDQUOT) && writes && !says(error_code::no_space))
    complaints.push_back("a full disk is called " + std::string(wire_name(e.code)));
  if (f.os_errno == EMFILE && is_one_of(a.failing, {"openat", "openat2"}) &&
      !says(error_code::too_many))
    complaints.push_back("a full table is called " + std::string(wire_name(e.code)));
}

/// What is wrong with the end of a try; nothing, for a library without faults of its own.
std::vector<std::string> complaints_of(const operation& op, const reference& r, const fault& f,
                                       attempt a) {
  std::vector<std::string> complaints;
  const picture leftovers = test::take_leftovers(a.now);
  // What could not be removed is held open until the next change tries again.
  const std::size_t held_max = leftovers.empty() ? 0 : 1;
  const bool leaked = a.descriptors_now.size() > a.descriptors_before.size() + held_max;
  if (leaked || (held_max == 0 && a.descriptors_now != a.descriptors_before))
    complaints.emplace_back("a descriptor leaked");
  const bool once = f.lasting == lasting::once;
  // What is taken away has lost its name when the removal fails; the next change removes the rest.
  const bool hidden_may_stay =
      !once || is_one_of(op.name, {"skill_remove", "skill_remove_durable", "skill_overwrite",
                                   "skill_overwrite_durable", "skill_edit", "skill_edit_durable"});
  if (!leftovers.empty() && !hidden_may_stay)
    complaints.push_back("left behind: " + leftovers.begin()->first);
  if (!once && a.now != r.after) take_empty_parents(a.now, r.before);

  const bool is_old = a.now == r.before;
  const bool is_new = a.now == r.after;
  const bool some = has(op.traits, trait::partial) && is_part_of(a.now, r.before);
  if (!is_old && !is_new && !some) complaints.emplace_back("neither the old nor the new state");
  if (!a.said.error) {
    if (!is_new) complaints.emplace_back("a success that did nothing");
    if (a.said.answer != r.said.answer && !has(op.traits, trait::degrades))
      complaints.push_back("a wrong answer: " + a.said.answer);
    return complaints;
  }
  const bool told_late = has(op.traits, trait::late) || a.failing == "fsync";
  if (!is_old && !some && !told_late) complaints.emplace_back("a failure that did everything");
  if (once && f.os_errno == EINTR) complaints.emplace_back("an interruption became an error");
  check_error(a, f, complaints);
  return complaints;
}

class fault_test : public testing::TestWithParam<resolver> {
protected:
  reference refer(const operation& op) {
    reference r;
    w.reset();
    r.before = picture_of(w.t, "ws");
    attempt plain = try_once(w, op, {});
    r.calls = injection::calls();
    r.after = std::move(plain.now);
    r.said = std::move(plain.said);
    EXPECT_FALSE(r.said.error) << op.name;
    EXPECT_GT(r.calls, 0U) << op.name;
    EXPECT_EQ(injection::inheritable(), 0U) << op.name;
    dirty_ = true;
    return r;
  }

  attempt attempt_with(const operation& op, const reference& r, const fault& f) {
    if (std::exchange(dirty_, false)) w.reset();
    attempt a = try_once(w, op, f);
    dirty_ = a.now != r.before;
    return a;
  }

  void every_call_fails(const operation& op, lasting how) {
    const reference r = refer(op);
    for (std::size_t at = 1; at <= r.calls; ++at) {
      const auto errnos =
          how == lasting::once ? std::span<const int>(injected_once) : injected_for_ever;
      for (const int os_errno : errnos) {
        const fault f{.at = at, .os_errno = os_errno, .lasting = how};
        const attempt a = attempt_with(op, r, f);
        faults += a.failed > 0 ? 1 : 0;
        std::string what = std::string(op.name) + ", call " + std::to_string(at) + ' ' + a.failing +
                           ", " + ::strerrorname_np(os_errno);
        if (a.said.error)
          what += std::string(", said ") + std::string(wire_name(a.said.error->code));
        EXPECT_THAT(complaints_of(op, r, f, a), IsEmpty()) << what;
        if (picture now = a.now; !test::take_leftovers(now).empty()) {
          w.sweep();
          now = picture_of(w.t, "ws");
          const bool gone = test::take_leftovers(now).empty();
          // When nothing works, not even what was left can be found out.
          EXPECT_TRUE(gone || how == lasting::ever) << what;
          (gone ? swept : kept) += 1;
        }
      }
    }
  }

  workbench w{GetParam()};
  std::size_t faults = 0;
  std::size_t swept = 0; ///< how often something was left and the next operation removed it
  std::size_t kept = 0;  ///< how often it did not know of it

private:
  bool dirty_ = true;
};
INSTANTIATE_TEST_SUITE_P(every, fault_test, test::both_resolvers, test::name_of_resolver);

TEST_P(fault_test, one_call_of_a_change_fails) {
  for (const auto& op : test::changing_operations())
    every_call_fails(op, lasting::once);
  EXPECT_GT(swept, 20U);
  EXPECT_EQ(kept, 0U);
  EXPECT_GT(faults, 1'500U);
  std::cout << "faults injected: " << faults << '\n';
}

TEST_P(fault_test, all_calls_of_a_change_fail_from_one_on) {
  for (const auto& op : test::changing_operations())
    every_call_fails(op, lasting::ever);
  EXPECT_GT(kept, 50U);
  EXPECT_GT(faults, 1'500U);
  std::cout << "faults injected: " << faults << '\n';
}

TEST_P(fault_test, one_call_of_a_look_fails) {
  for (const auto& op : test::looking_operations())
    every_call_fails(op, lasting::once);
  EXPECT_GT(faults, 400U);
  std::cout << "faults injected: " << faults << '\n';
}

TEST_P(fault_test, all_calls_of_a_look_fail_from_one_on) {
  for (const auto& op : test::looking_operations())
    every_call_fails(op, lasting::ever);
  EXPECT_GT(faults, 400U);
  std::cout << "faults injected: " << faults << '\n';
}

TEST_P(fault_test, little_is_read_and_written_at_a_time) {
  std::size_t tries = 0;
  for (const auto* operations : {&test::changing_operations(), &test::looking_operations()}) {
    for (const auto& op : *operations) {
      const reference r = refer(op);
      for (const std::size_t bytes : {1U, 2U, 7U, 1000U}) {
        const fault f{.bytes_max = bytes};
        const attempt a = attempt_with(op, r, f);
        EXPECT_FALSE(a.said.error) << op.name;
        EXPECT_EQ(a.said.answer, r.said.answer) << op.name;
        EXPECT_THAT(complaints_of(op, r, f, a), IsEmpty()) << op.name;
        ++tries;
      }
    }
  }
  EXPECT_GT(tries, 100U);
}

TEST_P(fault_test, a_full_disk_in_the_middle_of_a_write_leaves_the_old_content) {
  // Every second write takes a few bytes; the next finds the disk full.
  for (const auto& op : test::changing_operations()) {
    const reference r = refer(op);
    for (std::size_t at = 1; at <= r.calls + 8; ++at) {
      const fault f{.at = at, .os_errno = ENOSPC, .bytes_max = 700};
      const attempt a = attempt_with(op, r, f);
      EXPECT_THAT(complaints_of(op, r, f, a), IsEmpty())
          << op.name << ", call " << at << ' ' << a.failing;
    }
  }
}

TEST_P(fault_test, a_move_overwrites_nothing_that_appears_at_the_last_moment) {
  w.reset();
  bool appeared = false;
  const fault meanwhile{.os_errno_of = [&](std::string_view call) {
    if (call == "renameat2" && !std::exchange(appeared, true))
      w.t.file("ws/d/g", "somebody else's");
    return 0;
  }};
  injection not_a_fault(meanwhile);
  const auto done = move_entry(*w.root, "f", "d/g");
  not_a_fault.end();
  EXPECT_TRUE(appeared);
  ASSERT_FALSE(done.has_value());
  EXPECT_EQ(done.error().code, error_code::already_exists);
  EXPECT_EQ(w.t.content("ws/d/g"), "somebody else's");
  EXPECT_TRUE(w.t.exists("ws/f"));
}

TEST_P(fault_test, without_rename_flags_files_are_moved_by_a_link_and_nothing_is_overwritten) {
  const struct {
    const char* source;
    const char* destination;
    const char* meanwhile; ///< appears at the last moment
    std::optional<error_code> code;
  } rows[] = {
      {"f", "d/g", nullptr, {}},
      {"f", "d/g", "ws/d/g", error_code::already_exists},
      {"d", "moved", nullptr, error_code::unsupported},
      {"d", "d/e/below", nullptr, error_code::invalid_argument},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(std::string(row.source) + " to " + row.destination);
    w.reset();
    const picture before = picture_of(w.t, "ws");
    injection old({.os_errno_of = [&](std::string_view call) {
      if (call != "renameat2") return 0;
      if (row.meanwhile != nullptr) w.t.file(row.meanwhile, "somebody else's");
      return EINVAL;
    }});
    const auto done = move_entry(*w.root, row.source, row.destination);
    old.end();
    if (!row.code) {
      EXPECT_THAT(done, test::IsOk());
      EXPECT_FALSE(w.t.exists("ws/f"));
      EXPECT_EQ(w.t.content("ws/d/g"), "one\ntwo\nthree\n");
      continue;
    }
    EXPECT_THAT(done, test::IsError(*row.code));
    EXPECT_TRUE(is_part_of(before, picture_of(w.t, "ws")));
    if (row.meanwhile != nullptr) {
      EXPECT_EQ(w.t.content(row.meanwhile), "somebody else's");
    }
  }
}

TEST_P(fault_test, a_file_that_is_replaced_at_each_look_is_given_up_and_left_alone) {
  const std::pair<const char*, std::function<std::optional<error>()>> changes[] = {
      {"append",
       [&] {
         const auto done = append_file(*w.root, "f", "mine");
         return done ? std::nullopt : std::optional(done.error());
       }},
      {"edit",
       [&] {
         const auto done = edit_file(*w.root, "f", {.old_text = "two", .new_text = "mine"});
         return done ? std::nullopt : std::optional(done.error());
       }},
  };
  for (const auto& [name, change] : changes) {
    SCOPED_TRACE(name);
    w.reset();
    std::size_t replaced = 0;
    injection restless({.os_errno_of = [&](std::string_view call) {
      if (call != "statx") return 0;
      w.t.file("ws/theirs", "two " + std::to_string(++replaced));
      std::filesystem::rename(w.t / "ws/theirs", w.t / "ws/f");
      return 0;
    }});
    const auto failed = change();
    restless.end();
    ASSERT_TRUE(failed);
    EXPECT_EQ(wire_name(failed->code), wire_name(error_code::conflict));
    EXPECT_EQ(w.t.content("ws/f"), "two " + std::to_string(replaced));
    picture now = picture_of(w.t, "ws");
    EXPECT_THAT(test::take_leftovers(now), IsEmpty());
  }
}

TEST_P(fault_test, what_is_added_while_a_directory_is_removed_goes_with_it) {
  const struct {
    const char* late;
    std::size_t before; ///< which unlinkat: that of the directory that it is in
  } rows[] = {{"ws/d/e/late", 5}, {"ws/d/late", 6}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.late);
    w.reset();
    std::size_t unlinked = 0;
    injection busy({.os_errno_of = [&](std::string_view call) {
      if (call == "unlinkat" && ++unlinked == row.before) w.t.file(row.late);
      return 0;
    }});
    const auto done = remove_directory(*w.root, "d", {.recursive = recursion::yes});
    busy.end();
    EXPECT_EQ(unlinked, 6U + 2U); // the late one, and its directory again
    ASSERT_THAT(done, test::IsOk());
    EXPECT_FALSE(w.t.exists("ws/d"));
  }
}

TEST_P(fault_test, the_group_of_a_replaced_file_is_kept_where_its_owner_cannot_be) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root gives files away";
  w.reset();
  ASSERT_EQ(0, ::chown((w.t / "ws/f").c_str(), 65534, 65534));
  bool refused = false;
  injection jealous({.os_errno_of = [&](std::string_view call) {
    return call == "fchown" && !std::exchange(refused, true) ? EPERM : 0;
  }});
  const auto done = write_file(*w.root, "f", "new");
  jealous.end();
  EXPECT_TRUE(refused);
  ASSERT_THAT(done, test::IsOk());
  struct stat s{};
  ASSERT_EQ(0, ::stat((w.t / "ws/f").c_str(), &s));
  EXPECT_EQ(s.st_uid, 0U);
  EXPECT_EQ(s.st_gid, 65534U);
  EXPECT_EQ(w.t.content("ws/f"), "new");
}

// The judge itself is tried: what it has to complain about is made to happen.

TEST_P(fault_test, control_a_writer_that_forgets_its_temporary_file_is_caught) {
  const operation careless{"careless", [](const workbench& bench) {
                             const std::string name = ".paddock-tmp-" + std::string(32, 'a');
                             const int fd = ::openat(bench.root->descriptor(), name.c_str(),
                                                     O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
                             if (fd < 0) return outcome{error{error_code::io, errno, "openat"}, ""};
                             const bool written = ::write(fd, "x", 1) == 1;
                             const int os_errno = errno;
                             ::close(fd);
                             if (!written)
                               return outcome{error{error_code::io, os_errno, "write"}, ""};
                             ::unlinkat(bench.root->descriptor(), name.c_str(), 0);
                             return outcome{std::nullopt, "ok"};
                           }};
  const reference r = refer(careless);
  ASSERT_EQ(r.calls, 4U);
  const fault f{.at = 2, .os_errno = ENOSPC};
  const attempt a = attempt_with(careless, r, f);
  const auto complaints = complaints_of(careless, r, f, a);
  EXPECT_THAT(complaints, ElementsAre(HasSubstr("left behind: .paddock-tmp-"),
                                      "the error is a general one", "a full disk is called io"));
}

TEST_P(fault_test, control_a_cleanup_that_fails_leaves_something) {
  // The rename fails, and so does everything after it.
  const operation& op = *std::ranges::find(test::changing_operations(),
                                           std::string_view("write_old"), &operation::name);
  const reference r = refer(op);
  std::size_t left = 0;
  for (std::size_t at = 1; at <= r.calls; ++at) {
    const fault f{.at = at, .os_errno = EIO, .lasting = lasting::ever};
    attempt a = attempt_with(op, r, f);
    left += test::take_leftovers(a.now).size();
  }
  EXPECT_GT(left, 0U);
}

TEST_P(fault_test, control_a_leak_and_a_torn_file_are_caught) {
  int leaked = -1;
  const operation leaky{"leaky", [&](const workbench& bench) {
                          leaked = ::openat(bench.root->descriptor(), "f",
                                            O_WRONLY | O_TRUNC | O_CLOEXEC);
                          const bool written = ::write(leaked, "torn", 4) == 4;
                          if (!written)
                            return outcome{error{error_code::no_space, errno, "write"}, ""};
                          ::close(leaked);
                          return outcome{std::nullopt, "ok"};
                        }};
  const reference r = refer(leaky);
  const fault f{.at = 2, .os_errno = ENOSPC};
  const attempt a = attempt_with(leaky, r, f);
  EXPECT_THAT(complaints_of(leaky, r, f, a),
              ElementsAre("a descriptor leaked", "neither the old nor the new state",
                          "a failure that did everything"));
  ::close(leaked);
}

} // namespace
} // namespace paddock
