// SPDX-License-Identifier: MIT

// Walks through a tree that is wide enough for several threads, while an attacker exchanges one
// name in it. What it has exchanged may be missed or met; all else is met each time, and nothing
// from outside, from hidden places or from devices is.

#include "attacks.hpp"

#include <paddock/search/find_files.hpp>
#include <paddock/search/text_search.hpp>
#include <paddock/search/tree_map.hpp>

#include <sched.h>
#include <sys/sysmacros.h>

namespace paddock::test {
namespace {

/// What is exchanged, beneath ws; `a` is in the wide tree.
struct exchange {
  const char* name;
  const char* a;
  const char* b;
};

constexpr exchange exchanges[] = {
    {"directory_with_link_to_outside", "wide/d07", "link"},
    {"deep_directory_with_link_to_outside", "wide/d07/in", "link"},
    {"directory_with_hidden_one", "wide/d07", ".perstack"},
    {"deep_directory_with_hidden_one", "wide/d07/in", ".perstack"},
    {"directory_with_fifo", "wide/d07", "fifo"},
    {"file_with_fifo", "wide/d07/f1", "fifo"},
    {"file_with_device", "wide/d07/f1", "device"},
    {"file_with_link_to_outside", "wide/d07/f1", "link_to_file"},
    {"file_with_directory", "wide/d07/f1", "wide/d08"},
    {"the_ignore_file_with_fifo", "wide/.gitignore", "fifo"},
    {"all_with_link_to_outside", "wide", "link"},
};
constexpr int directories = 48, files = 3;

std::string directory_name(int directory) {
  return (directory < 10 ? "d0" : "d") + std::to_string(directory);
}

/// Every file inside has its path beneath `wide` in it, on a line with the word that is searched.
void build(const canary_tree& canary) {
  const temp_tree& t = canary.tree();
  for (int d = 0; d < directories; ++d) {
    const std::string at = directory_name(d);
    t.directory("ws/wide/" + at + "/in");
    for (int f = 0; f < files; ++f)
      for (const char* below : {"/f", "/in/g"}) {
        const std::string path = at + below + std::to_string(f);
        t.file("ws/wide/" + path, "SIDE " + path + "\n");
      }
  }
  t.file("ws/wide/.gitignore", "# none\n");
  for (const char* outside : {"out/", "ws/.perstack/"})
    for (const char* name : {"f0", "f1", "g1", "in/g0", "d00/f0", "secret"}) {
      const std::string path = std::string(outside) + name;
      t.directory(path.substr(0, path.rfind('/')));
      t.file(path, std::string(outside_mark) + " secret\n");
    }
  t.link("ws/link", canary.out());
  t.link("ws/link_to_file", canary.out() + "/f0");
  ASSERT_EQ(0, ::mkfifo((t / "ws/fifo").c_str(), 0666));
  const std::string device = t / "ws/device";
  ASSERT_TRUE(::mknod(device.c_str(), S_IFCHR | 0666, makedev(1, 5)) == 0 ||
              ::mknod(device.c_str(), S_IFCHR | 0666, makedev(0, 0)) == 0);
}

/// What a walk has met: paths, of searches as their matches have them.
using met = std::set<std::string>;

void search(const root& r, unsigned threads, met& seen) {
  const auto word = text_pattern::compile("SIDE", {.syntax = pattern_syntax::literal});
  const auto got = search_text(r, ".", *word, {.limit = 100'000, .threads_max = threads});
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->exact);
  for (const file_matches& file : got->files)
    for (const found_line& line : file.lines) {
      EXPECT_EQ(line.text.find(outside_mark), std::string::npos) << file.path;
      if (line.text.starts_with("SIDE ")) seen.insert(line.text.substr(5));
    }
}

void find(const root& r, unsigned threads, met& seen) {
  const auto got =
      find_files(r, ".", *glob::compile("[fgs]*"),
                 {.kind = wanted_kind::file, .limit = 100'000, .threads_max = threads});
  ASSERT_TRUE(got);
  for (const std::string& path : got->paths) {
    EXPECT_EQ(path.find("secret"), std::string::npos) << path;
    if (path.starts_with("wide/")) seen.insert(path.substr(5));
  }
}

void map(const root& r, unsigned threads, met& seen) {
  const auto got = map_tree(r, "wide", {.bytes_max = 1'000'000, .threads_max = threads});
  if (!got) return; // what the path names is exchanged itself
  std::string at;
  for (const map_line& line : got->lines) {
    EXPECT_NE(line.name, "secret");
    const auto slashes = [](const std::string& of) { return std::ranges::count(of, '/'); };
    while (slashes(at) > static_cast<long>(line.depth))
      at.erase(at.rfind('/', at.size() - 2) + 1);
    if (line.kind == map_kind::directory) at += line.name;
    if (line.kind == map_kind::file || line.kind == map_kind::link) seen.insert(at + line.name);
  }
}

struct walk_case {
  const char* name;
  void (*run)(const root&, unsigned threads, met&);
};
constexpr walk_case walks[] = {{"search", search}, {"find", find}, {"map", map}};

class walk_race : public testing::TestWithParam<std::tuple<resolver, unsigned, walk_case>> {};

TEST_P(walk_race, meets_all_that_is_inside_and_nothing_else) {
  constexpr int rounds = 4;
  const auto& [how, threads, walk] = GetParam();
  const canary_tree canary;
  build(canary);
  if (HasFatalFailure()) return;
  const root r = open_root(canary.ws(), how);
  met all;
  walk.run(r, 1, all);
  met some = all;
  std::erase_if(some, [](const std::string& path) {
    return path.starts_with("d07") || path.starts_with("d08") || path.starts_with(".");
  });
  ASSERT_EQ(std::size_t{2} * files * (directories - 2), some.size());
  for (const exchange& each : exchanges) {
    SCOPED_TRACE(each.name);
    const bool all_of_it = std::string_view(each.a) == "wide";
    const std::string outside = canary.describe_outside();
    {
      attacker enemy(attacker_kind::thread, canary.ws() + '/' + each.a, canary.ws() + '/' + each.b);
      enemy.wait_for_swaps(1);
      for (int i = 0; i < rounds && !HasFailure(); ++i) {
        enemy.give_way();
        met seen;
        walk.run(r, threads, seen);
        for (const std::string& path : some)
          EXPECT_TRUE(all_of_it || seen.contains(path)) << path;
      }
    }
    EXPECT_EQ(outside, canary.describe_outside());
    met after;
    walk.run(r, threads, after);
    EXPECT_EQ(all, after);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(every, walk_race,
                         testing::Combine(testing::Values(resolver::openat2, resolver::walker),
                                          testing::Values(1u, 2u, 8u), testing::ValuesIn(walks)),
                         [](const auto& suite) {
                           return std::string(std::get<2>(suite.param).name) + "_" +
                                  name_of(std::get<0>(suite.param)) + "_threads_" +
                                  std::to_string(std::get<1>(suite.param));
                         });

/// The control: who looks whether an entry is a directory and goes on by its path is led out, or
/// into what is hidden.
TEST(walk_race_control, walking_by_paths_loses) {
  constexpr int tries_max = 100'000;
  for (const exchange& each : {exchanges[0], exchanges[1], exchanges[7]}) {
    SCOPED_TRACE(each.name);
    const canary_tree canary;
    build(canary);
    attacker enemy(attacker_kind::thread, canary.ws() + '/' + each.a, canary.ws() + '/' + each.b);
    bool lost = false;
    for (int i = 0; i < tries_max && !lost; ++i)
      for (const char* file : {"wide/d07/f1", "wide/d07/in/g1"}) {
        const std::string path = canary.ws() + '/' + file;
        const std::string above = path.substr(0, path.rfind('/'));
        struct stat looked{};
        if (::lstat(above.c_str(), &looked) != 0 || !S_ISDIR(looked.st_mode)) continue;
        if (::lstat(path.c_str(), &looked) != 0 || !S_ISREG(looked.st_mode)) continue;
        ::sched_yield();
        std::array<char, 64> bytes{};
        const file_descriptor fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
        lost = lost || (fd && ::read(fd.get(), bytes.data(), bytes.size() - 1) > 0 &&
                        std::string_view(bytes.data()).starts_with(outside_mark));
      }
    EXPECT_TRUE(lost) << "the attack never worked, so the other tests prove nothing";
  }
}

} // namespace
} // namespace paddock::test
