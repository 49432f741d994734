// SPDX-License-Identifier: MIT

#include "runner.hpp"

#include "support/process/denied_calls.hpp"
#include "support/process/descriptors.hpp"
#include "support/process/process.hpp"

#include <paddock/file/file.hpp>
#include <paddock/history/history.hpp>

namespace paddock::test::corpus {
namespace {

namespace fs = std::filesystem;

constexpr unsigned hang_seconds = 120; // far beyond what the slowest case takes under a sanitizer

/// What no operation may add to a workspace.
struct census {
  std::size_t temporaries = 0;
  std::set<ino_t> links;
};

census look_through(const std::string& ws) {
  census seen;
  std::error_code ended;
  fs::recursive_directory_iterator entry(ws, fs::directory_options::skip_permission_denied, ended);
  for (; !ended && entry != fs::recursive_directory_iterator(); entry.increment(ended)) {
    constexpr int deep_enough = 8; // trees that are deeper have nothing more to tell
    if (entry.depth() >= deep_enough) entry.disable_recursion_pending();
    struct stat s{};
    if (::lstat(entry->path().c_str(), &s) != 0) continue;
    if (S_ISLNK(s.st_mode)) seen.links.insert(s.st_ino);
    if (entry->path().filename().string().starts_with(".paddock-tmp-")) ++seen.temporaries;
  }
  return seen;
}

void judge_census(const census& before, const census& after) {
  EXPECT_LE(after.temporaries, before.temporaries) << "temporary files were left";
  for (const auto inode : after.links)
    EXPECT_TRUE(before.links.contains(inode)) << "links were made";
}

/// False when this kernel has no openat2 to test.
bool become_what_the_case_says(const combination& how) {
  if (how.user == user::ordinary && ::geteuid() == 0) {
    EXPECT_TRUE(become_nobody());
  }
  if (how.kernel == back_end::openat2_missing) become(machine::without_openat2);
  if (how.kernel == back_end::openat2_filtered) become(machine::with_filtered_openat2);
  const bool there = ::syscall(SYS_openat2, AT_FDCWD, ".", nullptr, 0) == 0 || errno == EINVAL;
  const bool denied =
      how.kernel == back_end::openat2_missing || how.kernel == back_end::openat2_filtered;
  EXPECT_FALSE(denied && there) << "openat2 is still there";
  return how.kernel != back_end::openat2 || there;
}

void run_attempts(const row& r, session& s) {
  for (const auto& a : r.attempts) {
    const std::string other = a.other ? s.at.spelled(*a.other) : "new";
    judge(a,
          s.perform(
              {.what = a.what, .path = s.at.spelled(a.path), .other = other, .mounted = a.mounted}),
          s);
  }
}

/// The history of a case, beside its workspace, for as long as it is returned; nothing where there
/// can be none, as where the workspace is gone.
std::shared_ptr<history::store> history_of(const session& s, history::session by) {
  const bool is_asked =
      (s.how.interface == interface::coding || s.how.interface == interface::apply) &&
      (s.how.kernel == back_end::openat2 || s.how.kernel == back_end::forced_walker);
  if (!is_asked || !history::have_history()) return nullptr;
  s.at.tree().directory("history");
  auto opened =
      history::store::open(s.shared_workspace(), {.directory = s.at.tree() / "history"}, by);
  return opened ? *std::move(opened) : nullptr;
}

/// What the history holds, and a review shows, is never what is outside or reserved.
void review(history::store& store) {
  for (const bool collapses : {true, false}) {
    const auto found = store.changes({.collapse = collapses, .by = history::author::other});
    if (!found) continue; // the workspace may be gone
    for (const history::change& each : found->changes)
      for (const history::entry_state* side : {&each.before, &each.after}) {
        const auto bytes = store.content(side->content);
        for (const auto& mark : {outside_mark, reserved_mark}) {
          EXPECT_EQ(each.path.find(mark), std::string::npos) << each.path;
          EXPECT_TRUE(!bytes || bytes->find(mark) == std::string::npos) << each.path;
        }
      }
  }
}

/// What can be restored, by path: nothing else is told of it.
std::set<std::string> restorable_in(history::store& store) {
  std::set<std::string> paths;
  const auto found =
      store.changes({.limit = 10'000, .collapse = false, .by = history::author::other});
  if (!found) return paths; // the workspace may be gone
  for (const history::change& each : found->changes)
    if (each.restorable == history::holding::held) paths.insert(each.path);
  return paths;
}

/// All that can be undone is, or a reason is told for it, or for what lies in it: of one change at
/// least, which the agent makes here.
void undo_all(history::store& store, const root& workspace, needs need) {
  const std::string own = "to be undone";
  auto recording = store.before_tool("writeTextFile", std::span(&own, 1));
  const bool is_made = write_file(workspace, own, "agent's").has_value();
  (void)recording.finish();
  const auto before = restorable_in(store);
  EXPECT_EQ(before.contains(own), is_made);
  const auto done = store.restore({.paths = {""}, .force = true, .by = history::author::other});
  if (!done) {
    const bool is_stuck = need == needs::mounts; // what is mounted keeps its directory in place
    EXPECT_TRUE(!is_made || (is_stuck && !done.error().detail.empty()))
        << wire_name(done.error().code) << ' ' << done.error().detail;
    return;
  }
  EXPECT_GE(done->restored, is_made ? 1u : 0u);
  EXPECT_FALSE(paddock::inspect(workspace, own));
  std::set<std::string> after = restorable_in(store);
  for (const auto* told : {&done->conflicts, &done->left})
    for (const history::restore_conflict& each : *told)
      std::erase_if(after, [&](const std::string& path) {
        return path == each.path || path.starts_with(each.path + '/') ||
               each.path.starts_with(path + '/');
      });
  for (const std::string& path : after)
    EXPECT_FALSE(before.contains(path)) << path << " stays, and no reason is told";
}

/// The row's end is reviewed, undone, and done again, by a person and by the agent. That nothing of
/// it leaves the workspace the outside and the census tell.
void review_and_undo(const session& s, needs need) {
  const auto store = history_of(s, history::session::look);
  if (!store) return;
  review(*store);
  undo_all(*store, s.workspace(), need);
  for (const auto by : {history::author::other, history::author::tool}) {
    std::optional<std::uint64_t> to;
    for (int turn = 0; turn < 3; ++turn) {
      const auto done = store->restore({.to = to, .paths = {""}, .force = true, .by = by});
      if (!done || done->before == 0) break;
      to = done->before;
      review(*store);
    }
  }
}

/// In the process of the case; what it lacks goes to the scene.
void run_here(const row& r, const combination& how, scene& at) {
  if (r.need == needs::mounts && !private_mounts()) {
    at.lacking = "mounting needs privilege";
    return;
  }
  if (r.arrange != nullptr) r.arrange(at);
  if (!at.lacking.empty()) return;
  if (!become_what_the_case_says(how)) {
    at.lacking = "this kernel has no openat2";
    return;
  }
  session s(at, how, at.tree() / r.workspace);
  if (!at.lacking.empty()) return;
  if (const auto begun = r.no_undo[0] == '\0' ? history_of(s, history::session::serve) : nullptr)
    (void)begun->read_in();
  if (r.meanwhile != nullptr) r.meanwhile(s);
  const bool can_be_walked = r.need != needs::mounts; // what is mounted is not ours
  const auto before = can_be_walked ? look_through(at.ws()) : census{};
  const auto descriptors = open_descriptors();
  run_attempts(r, s);
  const bool is_checked = how.interface == interface::coding ? r.checking == checked::always
                                                             : how.interface != interface::apply;
  if (r.check != nullptr && is_checked) r.check(s);
  const auto left = can_be_walked && at.lacking.empty() ? look_through(at.ws()) : before;
  judge_census(before, left);
  if (r.no_undo[0] == '\0') review_and_undo(s, r.need); // which brings links back
  EXPECT_EQ(descriptors, open_descriptors()) << "descriptors were left open";
  if (can_be_walked) {
    EXPECT_LE(look_through(at.ws()).temporaries, left.temporaries) << "an undo left some";
  }
}

/// A file that is followed by descriptor, wherever its name goes.
class watched_file {
public:
  explicit watched_file(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), before_(now()) {}
  [[nodiscard]] bool changed() const { return now() != before_; }

private:
  [[nodiscard]] std::array<long, 4> now() const {
    struct stat s{};
    EXPECT_EQ(0, ::fstat(fd_.get(), &s));
    return {s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec, static_cast<long>(s.st_mode)};
  }
  file_descriptor fd_;
  std::array<long, 4> before_;
};

/// Runs the case in a child and returns what that lacked.
std::string run_in_child(const row& r, const combination& how, scene& at) {
  at.tree().file("lacking");
  const file_descriptor note(::open((at.tree() / "lacking").c_str(), O_WRONLY | O_CLOEXEC));
  (void)in_child([] { return true; },
                 [&] {
                   ::alarm(hang_seconds); // whatever waits for ever is ended, and that is seen
                   run_here(r, how, at);
                   EXPECT_EQ(static_cast<ssize_t>(at.lacking.size()),
                             ::write(note.get(), at.lacking.data(), at.lacking.size()));
                 });
  return at.tree().content("lacking");
}

} // namespace

void judge(const attempt& a, const answer& got, const session& s) {
  const bool by_tool = s.how.interface != interface::library && s.how.interface != interface::apply;
  const bool as_root = s.how.user == user::root;
  const expected& want = as_root && a.as_root   ? *a.as_root
                         : by_tool && a.by_tool ? *a.by_tool
                                                : a.want;
  SCOPED_TRACE(testing::Message() << name_of(a.what) << ' ' << testing::PrintToString(a.path)
                                  << (a.other ? " -> " + *a.other : ""));
  const auto text = [](const std::optional<error_code>& code) {
    return code ? wire_name(*code) : "ok";
  };
  // Changes of several files take fewer kinds of entries, never more.
  const bool is_change_set =
      (s.how.interface == interface::coding || s.how.interface == interface::apply) &&
      changes_a_file(a.what);
  const bool comes_after_one = s.how.interface == interface::apply && !is_change_set;
  if (is_change_set) {
    EXPECT_TRUE(got.code || !want.code) << text(want.code) << ", not " << got.raw;
  } else if (!comes_after_one) {
    EXPECT_EQ(text(got.code), text(want.code)) << got.raw;
  }
  if (!want.code && !is_change_set && !comes_after_one) {
    EXPECT_NE(got.text.find(want.text), std::string::npos) << got.text << ", not " << want.text;
  }
  for (const auto& mark : {outside_mark, reserved_mark})
    EXPECT_TRUE(got.raw.find(mark) == std::string::npos ||
                want.text.find(mark) != std::string::npos)
        << "the answer shows what is outside or reserved: " << got.raw;
}

std::string run_case(const row& r, const combination& how) {
  const bool privileged = ::geteuid() == 0;
  if (how.user == user::root && !privileged) return "the tests run without privilege";
  if (r.need == needs::privilege && !privileged) return "making its tree needs privilege";
  scene at;
  at.user = how.user;
  for (const std::string& name : r.directories)
    at.tree().directory("ws/" + name);
  for (const auto& [name, target] : r.links)
    at.tree().link("ws/" + name, at.spelled(target));
  if (r.build != nullptr) r.build(at);
  if (!at.lacking.empty()) return at.lacking;
  if (how.user == user::ordinary) give_to_nobody(at.tree().path());
  const std::string outside = at.describe_outside();
  const watched_file reserved(at.ws() + "/.perstack/cfg");
  std::string lacking = run_in_child(r, how, at);
  EXPECT_EQ(outside, at.describe_outside()) << "the outside has changed";
  EXPECT_FALSE(reserved.changed()) << "the reserved entry has changed";
  return lacking;
}

} // namespace paddock::test::corpus
