// SPDX-License-Identifier: MIT

// The other end of an import: the folder or archive that is copied changes while it is read. What
// arrives is the source's own, and of one source.

#include "attacks.hpp"
#ifdef PADDOCK_TEST_ZIP
#include "support/files/make_archive.hpp"
#endif
#include "support/files/skill_fixture.hpp"
#include "support/matchers.hpp"

namespace paddock::test {
namespace {

struct source_attack {
  const char* name;
  const char* a;
  const char* b;
  bool may_be_the_other = false; ///< the source's own name: who names it takes what is there
  const char* source = "src";
};

constexpr source_attack source_attacks[] = {
    {"directory_with_link", "src/sub", "stash/x"},
    {"file_with_link", "src/sub/f.txt", "stash/fx"},
    {"directory_with_file", "src/sub", "stash/file"},
    {"file_with_directory", "src/sub/f.txt", "stash/directory"},
    {"source_with_other_source", "src", "other", true},
#ifdef PADDOCK_TEST_ZIP
    {"archive_with_other_archive", "src.zip", "other.zip", true, "src.zip"},
    {"archive_with_link", "src.zip", "link.zip", true, "src.zip"},
    {"archive_with_folder", "src.zip", "other", true, "src.zip"},
    {"archive_with_text", "src.zip", "stash/file", false, "src.zip"},
    {"archive_with_fifo", "src.zip", "stash/fifo", false, "src.zip"},
#endif
};

std::string content_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Of one attack by one attacker.
int rounds_of_imports() {
  const char* asked = std::getenv("PADDOCK_RACE_ROUNDS");
  return asked != nullptr ? std::max(1, std::atoi(asked) / 2) : 100;
}

class import_source_test
    : public skill_fixture,
      public testing::WithParamInterface<std::tuple<attacker_kind, source_attack>> {
protected:
  import_source_test() {
    for (const auto& [at, mark] : {std::pair("src", "INSIDE"), std::pair("other", "OUTSIDE")}) {
      const std::string top = at;
      t.directory(top + "/sub/deep");
      t.file(top + "/SKILL.md", skill_md("imported", mark));
      for (const char* file : {"/sub/f.txt", "/sub/g.txt", "/sub/deep/h.txt"})
        t.file(top + file, mark);
    }
    t.directory("stash/directory");
    t.file("stash/directory/inner", "INSIDE");
    t.file("stash/file", "INSIDE");
    t.link("stash/x", "../out");
    t.link("stash/fx", "../../out/f");
    t.link("link.zip", "other.zip");
    EXPECT_EQ(::mkfifo((t / "stash/fifo").c_str(), 0600), 0);
#ifdef PADDOCK_TEST_ZIP
    for (const auto& [at, mark] :
         {std::pair("src.zip", "INSIDE"), std::pair("other.zip", "OUTSIDE")}) {
      const std::string about = skill_md("imported", mark);
      make_archive(t / at, {{"SKILL.md", about}, {"sub/f.txt", mark}, {"sub/deep/h.txt", mark}});
    }
#endif
  }
  static const source_attack& by() { return std::get<1>(GetParam()); }

  /// Every file that has arrived bears the same mark; the number of files.
  int check_arrived() const {
    int files = 0;
    int outside = 0;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(skill_path("imported"))) {
      EXPECT_FALSE(entry.is_symlink()) << entry;
      if (!entry.is_regular_file()) continue;
      ++files;
      outside += content_of(entry.path()).find(outside_mark) != std::string::npos ? 1 : 0;
    }
    EXPECT_TRUE(outside == 0 || (by().may_be_the_other && outside == files));
    return files;
  }
};

INSTANTIATE_TEST_SUITE_P(every, import_source_test,
                         testing::Combine(testing::Values(attacker_kind::thread,
                                                          attacker_kind::process),
                                          testing::ValuesIn(source_attacks)),
                         [](const auto& suite) {
                           const bool process = std::get<0>(suite.param) == attacker_kind::process;
                           return std::string(std::get<1>(suite.param).name) +
                                  (process ? "_by_a_process" : "_by_a_thread");
                         });

TEST_P(import_source_test, only_the_folder_arrives) {
  const int rounds = rounds_of_imports();
  const auto store = open_store();
  const std::string outside = canary.describe_outside();
  long arrived = 0;
  long swaps = 0;
  {
    const attacker enemy(std::get<0>(GetParam()), t / by().a, t / by().b);
    enemy.wait_for_swaps(1);
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const auto made =
          store.import(t / by().source, {.id = "imported", .overwrite = overwrite::replace});
      if (!made) {
        EXPECT_NE(made.error().code, error_code::io) << testing::PrintToString(made);
        continue;
      }
      ++arrived;
      EXPECT_GT(check_arrived(), 0);
    }
    swaps = enemy.swaps();
  }
  EXPECT_EQ(canary.describe_outside(), outside);
  if (arrived > 0) {
    EXPECT_TRUE(hidden().empty());
  }
  std::printf("[ rounds   ] import, %s: %d rounds, %ld exchanges, 0 escapes; ok %ld\n", by().name,
              rounds, swaps, arrived);
}

#ifdef PADDOCK_TEST_ZIP

