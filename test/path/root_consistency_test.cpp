// SPDX-License-Identifier: MIT

// Random paths in random trees: whatever stays beneath the root is what the kernel finds there,
// with the kernel's errno, and both resolvers agree. Seeds are fixed.

#include "support/files/canary.hpp"
#include "support/matchers.hpp"
#include "support/process/process.hpp"

#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

#include <linux/openat2.h>
#include <sys/syscall.h>

#include <ostream>

namespace paddock {
namespace {

using random_source = std::mt19937;

constexpr unsigned trees = 20;
constexpr int paths_of_a_tree = 1'000;

constexpr __u64 beneath = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
constexpr const char* names[] = {"a", "b", "c", "d", "e", "f"};

std::size_t below(random_source& random, std::size_t bound) {
  return random() % bound;
}

/// Whether `.` may be a component. The kernel asks for search permission in a directory to find `.`
/// in it; here it is no look-up at all, so directories that may not be entered tell the difference.
enum class dots : std::uint8_t { yes, no };

/// Components of a path or of a link's target; leaving the root is possible and must be refused.
std::string random_path(random_source& random, std::size_t length_max, dots with) {
  std::string path;
  const std::size_t length = 1 + below(random, length_max);
  for (std::size_t i = 0; i < length; ++i) {
    if (i > 0) path += below(random, 12) == 0 ? "//" : "/";
    switch (below(random, 8)) {
    case 0:
      path += with == dots::yes ? "." : "a";
      break;
    case 1:
      path += "..";
      break;
    default:
      path += names[below(random, std::size(names))];
    }
  }
  if (below(random, 6) == 0) path += '/';
  return path;
}

/// Directories, files, links and, here and there, a directory that may not be entered.
void grow(random_source& random, const std::string& directory, int depth, dots with) {
  for (const char* name : names) {
    const std::string path = directory + '/' + name;
    const std::size_t kind = below(random, 10);
    if (kind < 4 && depth > 0) {
      ASSERT_EQ(0, ::mkdir(path.c_str(), 0777));
      grow(random, path, depth - 1, with);
      if (below(random, 12) == 0) ::chmod(path.c_str(), below(random, 2) == 0 ? 0 : 0444);
    } else if (kind < 6) {
      ASSERT_EQ(0, ::mknod(path.c_str(), S_IFREG | 0666, 0));
    } else if (kind < 9) {
      ASSERT_EQ(0, ::symlink(random_path(random, 3, with).c_str(), path.c_str()));
    }
  }
}

struct outcome {
  int os_errno = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const outcome&, const outcome&) = default;
  friend std::ostream& operator<<(std::ostream& out, const outcome& o) {
    return out << (o.os_errno != 0 ? std::strerror(o.os_errno) : "ok") << ", inode " << o.inode;
  }
};

outcome of(file_descriptor fd) {
  if (!fd) return {.os_errno = errno};
  struct stat s{};
  EXPECT_EQ(0, ::fstat(fd.get(), &s));
  return {.os_errno = 0, .inode = s.st_ino};
}
outcome of(const result<opened>& got) {
  if (!got) return {.os_errno = got.error().os_errno};
  return {.inode = got->status.inode};
}

/// Asks again after EAGAIN: a rename anywhere on the machine was under way.
outcome by_kernel(int root, const std::string& path, int flags) {
  open_how how{.flags = static_cast<__u64>(flags) | O_CLOEXEC, .resolve = beneath};
  outcome got{.os_errno = EAGAIN};
  while (got.os_errno == EAGAIN)
    got = of(file_descriptor(
        static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how))));
  return got;
}
outcome by_plain_open(int root, const std::string& path, int flags) {
  return of(file_descriptor(::openat(root, path.c_str(), flags | O_CLOEXEC)));
}

struct tally {
  int found = 0, missing = 0, escaping = 0, other = 0;
};

