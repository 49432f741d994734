// SPDX-License-Identifier: MIT

// Listing and creating directories.

#include "support/files/canary.hpp"
#include "support/matchers.hpp"
#include "support/process/process.hpp"

#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

#include <sys/file.h>
#include <sys/xattr.h>

namespace paddock {
namespace {

using test::IsError;
using test::IsOk;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::IsEmpty;
using enum error_code;

class directory_test : public testing::TestWithParam<resolver> {
protected:
  [[nodiscard]] std::vector<std::string> names(std::string_view path,
                                               list_options options = {}) const {
    std::vector<std::string> all;
    const auto listing = list_directory(r, path, options);
    EXPECT_THAT(listing, IsOk());
    if (listing)
      for (const auto& entry : listing->entries)
        all.emplace_back(listing->name(entry));
    return all;
  }
  [[nodiscard]] directory_entry entry(std::string_view path, std::string_view name) const {
    const auto listing = list_directory(r, path);
    EXPECT_THAT(listing, IsOk());
    if (listing)
      for (const auto& candidate : listing->entries)
        if (listing->name(candidate) == name) return candidate;
    ADD_FAILURE() << name << " is not listed";
    return {};
  }

  test::canary_tree canary;
  const test::temp_tree& t = canary.tree();
  const root r = test::open_root(canary.ws(), GetParam());
};
INSTANTIATE_TEST_SUITE_P(every, directory_test,
                         testing::Values(resolver::openat2, resolver::walker),
                         [](const auto& suite) { return test::name_of(suite.param); });

// --- order --------------------------------------------------------------------------------------

/// UTF-16 of a valid UTF-8 name, decoded here so that nothing of the library judges itself.
std::u16string utf16_of(std::string_view name) {
  std::u16string out;
  for (std::size_t i = 0; i < name.size();) {
    const auto lead = static_cast<unsigned char>(name[i]);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t point = size == 1 ? lead : lead & (0xFFU >> (size + 1));
    for (std::size_t k = 1; k < size; ++k)
      point = point << 6 | (static_cast<unsigned char>(name[i + k]) & 0x3FU);
    i += size;
    if (point < 0x10000) {
      out += static_cast<char16_t>(point);
    } else {
      out += static_cast<char16_t>(0xD800 + ((point - 0x10000) >> 10));
      out += static_cast<char16_t>(0xDC00 + ((point - 0x10000) & 0x3FF));
    }
  }
  return out;
}

TEST_P(directory_test, the_order_is_that_of_utf16_code_units) {
  const std::string pieces[] = {
      "a",      "B",      "_",      "é",      "\u07ff",     "\u0800",     "\xed\x9f\xbf",
      "\ue000", "\uf8ff", "\uff5e", "\uffff", "\U00010000", "\U0001f600", "\U0010ffff",
      "-",      " ",      ".",      "0",      "日",         "~"};
  t.directory("ws/d");
  std::minstd_rand random(7);
  std::vector<std::string> want;
  for (const auto& first : pieces) {
    want.push_back(first + "x");
    for (int i = 0; i < 15; ++i)
      want.push_back(first + pieces[random() % std::size(pieces)] +
                     pieces[random() % std::size(pieces)]);
  }
  std::sort(want.begin(), want.end(),
            [](const auto& a, const auto& b) { return utf16_of(a) < utf16_of(b); });
  want.erase(std::unique(want.begin(), want.end()), want.end());
  std::erase(want, "..");
  for (const auto& name : want)
    t.file("ws/d/" + name);
  EXPECT_THAT(names("d"), ElementsAreArray(want));
  EXPECT_FALSE(std::is_sorted(want.begin(), want.end())) << "bytes would give the same order";
}

// Names are sorted by the eight bytes after the part that all share, and by the whole where those
// are equal.
TEST_P(directory_test, long_shared_beginnings_do_not_confuse_the_order) {
  t.directory("ws/d");
  std::vector<std::string> want;
  for (const std::string middle : {"", "a", "abcdefgh", "abcdefgh\U00010000", "abcdefgh\uffff"})
    for (const std::string end : {"", "\x01", "1", "12345678", "123456789", "é", "\ue000"})
      want.push_back("shared-by-all-" + middle + end);
  std::ranges::sort(want, {}, utf16_of);
  want.erase(std::unique(want.begin(), want.end()), want.end());
  for (const auto& name : want)
    t.file("ws/d/" + name);
  EXPECT_THAT(names("d"), ElementsAreArray(want));
}

TEST_P(directory_test, any_number_of_threads_gives_the_same_listing) {
  constexpr std::size_t count = 20'000; // enough for them to be used
  t.directory("ws/d");
  for (std::size_t i = 0; i < count; ++i)
    t.file("ws/d/" + std::to_string(i), i % 1'000 == 7 ? "seven" : "");
  const auto one = list_directory(r, "d", {.entries_max = count, .threads_max = 1});
  for (const list_options options : {list_options{.entries_max = count, .threads_max = 2},
                                     list_options{.entries_max = count, .threads_max = 0},
                                     list_options{.entries_max = count, .threads_max = 7}}) {
    const auto many = list_directory(r, "d", options);
    ASSERT_THAT(many, IsOk());
    ASSERT_EQ(many->entries.size(), count);
    EXPECT_EQ(many->total, count);
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_EQ(many->name(many->entries[i]), one->name(one->entries[i]));
      ASSERT_EQ(many->entries[i].size, one->entries[i].size);
      ASSERT_TRUE(many->entries[i].known);
    }
  }
}

TEST_P(directory_test, names_are_bytes) {
  const std::vector<std::string> odd = {
      "-rf",     "new\nline", "\xff",        "\xfe\xff", "\xed\xa0\x80",       "\xf5", " ", "tab\t",
      "e\u0301", "\u00e9",    "back\\slash", "\x01",     std::string(255, 'x')};
  t.directory("ws/d");
  for (const auto& name : odd)
    t.file("ws/d/" + name, name);
  EXPECT_THAT(names("d"), testing::UnorderedElementsAreArray(odd));
  for (const auto& name : odd) {
    const auto got = read_file(r, "d/" + name);
    ASSERT_THAT(got, IsOk());
    EXPECT_EQ(got->bytes, name);
  }
}

TEST_P(directory_test, parts_of_a_listing_make_the_whole) {
  // More than a call returns, and several times what the kernel hands out at once.
  constexpr std::uint64_t count = 12'000;
  static_assert(count > limits{}.list_entries_max);
  t.directory("ws/d");
  const int d = ::open((canary.ws() + "/d").c_str(), O_PATH | O_CLOEXEC);
  t.file("ws/one"); // names of one file: to make and remove so many files takes a disk seconds
  for (std::uint64_t i = 0; i < count; ++i)
    ASSERT_EQ(0,
              ::linkat(AT_FDCWD, (t / "ws/one").c_str(), d, ("n" + std::to_string(i)).c_str(), 0));
  ::close(d);
  const auto all = names("d", {.entries_max = count});
  ASSERT_EQ(all.size(), count);
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
  std::vector<std::string> parts;
  for (std::uint64_t offset = 0; offset < count; offset += 5'001) {
    const auto part = list_directory(r, "d", {.offset = offset, .entries_max = 5'001});
    ASSERT_THAT(part, IsOk());
    EXPECT_EQ(part->total, count);
    for (const auto& entry : part->entries)
      parts.emplace_back(part->name(entry));
  }
  EXPECT_TRUE(parts == all);
  EXPECT_EQ(names("d").size(), limits{}.list_entries_max);
  EXPECT_THAT(names("d", {.offset = count}), IsEmpty());
  EXPECT_THAT(names("d", {.offset = ~std::uint64_t{0}}), IsEmpty());
  EXPECT_THAT(names("d", {.offset = count - 1}), ElementsAre("n9999"));
  EXPECT_THAT(names("d", {.entries_max = 0}), IsEmpty());
}

// --- entries ------------------------------------------------------------------------------------

TEST_P(directory_test, links_are_what_they_lead_to_when_that_is_inside) {
  t.directory("ws/d/sub");
  t.directory("ws/.perstack");
  t.file("ws/.perstack/cfg", "secret!");
  t.file("ws/f", "12345");
  ASSERT_EQ(0, ::mkfifo((t / "ws/d/fifo").c_str(), 0666));
  const struct {
    const char *name, *target;
    entry_kind kind;
    bool examined; ///< size and time are the target's
  } rows[] = {
      {"to_file", "../f", entry_kind::file, true},
      {"to_directory", "sub", entry_kind::directory, true},
      {"to_link", "to_file", entry_kind::file, true},
      {"to_fifo", "fifo", entry_kind::other, true},
      {"to_root", "..", entry_kind::directory, true},
      {"to_outside_file", "../../out/secret", entry_kind::file, false},
      {"to_outside_directory", "../../out", entry_kind::file, false},
      {"to_absolute", "/etc", entry_kind::file, false},
      {"to_nothing", "nope", entry_kind::file, false},
      {"to_itself", "to_itself", entry_kind::file, false},
      {"to_protected", "../.perstack/cfg", entry_kind::file, false},
      {"to_protected_directory", "../.perstack", entry_kind::file, false},
  };
  for (const auto& row : rows)
    t.link(std::string("ws/d/") + row.name, row.target);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    const auto got = entry("d", row.name);
    EXPECT_EQ(got.kind, row.kind);
    EXPECT_TRUE(got.symlink);
    EXPECT_TRUE(got.known);
    if (!row.examined) {
      EXPECT_EQ(got.size, std::string_view(row.target).size());
    }
  }
  EXPECT_EQ(entry("d", "to_file").size, 5U);
  const auto plain = entry(".", "f");
  struct stat s{};
  ASSERT_EQ(0, ::stat((t / "ws/f").c_str(), &s));
  EXPECT_FALSE(plain.symlink);
  EXPECT_EQ(plain.size, 5U);
  EXPECT_EQ(plain.modified_ns, s.st_mtim.tv_sec * 1'000'000'000 + s.st_mtim.tv_nsec);
  EXPECT_EQ(entry("d", "fifo").kind, entry_kind::other);
  EXPECT_EQ(entry("d", "sub").kind, entry_kind::directory);
}

TEST_P(directory_test, reserved_entries_are_hidden_in_every_directory) {
  for (const char* name : {"ws/.perstack", "ws/.PerStack", "ws/d/.perstack", "ws/.perstack2"})
    t.directory(name);
  EXPECT_THAT(names("."), ElementsAre(".perstack2", "d"));
  EXPECT_EQ(list_directory(r, ".")->total, 2U);
  EXPECT_THAT(names("d"), ElementsAre());
}

/// Everything that an agent can give a file so that it looks like a temporary one of ours.
TEST_P(directory_test, nothing_is_hidden_or_removed_for_its_name) {
  t.directory("ws/e");
  const std::string prefix = ".paddock-tmp-";
  const std::string old = prefix + std::string(32, 'a');
  const std::string locked = prefix + std::string(32, 'b');
  const std::string marked = prefix + std::string(32, 'c');
  const std::string renamed = prefix + std::string(32, 'd');
  const std::string young = prefix + std::string(32, 'e');
  for (const auto& name : {old, locked, marked, young})
    t.file("ws/e/" + name, "dear");
  // What the library itself has made, attributes and all, under the name of a temporary file.
  ASSERT_THAT(write_file(r, "e/own", "dear"), IsOk());
  ASSERT_EQ(0, ::rename((t / "ws/e/own").c_str(), (t / ("ws/e/" + renamed)).c_str()));
  const timespec past[2] = {{.tv_sec = 1'000'000'000, .tv_nsec = 0},
                            {.tv_sec = 1'000'000'000, .tv_nsec = 0}};
  for (const auto& name : {old, locked, marked, renamed})
    ASSERT_EQ(0, ::utimensat(AT_FDCWD, (t / ("ws/e/" + name)).c_str(), past, 0)) << name;
  (void)::setxattr((t / ("ws/e/" + marked)).c_str(), "user.paddock", "1", 1, 0);
  const file_descriptor writer(::open((t / ("ws/e/" + locked)).c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(0, ::flock(writer.get(), LOCK_EX));

  const std::vector all = {old, locked, marked, renamed, young};
  for (int round = 0; round < 2; ++round) {
    EXPECT_THAT(names("e"), testing::ElementsAreArray(all));
    EXPECT_EQ(list_directory(r, "e")->total, all.size());
    ASSERT_THAT(write_file(r, "e/own", "new"), IsOk()); // what a writer does here is its own affair
    ASSERT_THAT(remove_file(r, "e/own"), IsOk());
    EXPECT_THAT(remove_directory(r, "e"), IsError(not_empty));
  }
  for (const auto& name : all)
    EXPECT_EQ(t.content("ws/e/" + name), "dear") << name;
}

/// The control to it: a listing does meet temporary files, and leaves them out, while they are in
/// use by this process.
TEST_P(directory_test, a_listing_shows_no_temporary_file_of_a_write_under_way) {
  t.directory("ws/e");
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int n = 0; !done; ++n)
      EXPECT_THAT(write_file(r, "e/f", std::to_string(n)), IsOk());
  });
  while (!t.exists("ws/e/f"))
    std::this_thread::yield();
  bool met = false;
  for (int round = 0; round < 2'000 || (!met && round < 200'000); ++round) {
    ASSERT_THAT(names("e"), ElementsAre("f"));
    for (const auto& entry : std::filesystem::directory_iterator(t / "ws/e"))
      met = met || entry.path().filename() != "f";
  }
  done = true;
  writer.join();
  EXPECT_TRUE(met) << "there was never anything to leave out";
}

TEST_P(directory_test, what_cannot_be_listed) {
  t.directory("ws/d");
  t.file("ws/f");
  t.link("ws/out", "../out");
  ASSERT_EQ(0, ::mkfifo((t / "ws/fifo").c_str(), 0666));
  for (const auto& [path, code] :
       {std::pair("f", not_a_directory), std::pair("f/", not_a_directory),
        std::pair("fifo", not_a_directory), std::pair("nope", not_found),
        std::pair("out", escapes_root), std::pair("..", escapes_root),
        std::pair("", invalid_argument)})
    EXPECT_THAT(list_directory(r, path), IsError(code)) << path;
  EXPECT_THAT(names("d"), IsEmpty());
  EXPECT_THAT(names("d/"), IsEmpty());
}

TEST_P(directory_test, an_ordinary_user_meets_permissions) {
  for (const char* name : {"ws/blind", "ws/names_only", "ws/fine"})
    t.directory(name);
  t.file("ws/names_only/f", "x");
  ASSERT_EQ(0, ::chmod((t / "ws/blind").c_str(), 0711));
  ASSERT_EQ(0, ::chmod((t / "ws/names_only").c_str(), 0744));
  if (test::in_child(test::become_nobody, [&] {
        const root mine = test::open_root(canary.ws(), GetParam());
        EXPECT_THAT(list_directory(mine, "blind"), IsError(permission_denied));
        EXPECT_THAT(create_directory(mine, "fine/d"), IsError(permission_denied));
        EXPECT_THAT(remove_directory(mine, "fine"), IsError(read_only));
        const auto listing = list_directory(mine, "names_only");
        ASSERT_THAT(listing, IsOk());
        ASSERT_EQ(listing->entries.size(), 1U);
        EXPECT_FALSE(listing->entries[0].known);
        EXPECT_EQ(listing->entries[0].kind, entry_kind::file); // the directory says so
        EXPECT_EQ(listing->entries[0].size, 0U);
      }) == test::child_end::refused)
    GTEST_SKIP() << "changing the user needs privilege";
}

TEST_P(directory_test, entries_that_come_and_go_do_not_fail_a_listing) {
  t.directory("ws/d");
  t.file("ws/d/stays");
  std::atomic<bool> done{false};
  std::thread busy([&] {
    while (!done)
      for (const char* name : {"ws/d/a", "ws/d/b", "ws/d/c"}) {
        ::mkdir((t / name).c_str(), 0777);
        ::rmdir((t / name).c_str());
        EXPECT_EQ(0, ::symlink("stays", (t / name).c_str()));
        EXPECT_EQ(0, ::unlink((t / name).c_str()));
      }
  });
  for (int i = 0; i < 2000; ++i) {
    const auto listing = list_directory(r, "d");
    ASSERT_THAT(listing, IsOk());
    EXPECT_TRUE(std::any_of(listing->entries.begin(), listing->entries.end(),
                            [&](const auto& e) { return listing->name(e) == "stays" && e.known; }));
  }
  done = true;
  busy.join();
}

// --- create -------------------------------------------------------------------------------------

TEST_P(directory_test, create_makes_parents) {
  t.directory("ws/d");
  t.link("ws/dl", "d");
  const struct {
    const char *path, *resolved;
  } rows[] = {{"a/b/c", "a/b/c"}, {"dl/x/y", "d/x/y"}, {"e/", "e"},
              {"g/./h//", "g/h"}, {"a/../new", "new"}, {"dl/../k", "k"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.path);
    const auto got = create_directory(r, row.path);
    ASSERT_THAT(got, IsOk());
    EXPECT_EQ(*got, row.resolved);
    EXPECT_THAT(names(row.path), IsEmpty());
  }
}

TEST_P(directory_test, create_refuses_what_exists_or_leads_away) {
  t.directory("ws/d");
  t.file("ws/f");
  t.link("ws/dl", "d");
  t.link("ws/dang", "nope");
  t.link("ws/out", "../out");
  t.link("ws/out_new", "../out/new");
  t.link("ws/loop", "loop");
  const std::string before = test::describe_tree(canary.ws());
  const std::string outside = canary.describe_outside();
  for (const auto& [path, code] :
       {std::pair("d", already_exists),        std::pair("d/", already_exists),
        std::pair("f", already_exists),        std::pair("dl", already_exists),
        std::pair("dang", already_exists),     std::pair("dang/", already_exists),
        std::pair(".", already_exists),        std::pair("d/..", already_exists),
        std::pair("dang/x", dangling_symlink), std::pair("out_new/x", escapes_root),
        std::pair("f/x", not_a_directory),     std::pair("f/x/y", not_a_directory),
        std::pair("out/new", escapes_root),    std::pair("../new", escapes_root),
        std::pair("out_new", already_exists),  std::pair("loop/x", symlink_loop),
        std::pair("nope/../x", not_found),     std::pair("nope/x/../y", not_found),
        std::pair("", invalid_argument),       std::pair("..", escapes_root)})
    EXPECT_THAT(create_directory(r, path), IsError(code)) << path;
  EXPECT_EQ(before, test::describe_tree(canary.ws()));
  EXPECT_EQ(outside, canary.describe_outside());
}

TEST_P(directory_test, one_of_many_creators_wins_and_the_others_are_told) {
  for (int round = 0; round < 50; ++round) {
    const std::string path = "p" + std::to_string(round) + "/a/b/c/d/e/f/g/h";
    std::atomic<int> made{0};
    std::vector<std::thread> threads;
    for (int n = 0; n < 8; ++n)
      threads.emplace_back([&] {
        const auto got = create_directory(r, path);
        if (got)
          ++made;
        else
          EXPECT_EQ(got.error().code, already_exists);
      });
    for (auto& thread : threads)
      thread.join();
    EXPECT_EQ(made, 1);
  }
}

} // namespace
} // namespace paddock