/// The archive is written over, again and again, by one that differs in every file.
class rewriter {
public:
  rewriter(const std::string& path, std::string a, std::string b)
      : fd_(::open(path.c_str(), O_WRONLY | O_CLOEXEC)),
        thread_([this, a = std::move(a), b = std::move(b)] {
          for (; !done_; ++rewritten_)
            for (const std::string& bytes : {a, b})
              if (::pwrite(fd_, bytes.data(), bytes.size(), 0) < 0) return;
        }) {}
  rewriter(const rewriter&) = delete;
  rewriter& operator=(const rewriter&) = delete;
  ~rewriter() {
    done_ = true;
    thread_.join();
    ::close(fd_);
  }
  [[nodiscard]] long rewritten() const { return rewritten_; }

private:
  int fd_;
  std::atomic<bool> done_{false};
  std::atomic<long> rewritten_{0};
  std::thread thread_;
};

class import_rewritten : public skill_fixture {
protected:
  /// Bytes that do not compress, so that reading them takes a while.
  static std::string noise_of(char letter) {
    std::string noise;
    for (unsigned i = 0, state = static_cast<unsigned char>(letter); i < 200'000; ++i) {
      state = state * 1'664'525U + 1'013'904'223U;
      noise += static_cast<char>(state >> 24);
    }
    return noise;
  }
  static std::string about(char letter) { return skill_md("imported", std::string(6, letter)); }
  [[nodiscard]] std::string archive_of(char letter) const {
    const std::string text = about(letter);
    const std::string noise = noise_of(letter);
    make_archive(t / "made.zip", {{"SKILL.md", text}, {"noise", noise}});
    return content_of(t / "made.zip");
  }
};

TEST_F(import_rewritten, no_file_of_an_archive_is_torn) {
  constexpr int tries_max = 200'000;
  const std::string a = archive_of('a');
  const std::string b = archive_of('b');
  ASSERT_EQ(a.size(), b.size());
  t.file("src.zip", a);
  const auto store = open_store();
  const int rounds = rounds_of_imports();
  int whole = 0;
  int torn = 0; // as a control: what a plain read sees
  const rewriter enemy(t / "src.zip", a, b);
  for (int i = 0; i < rounds || (torn == 0 && i < tries_max); ++i) {
    const std::string seen = content_of(t / "src.zip");
    torn += seen != a && seen != b ? 1 : 0;
    if (i >= rounds) continue;
    const auto made =
        store.import(t / "src.zip", {.id = "imported", .overwrite = overwrite::replace});
    if (!made) {
      EXPECT_NE(made.error().code, error_code::io) << testing::PrintToString(made);
      continue;
    }
    ++whole;
    const std::string noise = content_of(skill_path("imported/noise"));
    const std::string text = content_of(skill_path("imported/SKILL.md"));
    EXPECT_TRUE(noise == noise_of('a') || noise == noise_of('b'));
    EXPECT_TRUE(text == about('a') || text == about('b')) << text;
  }
  EXPECT_GT(torn, 0) << "nothing was torn, so this proves nothing";
  std::printf("[ rounds   ] import, archive rewritten: %d rounds, %ld times, plain reads torn %d, "
              "ok %d\n",
              rounds, enemy.rewritten(), torn, whole);
}

#endif

/// Negative control: what many programs do, look at each entry and then copy it by its path.
void copy_after_look(const std::filesystem::path& from, const std::filesystem::path& to) {
  namespace fs = std::filesystem;
  std::error_code failed;
  fs::create_directory(to, failed);
  for (fs::directory_iterator at(from, failed), end; !failed && at != end; at.increment(failed)) {
    std::error_code ignored;
    const auto kind = fs::symlink_status(at->path(), ignored).type();
    if (kind == fs::file_type::directory) copy_after_look(at->path(), to / at->path().filename());
    if (kind == fs::file_type::regular)
      fs::copy_file(at->path(), to / at->path().filename(), ignored);
  }
}

class copy_control : public testing::TestWithParam<attacker_kind> {};

INSTANTIATE_TEST_SUITE_P(every, copy_control,
                         testing::Values(attacker_kind::thread, attacker_kind::process),
                         [](const auto& suite) {
                           return suite.param == attacker_kind::process ? "by_a_process"
                                                                        : "by_a_thread";
                         });

TEST_P(copy_control, look_then_copy_takes_what_is_outside) {
  constexpr int tries_max = 200'000;
  const canary_tree canary;
  const auto& t = canary.tree();
  t.directory("src/sub/deep");
  t.file("src/sub/f", "INSIDE");
  t.directory("stash");
  t.link("stash/x", "../out");
  const attacker enemy(GetParam(), t / "src/sub", t / "stash/x");
  for (int i = 1; i <= tries_max; ++i) {
    copy_after_look(t / "src", t / "copy");
    if (content_of(t / "copy/sub/f").find(outside_mark) != std::string::npos ||
        t.exists("copy/sub/secret")) {
      std::printf("[ control  ] look, then copy: lost in try %d\n", i);
      return;
    }
    std::filesystem::remove_all(t / "copy");
  }
  FAIL() << "the attack never worked, so the other tests prove nothing";
}

} // namespace
} // namespace paddock::test
