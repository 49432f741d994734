// SPDX-License-Identifier: MIT

// Changing the content of files: hard links, temporary files that are foreseen or left over, modes,
// and sizes that lie.

#include "corpus.hpp"

#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>

namespace paddock::test::corpus {
namespace {

using enum action;
using enum error_code;

const std::string temporary = ".paddock-tmp-";

mode_t mode_of(const std::string& path) {
  struct stat s{};
  EXPECT_EQ(0, ::lstat(path.c_str(), &s)) << path;
  return s.st_mode & 07777;
}

/// The names that are made in the workspace while `run` is busy there.
template <class Run> std::vector<std::string> names_made(const std::string& ws, Run&& run) {
  const file_descriptor watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  EXPECT_GE(::inotify_add_watch(watch.get(), ws.c_str(), IN_CREATE), 0);
  run();
  std::vector<std::string> names;
  alignas(inotify_event) std::array<char, 16'384> events;
  for (ssize_t n = 0; (n = ::read(watch.get(), events.data(), events.size())) > 0;)
    for (ssize_t at = 0; at < n;) {
      const auto* event = reinterpret_cast<const inotify_event*>(events.data() + at); // NOLINT
      names.emplace_back(event->name);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  return names;
}

void names_of_temporaries_cannot_be_foreseen(session& s) {
  constexpr std::size_t writes = 50;
  const auto made = names_made(s.at.ws(), [&] {
    for (std::size_t i = 0; i < writes; ++i)
      EXPECT_EQ("ok", s.outcome({.what = write, .path = "f", .other = "new"}));
  });
  EXPECT_EQ(writes, made.size());
  EXPECT_EQ(writes, std::set<std::string>(made.begin(), made.end()).size()) << "one came twice";
  for (const auto& name : made) {
    EXPECT_TRUE(name.starts_with(temporary)) << name;
    EXPECT_EQ(name.size(), temporary.size() + 32) << name; // 128 bits
  }
}

std::vector<row> identity() {
  return {
      {.id = "P30",
       .name = "hard_link_to_the_outside",
       .build =
           [](scene& s) {
             ASSERT_EQ(0, ::link((s.out() + "/hard").c_str(), (s.ws() + "/hard").c_str()));
           },
       .attempts =
           join({all({read}, "hard", gives("OUTSIDE out/hard")),
                 all({inspect}, "hard", gives("hard")), all({append}, "hard", refused(hard_linked)),
                 all({write}, "hard", gives("hard"))}), // another file takes the name
       .check =
           [](session& s) {
             EXPECT_EQ("new", s.at.tree().content("ws/hard"));
             EXPECT_EQ("ok", s.outcome({.what = append, .path = "hard", .other = "er"}));
             EXPECT_EQ("newer", s.at.tree().content("ws/hard"));
             // The count of its names was part of the outside.
             ASSERT_EQ(0, ::link((s.at.out() + "/hard").c_str(), (s.at.ws() + "/again").c_str()));
           },
       .checking = checked::always,
       .no_undo = "a hard link is what a workspace holds"},
      {.id = "P60",
       .name = "foreseen_temporary_files",
       .build =
           [](scene& s) {
             for (const char digit : std::string_view("0123456789abcdef"))
               s.tree().link("ws/" + temporary + std::string(32, digit), "../out/secret");
             s.tree().link("ws/" + temporary, "../out/secret");
             s.tree().link("ws/.f.tmp", "../out/secret");
             s.tree().link("ws/f~", "../out/secret");
           },
       .attempts = join({all({write, append}, "f", gives("f")),
                         all({read}, temporary + std::string(32, '0'), refused(escapes_root))}),
       .check = names_of_temporaries_cannot_be_foreseen},
      {.id = "P61",
       .name = "mode_and_owner",
       .meanwhile =
           [](session& s) {
             ASSERT_EQ(0, ::chmod((s.at.ws() + "/f").c_str(), 06'750));
             ASSERT_EQ(0, ::chmod((s.at.ws() + "/a/f").c_str(), 0'604));
             if (s.how.user == user::root) {
               ASSERT_EQ(0, ::chown((s.at.ws() + "/a/f").c_str(), 65'534, 65'534));
             }
           },
       .attempts = join({all({edit, write}, "f", gives("f")), all({write}, "a/f", gives("a/f"))}),
       .check =
           [](session& s) {
             EXPECT_EQ(0'750U, mode_of(s.at.ws() + "/f"));
             EXPECT_EQ(0'604U, mode_of(s.at.ws() + "/a/f"));
             struct stat status{};
             ASSERT_EQ(0, ::stat((s.at.ws() + "/a/f").c_str(), &status));
             EXPECT_EQ(s.how.user == user::root ? 65'534U : ::geteuid(), status.st_uid);
           }},
  };
}

/// Files with the names of temporary ones: that of a killed writer, one that somebody has locked,
/// a link.
void leave_temporaries(scene& s) {
  const std::string old = s.ws() + '/' + temporary + std::string(32, 'd');
  const std::string locked = s.ws() + '/' + temporary + std::string(32, 'a');
  for (const auto& path : {old, locked}) {
    s.tree().file(path.substr(s.tree().path().size() + 1), "dear");
    const timespec past[2] = {{1'000'000'000, 0}, {1'000'000'000, 0}};
    ASSERT_EQ(0, ::utimensat(AT_FDCWD, path.c_str(), past, 0));
  }
  s.tree().link("ws/" + temporary + std::string(32, 'b'), "../out/secret");
}

void nothing_goes_for_its_name(session& s) {
  const std::string locked = s.at.ws() + '/' + temporary + std::string(32, 'a');
  const file_descriptor holder(::open(locked.c_str(), O_WRONLY | O_CLOEXEC));
  ASSERT_EQ(0, ::flock(holder.get(), LOCK_EX | LOCK_NB));
  std::string all;
  for (const char c : {'a', 'b', 'd'})
    all += temporary + std::string(32, c) + '\n';
  EXPECT_EQ(all + "a\nf\n", s.perform({.what = list, .path = "."}).text);
  for (const char c : {'a', 'd'})
    EXPECT_EQ("dear", s.at.tree().content("ws/" + temporary + std::string(32, c)));
  EXPECT_EQ("inside", s.at.tree().content("ws/f"));
}

/// A file that grows by itself until it has been read as often as that.
void a_growing_file_is_read_to_a_bound(session& s) {
  constexpr int reads = 20;
  constexpr std::uint64_t file_bytes_max = 64U * 1024 * 1024;
  std::atomic<bool> done{false};
  std::thread grower([&] {
    const file_descriptor log(
        ::open((s.at.ws() + "/log").c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
    const std::string lines(4096, '\n');
    for (std::uint64_t size = 0; !done && size < file_bytes_max; size += lines.size())
      EXPECT_EQ(4096, ::write(log.get(), lines.data(), lines.size()));
  });
  while (!s.at.tree().exists("ws/log"))
    std::this_thread::yield();
  for (int i = 0; i < reads; ++i) {
    const answer got =
        s.perform({.what = read_part, .path = "log", .lines = {.from = 0, .to = 10}});
    EXPECT_FALSE(got.code && *got.code != too_large);
    const auto whole = read_file(s.workspace(), "log", {.bytes_max = 100'000});
    EXPECT_TRUE(whole ? whole->bytes.size() <= 100'000 : whole.error().code == too_large);
  }
  done = true;
  grower.join();
}

std::vector<row> sizes() {
  return {
      {.id = "P62",
       .name = "names_of_temporary_files",
       .build = leave_temporaries,
       .check = nothing_goes_for_its_name},
      {.id = "P63",
       .name = "sparse_terabyte",
       .build =
           [](scene& s) {
             s.tree().file("ws/sparse", "first\nsecond\n");
             if (::truncate((s.ws() + "/sparse").c_str(), 1LL << 40) != 0)
               s.lacking = "no file system for such a file";
           },
       .attempts = join(
           {all({edit}, "sparse", refused(too_large)), all({inspect}, "sparse", gives("sparse"))}),
       .check =
           [](session& s) {
             rusage before{};
             rusage after{};
             EXPECT_EQ(0, ::getrusage(RUSAGE_SELF, &before));
             EXPECT_EQ("too_large", s.outcome({.what = read, .path = "sparse"}));
             EXPECT_EQ(
                 "second",
                 s.perform({.what = read_part, .path = "sparse", .lines = {.from = 1, .to = 2}})
                     .text);
             EXPECT_EQ(0, ::getrusage(RUSAGE_SELF, &after));
             EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 128L * 1024) << "KiB";
           }},
      {.id = "P64",
       .name = "file_that_grows_while_it_is_read",
       .check = a_growing_file_is_read_to_a_bound},
  };
}

} // namespace

std::vector<row> replacement_rows() {
  auto rows = identity();
  for (auto& r : sizes())
    rows.push_back(std::move(r));
  return rows;
}

} // namespace paddock::test::corpus