void compare(const root& by_openat2, const root& by_walker, const std::string& path, tally& seen) {
  const int fd = by_openat2.descriptor();
  for (const auto& [intent, flags] :
       {std::pair(access::inspect, O_PATH), std::pair(access::directory, O_RDONLY | O_DIRECTORY)}) {
    SCOPED_TRACE(testing::Message() << path << ", flags " << flags);
    const outcome want = by_kernel(fd, path, flags);
    outcome first = of(by_openat2.open_beneath(path, intent));
    outcome second = of(by_walker.open_beneath(path, intent));
    if (want.os_errno == EXDEV) {
      // The reason of a refusal may be met in another order; that it is refused may not change.
      EXPECT_NE(first.os_errno, 0);
      EXPECT_EQ(first, second);
      ++seen.escaping;
      continue;
    }
    ASSERT_EQ(first, want);
    ASSERT_EQ(second, want);
    ASSERT_EQ(by_plain_open(fd, path, flags), want);
    (want.os_errno == 0 ? seen.found : want.os_errno == ENOENT ? seen.missing : seen.other)++;
  }
}

void compare_many(const std::string& path, unsigned seed, dots with, tally& seen) {
  const root by_openat2 = test::open_root(path, resolver::openat2);
  const root by_walker = test::open_root(path, resolver::walker);
  random_source random(seed);
  for (int i = 0; i < paths_of_a_tree && !testing::Test::HasFailure(); ++i)
    compare(by_openat2, by_walker, random_path(random, 7, with), seen);
}

using root_consistency = test::judged_by_openat2;

TEST_F(root_consistency, agrees_with_the_kernel) {
  const dots with = ::geteuid() == 0 ? dots::yes : dots::no;
  tally seen;
  for (unsigned seed = 1; seed <= trees; ++seed) {
    SCOPED_TRACE(seed);
    const test::canary_tree canary;
    random_source random(seed);
    grow(random, canary.ws(), 3, with);
    compare_many(canary.ws(), seed, with, seen);
  }
  EXPECT_GT(seen.found, 1000);
  EXPECT_GT(seen.missing, 1000);
  EXPECT_GT(seen.escaping, 1000);
  EXPECT_GT(seen.other, 1000);
  RecordProperty("found", seen.found);
  RecordProperty("refused_or_failed", seen.missing + seen.escaping + seen.other);
}

TEST_F(root_consistency, agrees_with_the_kernel_for_an_ordinary_user) {
  for (unsigned seed = 1; seed <= trees / 4; ++seed) {
    SCOPED_TRACE(seed);
    const test::canary_tree canary;
    random_source random(seed);
    grow(random, canary.ws(), 3, dots::no);
    test::give_to_nobody(canary.ws());
    if (test::in_child(test::become_nobody, [&] {
          tally seen;
          compare_many(canary.ws(), seed, dots::no, seen);
          EXPECT_GT(seen.found + seen.missing + seen.other, 0);
        }) == test::child_end::refused)
      GTEST_SKIP() << "changing the user needs privilege";
  }
}

/// What is found by one path is found again by the resolved one.
TEST_F(root_consistency, resolved_paths_are_free_of_links_and_lead_to_the_same) {
  for (unsigned seed = 1; seed <= trees; ++seed) {
    const test::canary_tree canary;
    random_source random(seed);
    grow(random, canary.ws(), 3, dots::yes);
    const root r = test::open_root(canary.ws(), resolver::automatic);
    for (int i = 0; i < paths_of_a_tree / 4; ++i) {
      const auto got = r.open_beneath(random_path(random, 6, dots::yes), access::inspect);
      if (!got || got->path.empty()) continue;
      open_how how{.flags = O_PATH | O_CLOEXEC, .resolve = beneath | RESOLVE_NO_SYMLINKS};
      EXPECT_EQ(of(file_descriptor(static_cast<int>(
                    ::syscall(SYS_openat2, r.descriptor(), got->path.c_str(), &how, sizeof how)))),
                of(got));
      EXPECT_EQ(("/" + got->path + "/").find("/../"), std::string::npos);
      EXPECT_EQ(std::filesystem::path(r.absolute(got->path)),
                std::filesystem::canonical(r.absolute(got->path)));
    }
  }
}

} // namespace
} // namespace paddock
