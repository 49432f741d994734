// SPDX-License-Identifier: MIT

// Runs every row of the corpus with every back end, as either user and through every interface:
// `P09_absolute_link/openat2/root/library`. Each case has a process of its own, which the kernel
// ends when it hangs; the outside is described before and after it by the process that started it.
// What this machine lacks is skipped by name.

#include "corpus.hpp"
#include "runner.hpp"
#include "support/campaign.hpp"
#include "support/process/process.hpp"

namespace paddock::test::corpus {
namespace {

using testing::HasSubstr;

std::string case_name(const row& r) {
  return std::string(r.id) + '_' + r.name;
}

class corpus_case : public testing::Test {
public:
  corpus_case(row r, combination how) : row_(std::move(r)), how_(how) {}
  void TestBody() override {
    const std::string lacking = run_case(row_, how_);
    if (!lacking.empty()) GTEST_SKIP() << lacking;
  }

private:
  row row_;
  combination how_;
};

void register_row(const row& r) {
  static std::size_t cases = 0;
  for (const auto kernel : {back_end::openat2, back_end::forced_walker, back_end::openat2_missing,
                            back_end::openat2_filtered})
    for (const auto who : {user::root, user::ordinary})
      for (const auto through : {interface::library, interface::adapter, interface::coding,
                                 interface::program, interface::apply}) {
        if (through == interface::program && r.through != reach::over_the_pipe) continue;
        // One back end is enough for a program that is started for each patch.
        if (through == interface::apply && kernel != back_end::openat2) continue;
        if (cases++ % campaign_step() != 0) continue;
        const combination how{kernel, who, through};
        testing::RegisterTest("attack_corpus", (case_name(r) + '/' + name_of(how)).c_str(), nullptr,
                              nullptr, __FILE__, __LINE__,
                              [r, how]() -> testing::Test* { return new corpus_case(r, how); });
      }
}

// --- the table itself ---------------------------------------------------------------------------

TEST(attack_corpus_table, every_attack_is_tried_or_has_a_reason_not_to_be) {
  constexpr int attacks = 74;
  std::set<std::string> tried;
  std::set<std::string> names;
  for (const auto& r : rows()) {
    SCOPED_TRACE(case_name(r));
    tried.insert(r.id);
    EXPECT_TRUE(names.insert(case_name(r)).second) << "there are two";
    EXPECT_TRUE(!r.attempts.empty() || r.check != nullptr) << "does nothing";
    for (const auto& a : r.attempts)
      EXPECT_EQ(a.by_tool.has_value(), a.because[0] != '\0');
  }
  std::set<std::string> excused;
  for (const auto& [id, why] : rows_not_offered()) {
    EXPECT_TRUE(excused.insert(id).second) << id;
    EXPECT_NE(std::string_view(why), "");
  }
  for (int n = 1; n <= attacks; ++n) {
    const std::string id = (n < 10 ? "P0" : "P") + std::to_string(n);
    EXPECT_NE(tried.erase(id), excused.erase(id)) << id;
  }
  EXPECT_THAT(tried, testing::IsEmpty());
  EXPECT_THAT(excused, testing::IsEmpty());
}

// --- negative controls: what the runner must be able to see
// ---------------------------------------

/// What a case says about an operation that is naive.
std::string said_of(void (*build)(scene&), void (*naive)(session&)) {
  const temp_tree place;
  place.file("said");
  const bool privileged = ::geteuid() == 0;
  (void)in_child([] { return true; },
                 [&] {
                   const file_descriptor to(::open((place / "said").c_str(), O_WRONLY | O_CLOEXEC));
                   ::dup2(to.get(), STDOUT_FILENO);
                   const row r{.id = "P00", .name = "naive", .build = build, .check = naive};
                   const auto who = privileged ? user::root : user::ordinary;
                   (void)run_case(r, {back_end::forced_walker, who, interface::library});
                   std::fflush(stdout);
                   ::_exit(0);
                 });
  return place.content("said");
}

void link_to_the_outside(scene& s) {
  s.tree().link("ws/l", "../out/secret");
}

TEST(attack_corpus_control, a_case_without_fault_says_nothing) {
  EXPECT_EQ("", said_of(link_to_the_outside, [](session& s) {
              EXPECT_EQ("escapes_root", s.outcome({.what = action::read, .path = "l"}));
            }));
}

TEST(attack_corpus_control, a_write_through_a_link_is_seen) {
  EXPECT_THAT(
      said_of(link_to_the_outside, [](session& s) { s.at.tree().file("ws/l", "followed"); }),
      HasSubstr("the outside has changed"));
}

TEST(attack_corpus_control, a_new_name_outside_is_seen) {
  EXPECT_THAT(said_of(nullptr, [](session& s) { s.at.tree().file("ws/../out/new"); }),
              HasSubstr("the outside has changed"));
}

TEST(attack_corpus_control, a_changed_mode_outside_is_seen) {
  EXPECT_THAT(said_of(link_to_the_outside,
                      [](session& s) { EXPECT_EQ(0, ::chmod((s.at.ws() + "/l").c_str(), 0600)); }),
              HasSubstr("the outside has changed"));
}

TEST(attack_corpus_control, a_read_through_a_link_is_seen) {
  EXPECT_THAT(said_of(link_to_the_outside,
                      [](session& s) {
                        const std::string bytes = s.at.tree().content("ws/l");
                        judge({.what = action::read, .path = "l", .want = succeeds},
                              {.code = {}, .text = bytes, .raw = bytes}, s);
                      }),
              HasSubstr("shows what is outside"));
}

TEST(attack_corpus_control, a_listed_outside_is_seen) {
  EXPECT_THAT(said_of(nullptr,
                      [](session& s) {
                        std::string names;
                        for (const auto& e : std::filesystem::directory_iterator(s.at.out()))
                          names += e.path().filename().string() + '\n';
                        judge({.what = action::list, .path = "../out", .want = succeeds},
                              {.code = {}, .text = names, .raw = names}, s);
                      }),
              HasSubstr("shows what is outside"));
}

TEST(attack_corpus_control, a_changed_reserved_entry_is_seen) {
  EXPECT_THAT(said_of(nullptr, [](session& s) { s.at.tree().file("ws/.perstack/cfg", "changed"); }),
              HasSubstr("the reserved entry has changed"));
}

TEST(attack_corpus_control, what_is_left_behind_is_seen) {
  const auto said = said_of(nullptr, [](session& s) {
    EXPECT_GE(::dup(s.workspace().descriptor()), 0);
    s.at.tree().file("ws/.paddock-tmp-0123456789abcdef0123456789abcdef");
    s.at.tree().link("ws/made", "f");
  });
  EXPECT_THAT(said, HasSubstr("descriptors were left open"));
  EXPECT_THAT(said, HasSubstr("temporary files were left"));
  EXPECT_THAT(said, HasSubstr("links were made"));
}

TEST(attack_corpus_control, a_wrong_answer_is_seen) {
  EXPECT_THAT(said_of(nullptr,
                      [](session& s) {
                        const attempt a{.what = action::read,
                                        .path = "f",
                                        .want = refused(error_code::escapes_root)};
                        judge(a, s.perform({.what = a.what, .path = a.path}), s);
                      }),
              HasSubstr("escapes_root"));
}

} // namespace
} // namespace paddock::test::corpus

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  for (const auto& r : paddock::test::corpus::rows())
    paddock::test::corpus::register_row(r);
  return RUN_ALL_TESTS();
}
