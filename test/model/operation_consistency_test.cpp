// SPDX-License-Identifier: MIT

// Random operations on random trees, three times over: by plain system calls, by the library with
// openat2 and by the library with the walker. As long as no path leaves, all three say the same and
// leave the same tree. Seeds are fixed.

#include "support/files/canary.hpp"
#include "support/process/process.hpp"

#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

#include <linux/fs.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

namespace paddock {
namespace {

namespace fs = std::filesystem;

using random_source = std::mt19937;

constexpr unsigned trees = 16;
constexpr int operations_on_a_tree = 250;
constexpr const char* names[] = {"a", "b", "c", "d", "e"};

std::size_t below(random_source& random, std::size_t bound) {
  return random() % bound;
}

/// Never ends in `.` or `..`, which operations on entries refuse in words of their own.
std::string random_path(random_source& random, std::size_t length_max) {
  std::string path;
  for (std::size_t left = below(random, length_max); left > 0; --left)
    path +=
        below(random, 5) == 0 ? "../" : std::string(names[below(random, std::size(names))]) + '/';
  path += names[below(random, std::size(names))];
  if (below(random, 10) == 0) path += '/';
  return path;
}

void grow(random_source& random, const std::string& directory, int depth) {
  for (const char* name : names) {
    const std::string path = directory + '/' + name;
    const std::size_t kind = below(random, 10);
    if (kind < 4 && depth > 0) {
      ASSERT_EQ(0, ::mkdir(path.c_str(), 0777));
      grow(random, path, depth - 1);
    } else if (kind < 6) {
      ASSERT_EQ(0, ::mknod(path.c_str(), S_IFREG | 0666, 0));
    } else if (kind < 8) {
      ASSERT_EQ(0, ::symlink(random_path(random, 3).c_str(), path.c_str()));
    }
  }
}

/// Names, kinds, link texts and contents beneath a directory.
std::string picture(const std::string& top) {
  std::map<std::string, std::string> rows;
  for (const auto& entry : fs::recursive_directory_iterator(top)) {
    const auto status = entry.symlink_status();
    std::string row = std::to_string(static_cast<int>(status.type()));
    if (fs::is_symlink(status)) row += fs::read_symlink(entry).string();
    if (fs::is_regular_file(status)) {
      std::ifstream in(entry.path(), std::ios::binary);
      row.append(std::istreambuf_iterator<char>(in), {});
    }
    rows[entry.path().string().substr(top.size())] = row;
  }
  std::string all;
  for (const auto& [name, row] : rows)
    all.append(name).append(" ").append(row).append("\n");
  return all;
}

/// errno, or 0 and what was found.
struct outcome {
  int os_errno = 0;
  std::string found = {};
  friend bool operator==(const outcome&, const outcome&) = default;
  friend std::ostream& operator<<(std::ostream& out, const outcome& o) {
    return out << (o.os_errno != 0 ? std::strerror(o.os_errno) : "ok ") << o.found;
  }
};

outcome by_errno(long returned) {
  return {.os_errno = returned < 0 ? errno : 0};
}

/// The errno that a code stands for, where the library has found the reason by itself.
outcome of(const error& e) {
  if (e.os_errno != 0) return {.os_errno = e.os_errno};
  constexpr std::pair<error_code, int> reasons[] = {
      {error_code::not_found, ENOENT},        {error_code::is_a_directory, EISDIR},
      {error_code::not_a_directory, ENOTDIR}, {error_code::already_exists, EEXIST},
      {error_code::not_empty, ENOTEMPTY},     {error_code::dangling_symlink, ENOENT},
  };
  for (const auto& [code, os_errno] : reasons)
    if (code == e.code) return {.os_errno = os_errno};
  return {.os_errno = -1, .found = std::string(wire_name(e.code))};
}
template <class T> outcome of(const result<T>& got) {
  return got ? outcome{} : of(got.error());
}

struct arguments {
  std::string path;
  std::string other; ///< destination, or content
};

struct operation {
  const char* name;
  outcome (*plain)(int root, const arguments&);
  outcome (*library)(const root&, const arguments&);
  bool follows; ///< the last component's link
};

outcome write_plainly(int root, const arguments& a, int flags) {
  const file_descriptor fd(::openat(root, a.path.c_str(), O_WRONLY | O_CLOEXEC | flags, 0666));
  if (!fd) return {.os_errno = errno};
  return by_errno(::write(fd.get(), a.other.data(), a.other.size()));
}

outcome read_plainly(int root, const arguments& a) {
  const file_descriptor fd(::openat(root, a.path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return {.os_errno = errno};
  std::array<char, 4096> bytes;
  const auto n = ::read(fd.get(), bytes.data(), bytes.size());
  if (n < 0) return {.os_errno = errno};
  return {.found = std::string(bytes.data(), static_cast<std::size_t>(n))};
}

outcome list_plainly(int root, const arguments& a) {
  const file_descriptor fd(::openat(root, a.path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return {.os_errno = errno};
  std::vector<std::string> found;
  for (const auto& entry :
       fs::directory_iterator("/proc/self/fd/" + std::to_string(fd.get()) + "/"))
    found.push_back(entry.path().filename());
  std::ranges::sort(found);
  outcome all;
  for (const auto& name : found)
    all.found += name + '\n';
  return all;
}

outcome inspect_plainly(int root, const arguments& a) {
  struct stat s{};
  if (::fstatat(root, a.path.c_str(), &s, 0) != 0) return {.os_errno = errno};
  return {.found = std::to_string(s.st_mode & 0777) + ' ' + std::to_string(s.st_nlink)};
}

const operation operations[] = {
    {"read", read_plainly,
     [](const root& r, const arguments& a) {
       const auto got = read_file(r, a.path);
       return got ? outcome{.found = got->bytes} : of(got.error());
     },
     true},
    {"write", [](int at, const arguments& a) { return write_plainly(at, a, O_CREAT | O_TRUNC); },
     [](const root& r, const arguments& a) {
       return of(write_file(r, a.path, a.other, {.missing = parents::require}));
     },
     true},
    {"append", [](int at, const arguments& a) { return write_plainly(at, a, O_APPEND); },
     [](const root& r, const arguments& a) { return of(append_file(r, a.path, a.other)); }, true},
    {"inspect", inspect_plainly,
     [](const root& r, const arguments& a) {
       const auto got = inspect(r, a.path);
       if (!got) return of(got.error());
       return outcome{.found = std::to_string(got->status.mode & 0777U) + ' ' +
                               std::to_string(got->status.links)};
     },
     true},
    {"list", list_plainly,
     [](const root& r, const arguments& a) {
       const auto got = list_directory(r, a.path);
       if (!got) return of(got.error());
       outcome all;
       for (const auto& entry : got->entries)
         all.found.append(got->name(entry)).append("\n");
       return all;
     },
     true},
    {"make_directory",
     [](int at, const arguments& a) { return by_errno(::mkdirat(at, a.path.c_str(), 0777)); },
     [](const root& r, const arguments& a) { return of(create_directory(r, a.path)); }, false},
    {"remove_file",
     [](int at, const arguments& a) { return by_errno(::unlinkat(at, a.path.c_str(), 0)); },
     [](const root& r, const arguments& a) { return of(remove_file(r, a.path)); }, false},
    {"remove_directory",
     [](int at, const arguments& a) {
       return by_errno(::unlinkat(at, a.path.c_str(), AT_REMOVEDIR));
     },
     [](const root& r, const arguments& a) { return of(remove_directory(r, a.path)); }, false},
    {"move",
     [](int at, const arguments& a) {
       return by_errno(
           ::syscall(SYS_renameat2, at, a.path.c_str(), at, a.other.c_str(), RENAME_NOREPLACE));
     },
     [](const root& r, const arguments& a) { return of(move_entry(r, a.path, a.other)); }, false},
};

/// What the kernel says of a path that may not leave.
int beneath(int root, const std::string& path, int flags) {
  open_how how{.flags = static_cast<__u64>(flags) | O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH};
  for (;;) {
    const file_descriptor fd(
        static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
    if (fd) return 0;
    if (errno != EAGAIN) return errno;
  }
}

std::string parent_of(std::string path) {
  while (path.ends_with('/'))
    path.pop_back();
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/// Whether plain calls would do the same with a path: it stays inside, and where an entry is to be
/// made its parent is there (the library makes parents, plain calls do not).
bool is_comparable(int root, const operation& op, const std::string& path) {
  if (beneath(root, parent_of(path), O_DIRECTORY) != 0) return false;
  return !op.follows || beneath(root, path, 0) != EXDEV;
}

/// Where the kernel looks at a slash behind a name at another time than at what has the name, so
/// that of two reasons to refuse it gives the other one.
bool speaks_of_the_slash_first(const operation& op, const arguments& a) {
  const std::string_view name = op.name;
  return (name == "write" && a.path.ends_with('/')) ||
         (name == "move" && (a.path.ends_with('/') || a.other.ends_with('/')));
}

struct copy {
  explicit copy(unsigned seed) {
    random_source random(seed);
    grow(random, canary.ws(), 3);
    fd = file_descriptor(::open(canary.ws().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  test::canary_tree canary;
  file_descriptor fd;
};

struct tally {
  int compared = 0, succeeded = 0, left = 0;
};

void compare_on_a_tree(unsigned seed, tally& seen) {
  const copy plain(seed), first(seed), second(seed);
  const root by_openat2 = test::open_root(first.canary.ws(), resolver::openat2);
  const root by_walker = test::open_root(second.canary.ws(), resolver::walker);
  const std::string outside = plain.canary.describe_outside();
  random_source random(seed + 1'000);
  for (int i = 0; i < operations_on_a_tree && !testing::Test::HasFailure(); ++i) {
    const operation& op = operations[below(random, std::size(operations))];
    const bool move = op.name == std::string_view("move");
    const arguments a{random_path(random, 4),
                      move ? random_path(random, 4) : "content " + std::to_string(i)};
    SCOPED_TRACE(std::string(op.name) + ' ' + a.path + " -> " + a.other);
    const int at = plain.fd.get();
    if (!is_comparable(at, op, a.path) || speaks_of_the_slash_first(op, a) ||
        (move && !is_comparable(at, op, a.other))) {
      ++seen.left; // they may do nothing to the outside, and nothing else is asked of them here
      continue;
    }
    const outcome want = op.plain(at, a);
    ASSERT_EQ(want, op.library(by_openat2, a));
    ASSERT_EQ(want, op.library(by_walker, a));
    ++seen.compared;
    if (want.os_errno == 0) ++seen.succeeded;
  }
  const std::string wanted = picture(plain.canary.ws());
  EXPECT_EQ(wanted, picture(first.canary.ws()));
  EXPECT_EQ(wanted, picture(second.canary.ws()));
  EXPECT_EQ(outside, plain.canary.describe_outside());
}

using operation_consistency = test::judged_by_openat2;

TEST_F(operation_consistency, operations_do_what_plain_system_calls_do) {
  tally seen;
  for (unsigned seed = 1; seed <= trees; ++seed) {
    SCOPED_TRACE(seed);
    compare_on_a_tree(seed, seen);
  }
  EXPECT_GT(seen.compared, 1'000);
  EXPECT_GT(seen.succeeded, 300);
  EXPECT_GT(seen.left, 100);
  RecordProperty("compared", seen.compared);
  RecordProperty("succeeded", seen.succeeded);
}

TEST_F(operation_consistency, the_same_for_an_ordinary_user) {
  if (test::in_child(test::become_nobody, [] {
        tally seen;
        for (unsigned seed = 1; seed <= trees / 4; ++seed)
          compare_on_a_tree(seed + 100, seen);
        EXPECT_GT(seen.succeeded, 50);
      }) == test::child_end::refused)
    GTEST_SKIP() << "changing the user needs privilege";
}

} // namespace
} // namespace paddock
