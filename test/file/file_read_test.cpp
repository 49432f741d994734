// SPDX-License-Identifier: MIT

// Reading whole files, prefixes and ranges of lines, and looking at entries.

#include "support/campaign.hpp"
#include "support/files/canary.hpp"
#include "support/matchers.hpp"
#include "support/process/process.hpp"

#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

#include <sys/resource.h>

#include <limits>

namespace paddock {
namespace {

using test::IsError;
using test::IsOk;
using enum error_code;

constexpr std::uint64_t tebibyte = std::uint64_t{1} << 40;

class read_test : public testing::Test {
protected:
  test::canary_tree canary;
  const test::temp_tree& t = canary.tree();
  const root r = test::open_root(canary.ws(), resolver::automatic);

  /// A file of `size` bytes that occupies next to none of them.
  void sparse(const char* name, std::string_view head, std::uint64_t size) const {
    t.file(std::string("ws/") + name, head);
    ASSERT_EQ(0, ::truncate((canary.ws() + '/' + name).c_str(), static_cast<off_t>(size)))
        << "file system too small";
  }
};

// --- whole files --------------------------------------------------------------------------------

TEST_F(read_test, bytes_are_returned_as_they_are) {
  std::string all;
  for (int i = 0; i < 256; ++i)
    all += static_cast<char>(i);
  for (const std::string& content :
       {std::string(), std::string("x"), std::string("\r\n\r\n"), std::string("\xef\xbb\xbf bom"),
        all, std::string(65535, 'a'), std::string(65536, 'b'), std::string(65537, 'c'),
        std::string(1 << 20, '\0')}) {
    t.file("ws/f", content);
    const auto got = read_file(r, "f");
    ASSERT_THAT(got, IsOk());
    EXPECT_TRUE(got->bytes == content) << content.size();
    EXPECT_EQ(got->path, "f");
  }
}

TEST_F(read_test, the_bound_is_inclusive) {
  t.file("ws/f", "12345");
  EXPECT_THAT(read_file(r, "f", {.bytes_max = 5}), IsOk());
  EXPECT_THAT(read_file(r, "f", {.bytes_max = 4}), IsError(too_large));
  EXPECT_THAT(read_file(r, "f", {.bytes_max = 0}), IsError(too_large));
  t.file("ws/empty");
  EXPECT_THAT(read_file(r, "empty", {.bytes_max = 0}), IsOk());
  sparse("limit", "", limits{}.read_bytes_max);
  EXPECT_THAT(read_file(r, "limit"), IsOk());
  sparse("above", "", limits{}.read_bytes_max + 1);
  EXPECT_THAT(read_file(r, "above"), IsError(too_large));
}

TEST_F(read_test, prefixes) {
  t.file("ws/f", "12345");
  for (const auto& [bytes, want] :
       {std::pair(std::size_t{0}, ""), std::pair(std::size_t{2}, "12"),
        std::pair(std::size_t{5}, "12345"), std::pair(std::size_t{99}, "12345")}) {
    const auto got = read_prefix(r, "f", bytes);
    ASSERT_THAT(got, IsOk());
    EXPECT_EQ(got->bytes, want);
  }
}

TEST_F(read_test, permissions_are_reported_to_the_ordinary_user) {
  t.file("ws/secret", "x");
  ASSERT_EQ(0, ::chmod((canary.ws() + "/secret").c_str(), 0600));
  t.directory("ws/closed");
  t.file("ws/closed/f", "x");
  ASSERT_EQ(0, ::chmod((canary.ws() + "/closed").c_str(), 0));
  if (test::in_child(test::become_nobody, [&] {
        for (const auto how : {resolver::automatic, resolver::walker}) {
          const root mine = test::open_root(canary.ws(), how);
          EXPECT_THAT(read_file(mine, "secret"), IsError(permission_denied));
          EXPECT_THAT(read_file(mine, "closed/f"), IsError(permission_denied));
          EXPECT_THAT(inspect(mine, "closed/f"), IsError(permission_denied));
          EXPECT_THAT(write_file(mine, "secret", "y"), IsError(read_only));
          EXPECT_THAT(append_file(mine, "secret", "y"), IsError(read_only));
          EXPECT_THAT(write_file(mine, "new", "y"), IsError(permission_denied));
          EXPECT_THAT(remove_file(mine, "closed/f"), IsError(permission_denied));
          const auto info = inspect(mine, "secret");
          ASSERT_THAT(info, IsOk());
          EXPECT_FALSE(info->readable);
          EXPECT_FALSE(info->writable);
        }
      }) == test::child_end::refused)
    GTEST_SKIP() << "changing the user needs privilege";
}

TEST_F(read_test, a_fifo_does_not_block) {
  ASSERT_EQ(0, ::mkfifo((canary.ws() + "/fifo").c_str(), 0666));
  EXPECT_THAT(read_file(r, "fifo"), IsError(not_regular));
  EXPECT_THAT(read_prefix(r, "fifo", 10), IsError(not_regular));
  EXPECT_THAT(read_lines(r, "fifo", {}), IsError(not_regular));
}

// --- ranges of lines ----------------------------------------------------------------------------

using bound = std::optional<std::int64_t>;

/// Array.slice over the text split at '\n'.
struct slice_reference {
  std::string text;
  std::int64_t from, to, total;
};
std::vector<std::string> lines_of(const std::string& content) {
  std::vector<std::string> lines;
  std::istringstream in(content);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  if (content.empty() || content.ends_with('\n')) lines.emplace_back();
  return lines;
}
slice_reference slice_of(const std::vector<std::string>& lines, bound from, bound to) {
  const auto total = static_cast<std::int64_t>(lines.size());
  const auto effective = [&](std::int64_t n) {
    return n < 0 ? std::max<std::int64_t>(0, total + n) : std::min(n, total);
  };
  const auto a = effective(from.value_or(0));
  const auto b = std::max(a, effective(to.value_or(total)));
  std::string text;
  for (auto i = a; i < b; ++i)
    text.append(i > a ? "\n" : "").append(lines[static_cast<std::size_t>(i)]);
  return {text, a, b, total};
}

TEST_F(read_test, every_range_is_what_slice_gives) {
  const std::string huge_line(300'000, 'x');
  const std::string contents[] = {
      "",      "\n",         "a",       "a\n",
      "a\nb",  "a\nb\nc\n",  "\n\n\n",  "a\r\nb\r\n",
      "\ra\r", "\xff\n\xfe", huge_line, huge_line + "\nlast\n" + huge_line + "\n"};
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  const bound bounds[] = {std::nullopt, least, -100, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 100, most};
  std::size_t cases = 0;
  for (const auto& content : contents) {
    t.file("ws/f", content);
    const auto lines = lines_of(content);
    for (const auto from : bounds)
      for (const auto to : bounds) {
        if (cases++ % test::campaign_step() != 0) continue;
        SCOPED_TRACE(testing::Message()
                     << testing::PrintToString(content.substr(0, 20)) << " from "
                     << testing::PrintToString(from) << " to " << testing::PrintToString(to));
        const auto want = slice_of(lines, from, to);
        const auto got = read_lines(r, "f", {from, to});
        ASSERT_THAT(got, IsOk());
        EXPECT_TRUE(got->text == want.text) << got->text.substr(0, 40);
        EXPECT_EQ(got->from, want.from);
        EXPECT_EQ(got->to, want.to);
        if (got->total_lines) {
          EXPECT_EQ(*got->total_lines, want.total);
        }
        if (from.value_or(0) < 0 || to.value_or(0) < 0 || !to) {
          EXPECT_TRUE(got->total_lines);
        }
      }
  }
  RecordProperty("ranges", static_cast<int>(cases));
}

TEST_F(read_test, the_bound_on_a_range_counts_only_its_text) {
  t.file("ws/f", "12345\n678\n");
  EXPECT_THAT(read_lines(r, "f", {0, 1}, {.bytes_max = 5}), IsOk());
  EXPECT_THAT(read_lines(r, "f", {0, 1}, {.bytes_max = 4}), IsError(too_large));
  EXPECT_THAT(read_lines(r, "f", {1, 2}, {.bytes_max = 3}), IsOk());
  EXPECT_THAT(read_lines(r, "f", {2, 3}, {.bytes_max = 0}), IsOk());
  EXPECT_THAT(read_lines(r, "f", {}, {.bytes_max = 9}), IsError(too_large));
  EXPECT_THAT(read_lines(r, "f", {}, {.bytes_max = 10}), IsOk());
}

/// Files are read in a small chunk and then in large ones.
TEST_F(read_test, ranges_across_chunks) {
  constexpr std::int64_t line_bytes = 16;
  for (const std::int64_t edge : {16, 128, 16 + 128, 16 + 2 * 128})
    for (const std::int64_t beyond : {-1, 0, 1, 2}) {
      const std::int64_t lines = edge * 1024 / line_bytes + beyond;
      std::string content;
      for (std::int64_t i = 0; i < lines; ++i) {
        const std::string number = std::to_string(i);
        content +=
            std::string(static_cast<std::size_t>(line_bytes) - 1 - number.size(), '.') + number;
        content += '\n';
      }
      t.file("ws/f", content);
      const auto near = read_lines(r, "f", {lines - 2, lines - 1});
      ASSERT_THAT(near, IsOk());
      EXPECT_TRUE(near->text.ends_with("." + std::to_string(lines - 2))) << near->text;
      EXPECT_EQ(near->offset, static_cast<std::uint64_t>((lines - 2) * line_bytes));
      const auto tail = read_lines(r, "f", {1, std::nullopt});
      ASSERT_THAT(tail, IsOk());
      EXPECT_EQ(tail->text, content.substr(line_bytes));
      EXPECT_EQ(tail->total_lines, lines + 1);
    }
}

TEST_F(read_test, a_sparse_file_of_a_tebibyte) {
  sparse("f", "one\ntwo\nthree\n", tebibyte);
  EXPECT_THAT(read_file(r, "f"), IsError(too_large));
  EXPECT_THAT(read_lines(r, "f", {}), IsError(too_large));
  EXPECT_THAT(edit_file(r, "f", {.old_text = "one", .new_text = "1"}), IsError(too_large));
  const auto head = read_lines(r, "f", {0, 2});
  ASSERT_THAT(head, IsOk());
  EXPECT_EQ(head->text, "one\ntwo");
  EXPECT_FALSE(head->total_lines);
  EXPECT_THAT(read_lines(r, "f", {3, 4}), IsError(too_large)); // a line without an end
  const auto prefix = read_prefix(r, "f", 3);
  ASSERT_THAT(prefix, IsOk());
  EXPECT_EQ(prefix->bytes, "one");
}

TEST_F(read_test, holes_are_passed_and_data_between_them_are_not) {
  constexpr std::uint64_t size = 15 * tebibyte;
  sparse("f", "one\ntwo\n", size);
  const int fd = ::open((canary.ws() + "/f").c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(5, ::pwrite(fd, "\nmid\n", 5, static_cast<off_t>(7 * tebibyte + 12'345)));
  ASSERT_EQ(5, ::pwrite(fd, "\nlast", 5, static_cast<off_t>(size - 5)));
  ::close(fd);
  const auto last = read_lines(r, "f", {.from = -1});
  ASSERT_THAT(last, IsOk());
  EXPECT_EQ(last->text, "last");
  EXPECT_EQ(last->total_lines, 6); // one, two, a hole, mid, a hole, last
  EXPECT_EQ(last->offset, size - 4);
  const auto middle = read_lines(r, "f", {3, 4});
  ASSERT_THAT(middle, IsOk());
  EXPECT_EQ(middle->text, "mid");
  EXPECT_EQ(middle->offset, 7 * tebibyte + 12'346);
  EXPECT_THAT(read_lines(r, "f", {2, 3}), IsError(too_large)); // the hole itself
}

TEST_F(read_test, bounds_end_what_takes_long) {
  constexpr std::size_t large = 4 * 1024 * 1024;
  t.file("ws/f", std::string(large, 'x') + "\n");
  const std::atomic<bool> yes{true};
  const std::atomic<bool> no{false};
  EXPECT_THAT(read_lines(r, "f", {.from = -1}, {.bounds = {.deadline_ms = 0}}), IsError(timed_out));
  EXPECT_THAT(read_lines(r, "f", {.from = -1}, {.bounds = {.cancelled = &yes}}),
              IsError(cancelled));
  EXPECT_THAT(read_lines(r, "f", {.from = -1}, {.bounds = {.cancelled = &no}}), IsOk());
  // What is quick is not interrupted.
  EXPECT_THAT(read_lines(r, "f", {.from = 1, .to = 1}, {.bounds = {.cancelled = &no}}), IsOk());
  t.file("ws/f", std::string(4 * large, 'x') + "\n");
  const std::uint64_t enough = 8 * large;
  EXPECT_THAT(read_file(r, "f", {.bytes_max = enough, .bounds = {.deadline_ms = 0}}),
              IsError(timed_out));
  EXPECT_THAT(read_file(r, "f", {.bytes_max = enough, .bounds = {.cancelled = &yes}}),
              IsError(cancelled));
  EXPECT_THAT(read_file(r, "f", {.bytes_max = enough}), IsOk());
}

TEST_F(read_test, memory_is_taken_from_the_budget_and_given_back) {
  constexpr std::size_t large = 1'000'000;
  t.file("ws/f", std::string(large, 'x'));
  memory_budget budget(large + 100);
  {
    const auto file = read_file(r, "f", {.bounds = {.memory = &budget}});
    ASSERT_THAT(file, IsOk());
    EXPECT_EQ(budget.held(), large);
    EXPECT_THAT(read_file(r, "f", {.bounds = {.deadline_ms = 0, .memory = &budget}}),
                IsError(too_many));
    EXPECT_THAT(read_lines(r, "f", {}, {.bounds = {.deadline_ms = 0, .memory = &budget}}),
                IsError(too_many));
  }
  EXPECT_EQ(budget.held(), 0U);
  EXPECT_THAT(read_lines(r, "f", {}, {.bounds = {.memory = &budget}}), IsOk());
  memory_budget small(large - 1);
  EXPECT_THAT(read_file(r, "f", {.bounds = {.memory = &small}}), IsError(too_large));
  EXPECT_EQ(small.held(), 0U);
}

long peak_kib() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST_F(read_test, memory_does_not_grow_with_the_file) {
  sparse("f", "one\ntwo\nthree\n", std::uint64_t{1} << 30);
  EXPECT_EQ(test::in_child([] { return true; },
                           [&] {
                             const long before = peak_kib();
                             EXPECT_THAT(read_lines(r, "f", {0, 3}), IsOk());
                             EXPECT_THAT(read_file(r, "f"), IsError(too_large));
                             sparse("f", "one\ntwo\nthree\n", std::uint64_t{64} << 20);
                             const auto tail = read_lines(r, "f", {.from = -3, .to = -1});
                             ASSERT_THAT(tail, IsOk());
                             EXPECT_EQ(tail->total_lines, 4);
                             EXPECT_LT(peak_kib() - before, 8 * 1024);
                           }),
            test::child_end::finished);
}

TEST_F(read_test, a_file_that_changes_meanwhile_stays_within_the_bound) {
  constexpr std::uint64_t bytes_max = 100'000;
  t.file("ws/f");
  std::atomic<bool> done{false};
  std::thread writer([&] {
    const std::string part(10'000, 'x');
    for (int i = 0; !done; ++i) {
      const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | (i % 20 == 0 ? O_TRUNC : 0);
      const int fd = ::open((canary.ws() + "/f").c_str(), flags);
      EXPECT_EQ(::write(fd, part.data(), part.size()), 10'000);
      ::close(fd);
    }
  });
  for (int i = 0; i < 2000; ++i) {
    const auto got = read_file(r, "f", {.bytes_max = bytes_max});
    if (got)
      EXPECT_LE(got->bytes.size(), bytes_max);
    else
      EXPECT_EQ(got.error().code, too_large);
  }
  done = true;
  writer.join();
}

// --- inspect ------------------------------------------------------------------------------------

/// File systems have times that 64 bits do not hold in nanoseconds, as of a damaged archive.
TEST_F(read_test, inspect_tells_the_nearest_of_times_that_are_too_far) {
  t.file("ws/f", "12345");
  const std::string path = canary.ws() + "/f";
  for (const std::int64_t asked : {15'000'000'000LL, -15'000'000'000LL}) {
    const timespec times[2] = {{.tv_sec = asked, .tv_nsec = 0}, {.tv_sec = asked, .tv_nsec = 0}};
    ASSERT_EQ(0, ::utimensat(AT_FDCWD, path.c_str(), times, 0));
    struct stat s{};
    ASSERT_EQ(0, ::stat(path.c_str(), &s));
    const auto got = inspect(r, "f");
    ASSERT_THAT(got, IsOk());
    const std::int64_t held =
        std::clamp<std::int64_t>(s.st_mtim.tv_sec, -9'223'372'035, 9'223'372'035);
    EXPECT_EQ(got->status.modified_ns, held * 1'000'000'000 + s.st_mtim.tv_nsec);
  }
}

TEST_F(read_test, inspect_tells_what_the_kernel_tells) {
  t.file("ws/f", "12345");
  ASSERT_EQ(0, ::chmod((canary.ws() + "/f").c_str(), 0751));
  t.link("ws/l", "f");
  struct stat s{};
  ASSERT_EQ(0, ::stat((canary.ws() + "/f").c_str(), &s));
  for (const char* path : {"f", "l"}) {
    const auto got = inspect(r, path);
    ASSERT_THAT(got, IsOk());
    EXPECT_EQ(got->path, "f");
    EXPECT_EQ(got->status.kind, entry_kind::file);
    EXPECT_EQ(got->status.size, 5U);
    EXPECT_EQ(got->status.mode, 0751U);
    EXPECT_EQ(got->status.inode, s.st_ino);
    EXPECT_EQ(got->status.device, s.st_dev);
    EXPECT_EQ(got->status.uid, s.st_uid);
    EXPECT_EQ(got->status.links, 1U);
    EXPECT_EQ(got->status.modified_ns, s.st_mtim.tv_sec * 1'000'000'000 + s.st_mtim.tv_nsec);
    EXPECT_TRUE(got->readable && got->writable && got->executable);
  }
  const auto top = inspect(r, ".");
  ASSERT_THAT(top, IsOk());
  EXPECT_EQ(top->status.kind, entry_kind::directory);
  EXPECT_EQ(top->path, "");
}

TEST_F(read_test, a_file_without_write_bits_is_not_writable_even_for_root) {
  t.file("ws/f", "x");
  ASSERT_EQ(0, ::chmod((canary.ws() + "/f").c_str(), 0444));
  const auto got = inspect(r, "f");
  ASSERT_THAT(got, IsOk());
  EXPECT_TRUE(got->readable);
  EXPECT_FALSE(got->writable);
  EXPECT_FALSE(got->executable);
}

TEST_F(read_test, inspect_sees_what_cannot_be_read) {
  ASSERT_EQ(0, ::mkfifo((canary.ws() + "/fifo").c_str(), 0666));
  const auto got = inspect(r, "fifo");
  ASSERT_THAT(got, IsOk());
  EXPECT_EQ(got->status.kind, entry_kind::other);
}

} // namespace
} // namespace paddock
