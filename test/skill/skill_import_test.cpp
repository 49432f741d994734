// SPDX-License-Identifier: MIT

// Importing skills: what is accepted arrives whole, what is refused changes nothing, and whatever
// ends an import in the middle leaves the old skill or the new one.

#include "skill/name_collision.hpp"
#include "support/files/skill_fixture.hpp"
#include "support/matchers.hpp"
#include "support/process/process.hpp"

#include <sys/socket.h>
#include <sys/un.h>

namespace paddock {
namespace {

using test::IsError;
using test::IsOk;
using test::skill_md;
using testing::ElementsAre;
using testing::IsEmpty;
using enum error_code;

std::string read_whole(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::uint32_t crc32(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i)
      crc = (crc >> 1U) ^ (0xEDB88320U & (0U - (crc & 1U)));
  }
  return ~crc;
}

/// "mode size crc path" of every file, by path: what the generator writes for accepted archives.
std::string tree_of(const std::string& directory) {
  std::map<std::string, std::string> rows;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    struct stat s{};
    EXPECT_EQ(0, ::lstat(entry.path().c_str(), &s));
    if (S_ISDIR(s.st_mode)) continue;
    EXPECT_TRUE(S_ISREG(s.st_mode)) << entry.path();
    const auto bytes = read_whole(entry.path());
    const auto path = entry.path().string().substr(directory.size() + 1);
    std::array<char, 64> head{};
    std::snprintf(head.data(), head.size(), "%o %zu %08x ", s.st_mode & 07777U, bytes.size(),
                  crc32(bytes));
    rows[path] = head.data() + path + "\n";
  }
  std::string all;
  for (const auto& [path, row] : rows)
    all += row;
  return all;
}

const import_report& report_of(const result<imported_skill, import_error>& imported) {
  return imported ? imported->report : imported.error().report;
}

class skill_import_test : public test::skill_fixture {
protected:
  void SetUp() override { ::umask(022); }

  /// A folder of a good skill, outside of the workspace's skills.
  [[nodiscard]] std::string folder(std::string_view name = "demo") const {
    const std::string at = "out/" + std::string(name);
    t.directory(at + "/scripts");
    t.file(at + "/SKILL.md", skill_md("demo", "From a folder."));
    t.file(at + "/scripts/run.sh", "#!/bin/sh\n");
    EXPECT_EQ(0, ::chmod((t / (at + "/scripts/run.sh")).c_str(), 0775));
    return t / at;
  }
};

// --- archives -----------------------------------------------------------------------------------

struct archive_case {
  std::string file;
  std::string expected;
  std::string id;
};
void PrintTo(const archive_case& c, std::ostream* out) {
  *out << c.file;
}

std::vector<archive_case> archive_cases() {
  std::vector<archive_case> cases;
  std::ifstream table(PADDOCK_TEST_ARCHIVES ".tsv");
  for (std::string line; std::getline(table, line);) {
    std::istringstream fields(line);
    archive_case c;
    std::getline(fields, c.file, '\t');
    std::getline(fields, c.expected, '\t');
    std::getline(fields, c.id, '\t');
    cases.push_back(c);
  }
  return cases;
}

TEST(skill_archives, there_are_enough_of_them) {
  EXPECT_GE(archive_cases().size(), 120U) << PADDOCK_TEST_ARCHIVES;
}

class archive_test : public skill_import_test, public testing::WithParamInterface<archive_case> {};
INSTANTIATE_TEST_SUITE_P(every, archive_test, testing::ValuesIn(archive_cases()),
                         [](const auto& suite) {
                           std::string name = suite.param.file;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

TEST_P(archive_test, gets_its_one_answer) {
  const auto& c = GetParam();
  const std::string path = PADDOCK_TEST_ARCHIVES "/" + c.file;
#ifndef PADDOCK_TEST_UNICODE
  if (c.file.starts_with("unicode-") && c.expected == "duplicate")
    GTEST_SKIP() << "built without utf8proc";
#endif
  const auto store = open_store();
  const auto before = test::describe_tree(t.path());
  const auto made = store.import(path, {});
  const import_report& report = report_of(made);
  EXPECT_EQ(wire_name(report.refusal), c.expected == "ok" ? "none" : c.expected)
      << "at " << report.entry;
  if (report.refusal == import_refusal::no_zip_support) GTEST_SKIP() << "built without libzip";
  if (c.expected != "ok") {
    EXPECT_THAT(made, IsError(code_of(report.refusal)));
    EXPECT_EQ(test::describe_tree(t.path()), before) << "a refusal changes nothing";
    return;
  }
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(made->id, c.id);
  EXPECT_EQ(report.id, c.id);
  const auto tree = tree_of(skill_path(c.id));
  EXPECT_EQ(tree, read_whole(path + ".tree"));
  EXPECT_EQ(report.files, std::count(tree.begin(), tree.end(), '\n'));
  EXPECT_THAT(hidden(), IsEmpty());
  EXPECT_EQ(store.import_archive(read_whole(path), c.file, {.id = "again"}).has_value(), true);
  EXPECT_EQ(tree_of(skill_path("again")), tree);
}

TEST_F(skill_import_test, invalid_frontmatter_arrives_with_its_diagnostics) {
  const auto store = open_store();
  const auto made = store.import(PADDOCK_TEST_ARCHIVES "/no-frontmatter.zip", {.id = "odd"});
  const import_report& report = report_of(made);
  if (report.refusal == import_refusal::no_zip_support) GTEST_SKIP() << "built without libzip";
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(made->name, "");
  ASSERT_FALSE(report.diagnostics.empty());
  EXPECT_EQ(level(report.diagnostics[0].code), frontmatter::severity::error);
  EXPECT_THAT(store.find("odd"), IsError(not_found));
  EXPECT_TRUE(t.exists("ws/.agents/skills/odd/SKILL.md"));
}

TEST_F(skill_import_test, limits_are_inclusive) {
  const auto bytes = read_whole(PADDOCK_TEST_ARCHIVES "/at-the-top.zip");
  const auto store = open_store();
  int id = 0;
  const auto answer = [&](import_limits limits) {
    return report_of(store.import_archive(bytes, "x.zip",
                                          {.id = "x" + std::to_string(++id), .limits = limits}))
        .refusal;
  };
  if (answer({}) == import_refusal::no_zip_support) GTEST_SKIP() << "built without libzip";
  using enum import_refusal;
  const std::uint64_t skill_size = std::filesystem::file_size(skill_path("x1/SKILL.md"));
  const std::uint64_t total = skill_size + 10 + 1;
  EXPECT_EQ(answer({.archive_bytes_max = bytes.size()}), none);
  EXPECT_EQ(answer({.archive_bytes_max = bytes.size() - 1}), archive_too_large);
  EXPECT_EQ(answer({.entries_max = 3}), none);
  EXPECT_EQ(answer({.entries_max = 2}), too_many_entries);
  EXPECT_EQ(answer({.file_bytes_max = skill_size}), none);
  EXPECT_EQ(answer({.file_bytes_max = skill_size - 1}), file_too_large);
  EXPECT_EQ(answer({.total_bytes_max = total}), none);
  EXPECT_EQ(answer({.total_bytes_max = total - 1}), total_too_large);
  EXPECT_EQ(answer({.depth_max = 3}), none);
  EXPECT_EQ(answer({.depth_max = 2}), too_deep);
  EXPECT_EQ(answer({.path_bytes_max = 14}), none);
  EXPECT_EQ(answer({.path_bytes_max = 13}), path_too_long);
}

TEST(skill_import_refusals, each_has_a_name_and_advice) {
  std::set<std::string_view> names;
#define X(refusal, wire, code, advice)                                                             \
  EXPECT_TRUE(names.insert(wire).second) << wire;                                                  \
  EXPECT_EQ(wire_name(import_refusal::refusal), wire);                                             \
  EXPECT_TRUE(import_refusal::refusal == import_refusal::none ||                                   \
              text(import_refusal::refusal).find("; ") != std::string_view::npos)                  \
      << wire;
  PADDOCK_IMPORT_REFUSALS(X)
#undef X
}

#ifdef PADDOCK_TEST_FOLDING
std::string utf8_of(char32_t point) {
  std::string out;
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  const unsigned more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  constexpr char32_t leads[] = {0, 0xC0, 0xE0, 0xF0};
  put(leads[more] | point >> 6 * more);
  for (unsigned at = more; at-- > 0;)
    put(0x80U | (point >> 6 * at & 0x3FU));
  return out;
}

std::string bytes_of_hex(std::string_view digits) {
  std::string bytes;
  for (; !digits.empty(); digits.remove_prefix(2))
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(0, 2)), nullptr, 16));
  return bytes;
}

/// The characters that `fold` folds otherwise than Python's tables.
std::vector<std::uint32_t> wrongly_folded(auto fold) {
  std::ifstream table(PADDOCK_TEST_ARCHIVES "/folding.tsv");
  std::vector<std::uint32_t> wrong;
  std::size_t known = 0;
  for (std::string line; std::getline(table, line); ++known) {
    const auto tab = line.find('\t');
    const auto point = static_cast<std::uint32_t>(std::stoul(line.substr(0, tab), nullptr, 16));
    if (fold(utf8_of(point)) != bytes_of_hex(std::string_view(line).substr(tab + 1)))
      wrong.push_back(point);
  }
  EXPECT_GT(known, 140'000U);
  return wrong;
}

TEST(skill_import_names, fold_as_unicode_does) {
  if (!folds_unicode()) GTEST_SKIP() << "built without utf8proc";
  EXPECT_THAT(wrongly_folded(folded_name), IsEmpty());
  EXPECT_THAT(wrongly_folded([](const std::string& name) {
                return name == "\u1e9e" ? name : folded_name(name);
              }),
              ElementsAre(0x1E9EU))
      << "one that is folded wrongly is noticed";
}
#endif

// --- folders and files in memory
// ------------------------------------------------------------------

TEST_F(skill_import_test, a_folder_arrives_whole) {
  const auto source = folder("My skill");
  t.directory("out/My skill/.git");
  t.file("out/My skill/.git/config", "x");
  t.file("out/My skill/.DS_Store", "x");
  ASSERT_EQ(0, ::chmod((source + "/SKILL.md").c_str(), 0600));
  const auto outside = canary.describe_outside();
  const auto store = open_store();
  const auto made = store.import(source + "/", {});
  const import_report& report = report_of(made);
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(made->id, "My skill");
  EXPECT_EQ(made->description, "From a folder.");
  EXPECT_EQ(report.files, 2U);
  EXPECT_FALSE(report.replaced);
  const auto tree = tree_of(skill_path("My skill"));
  EXPECT_THAT(tree, testing::HasSubstr("644 "));
  EXPECT_THAT(tree, testing::HasSubstr("755 10 "));
  EXPECT_EQ(std::count(tree.begin(), tree.end(), '\n'), 2);
  EXPECT_EQ(canary.describe_outside(), outside);
  EXPECT_THAT(hidden(), IsEmpty());
}

TEST_F(skill_import_test, a_folder_is_refused_for_what_is_in_it) {
  struct row {
    const char* what;
    std::function<void(const std::string&)> spoil;
    import_refusal expected;
  };
  using enum import_refusal;
  const row rows[] = {
      {"a link out", [&](auto& d) { ASSERT_EQ(0, ::symlink("/etc", (d + "/l").c_str())); },
       symlink},
      {"a link inside", [&](auto& d) { ASSERT_EQ(0, ::symlink("SKILL.md", (d + "/l").c_str())); },
       symlink},
      {"a FIFO", [&](auto& d) { ASSERT_EQ(0, ::mkfifo((d + "/f").c_str(), 0600)); }, special},
      {"no SKILL.md", [](auto& d) { std::filesystem::remove(d + "/SKILL.md"); }, no_skill_file},
      {"other case", [](auto& d) { std::filesystem::rename(d + "/SKILL.md", d + "/skill.md"); },
       skill_file_case},
      {"backslash", [](auto& d) { std::ofstream(d + "/a\\b") << "x"; }, backslash},
      {"control character", [](auto& d) { std::ofstream(d + "/a\nb") << "x"; }, control_character},
      {"not UTF-8", [](auto& d) { std::ofstream(d + "/\xff") << "x"; }, not_utf8},
      {"two spellings",
       [](auto& d) {
         std::ofstream(d + "/README") << "x";
         std::ofstream(d + "/readme") << "x";
       },
       duplicate},
      {"a bare repository",
       [](auto& d) {
         std::filesystem::create_directories(d + "/data/objects");
         std::ofstream(d + "/data/HEAD") << "ref: refs/heads/main";
       },
       repository},
      {"tasks of an editor",
       [](auto& d) {
         std::filesystem::create_directories(d + "/data/.VSCode");
         std::ofstream(d + "/data/.VSCode/tasks.json") << "{}";
       },
       protected_name},
      {"a file of direnv", [](auto& d) { std::ofstream(d + "/.envrc") << "x"; }, protected_name},
      {"too deep",
       [](auto& d) {
         std::string deep = d;
         for (int i = 0; i < 17; ++i)
           deep += "/d";
         std::filesystem::create_directories(deep);
       },
       too_deep},
      {"too large",
       [](auto& d) {
         std::ofstream(d + "/large") << "x";
         std::filesystem::resize_file(d + "/large", (std::uint64_t{32} << 20U) + 1);
       },
       file_too_large},
  };
  const auto store = open_store();
  for (const auto& [what, spoil, expected] : rows) {
    const auto source = folder();
    spoil(source);
    const auto before = test::describe_tree(t / "ws");
    const auto made = store.import(source);
    EXPECT_THAT(made, IsError(code_of(expected))) << what;
    EXPECT_EQ(report_of(made).refusal, expected)
        << what << ": " << wire_name(report_of(made).refusal);
    EXPECT_EQ(test::describe_tree(t / "ws"), before) << what;
    std::filesystem::remove_all(source);
  }
}

TEST_F(skill_import_test, half_a_repository_and_what_git_leaves_out_arrive) {
  const auto source = folder();
  std::filesystem::create_directories(source + "/.git/objects");
  std::ofstream(source + "/.git/HEAD") << "ref: refs/heads/main"; // of a clone: left out
  std::filesystem::create_directories(source + "/data/objects");
  std::ofstream(source + "/HEAD") << "x";
  std::ofstream(source + "/config") << "x";
  std::ofstream(source + "/vscode") << "x";
  ASSERT_THAT(open_store().import(source, {.id = "made"}), IsOk());
  EXPECT_TRUE(t.exists("ws/.agents/skills/made/config"));
  EXPECT_FALSE(t.exists("ws/.agents/skills/made/.git"));
}

TEST_F(skill_import_test, sources_that_are_none) {
  using enum import_refusal;
  t.file("out/text.zip", "not an archive");
  ASSERT_EQ(0, ::mkfifo((t / "out/fifo").c_str(), 0600));
  std::filesystem::copy(folder(), t / "ws/copy", std::filesystem::copy_options::recursive);
  t.directory("ws/.agents");
  const auto store = open_store();
  const auto before = test::describe_tree(t.path());
  const std::pair<std::string, import_refusal> rows[] = {
      {"", not_found},
      {t / "missing", not_found},
      {std::string("nul\0", 4), not_found},
      {t / "out/fifo", special_source},
      {"/dev/null", special_source},
      {t / "ws", contains_destination},
      {t / "ws/.agents", contains_destination},
      {t.path(), contains_destination},
      {"/", contains_destination},
  };
  for (const auto& [source, expected] : rows) {
    const auto made = store.import(source);
    EXPECT_THAT(made, IsError(code_of(expected))) << source;
    EXPECT_EQ(report_of(made).refusal, expected)
        << source << ": " << wire_name(report_of(made).refusal);
  }
  EXPECT_EQ(test::describe_tree(t.path()), before);
  EXPECT_THAT(store.import(t / "ws/copy"), IsOk()) << "a folder of the workspace is a source";
  EXPECT_THAT(store.import(t / "ws/.agents/skills", {.id = "x"}), IsError(invalid_argument));
}

TEST_F(skill_import_test, ids_that_are_taken_or_none) {
  const auto source = folder();
  put_system("sys");
  put_user("taken", "old");
  const auto store = open_store();
  const auto before = test::describe_tree(t / "ws");
  using enum import_refusal;
  const std::pair<const char*, import_refusal> rows[] = {
      {"sys", system_skill}, {"taken", id_exists}, {"../up", bad_id}, {".hidden", bad_id},
      {"a/b", bad_id},       {"a\nb", bad_id},     {"..", bad_id},
  };
  for (const auto& [id, expected] : rows) {
    const auto made = store.import(source, {.id = id});
    EXPECT_THAT(made, IsError(code_of(expected))) << id;
    EXPECT_EQ(report_of(made).refusal, expected) << id;
  }
  EXPECT_THAT(store.import(source, {.id = "sys", .overwrite = overwrite::replace}),
              IsError(read_only));
  EXPECT_EQ(test::describe_tree(t / "ws"), before);
}

TEST_F(skill_import_test, overwriting_replaces_everything) {
  const auto source = folder();
  put_user("demo", "old");
  t.directory("ws/.agents/skills/demo/old");
  t.file("ws/.agents/skills/demo/old/file", "old");
  t.link("ws/.agents/skills/demo/out", canary.out());
  const auto store = open_store();
  const auto outside = canary.describe_outside();
  const auto made = store.import(source, {.overwrite = overwrite::replace});
  const import_report& report = report_of(made);
  ASSERT_THAT(made, IsOk());
  EXPECT_TRUE(report.replaced);
  EXPECT_EQ(made->description, "From a folder.");
  EXPECT_FALSE(t.exists("ws/.agents/skills/demo/old"));
  EXPECT_FALSE(t.exists("ws/.agents/skills/demo/out"));
  EXPECT_THAT(hidden(), IsEmpty());
  EXPECT_EQ(canary.describe_outside(), outside);
  // A skill can be its own source, and a link in the place of a skill is replaced, not followed.
  EXPECT_THAT(store.import(skill_path("demo"), {.overwrite = overwrite::replace}), IsOk());
  EXPECT_TRUE(t.exists("ws/.agents/skills/demo/scripts/run.sh"));
  t.link("ws/.agents/skills/link", canary.out());
  EXPECT_THAT(store.import(source, {.id = "link", .overwrite = overwrite::replace}), IsOk());
  EXPECT_FALSE(std::filesystem::is_symlink(skill_path("link")));
  EXPECT_TRUE(t.exists("out/secret"));
}

TEST_F(skill_import_test, files_in_memory) {
  const auto store = open_store();
  const auto text = skill_md("m", "From memory.");
  const std::vector<uploaded_file> files = {{"up/SKILL.md", text},
                                            {"up/bin/tool",
                                             "\x7f"
                                             "ELF",
                                             true},
                                            {"up/.DS_Store", "x"}};
  const auto made = store.import_files(files, "whatever", {});
  const import_report& report = report_of(made);
  ASSERT_THAT(made, IsOk());
  EXPECT_EQ(made->id, "up");
  EXPECT_EQ(report.bytes, text.size() + 4);
  EXPECT_THAT(tree_of(skill_path("up")), testing::StartsWith("644 "));
  EXPECT_THAT(tree_of(skill_path("up")), testing::HasSubstr("755 4 "));
  const std::vector<uploaded_file> evil = {{"SKILL.md", text}, {"../evil", "x"}};
  const auto before = test::describe_tree(t.path());
  const auto refused = store.import_files(evil, "x");
  ASSERT_THAT(refused, IsError(escapes_root));
  EXPECT_EQ(refused.error().report.refusal, import_refusal::parent_component);
  EXPECT_EQ(refused.error().report.entry, "../evil");
  EXPECT_THAT(store.import_files({}, "x"), IsError(not_found));
  EXPECT_EQ(test::describe_tree(t.path()), before);
}

TEST_F(skill_import_test, progress_is_told_and_cancelling_leaves_nothing) {
  const auto store = open_store();
  const auto text = skill_md("m", "d");
  std::vector<std::string> names;
  std::vector<uploaded_file> files = {{"SKILL.md", text}};
  for (int i = 0; i < 20; ++i)
    names.push_back("f" + std::to_string(i));
  for (const auto& name : names)
    files.push_back({name, "12345"});
  std::vector<std::uint64_t> told;
  std::atomic<bool> cancelled = false;
  import_options options{.id = "p",
                         .on_progress =
                             [&](auto done, auto, auto all) {
                               EXPECT_EQ(all, 21U);
                               told.push_back(done);
                               if (told.size() == 10) cancelled = true;
                             },
                         .cancelled = &cancelled};
  EXPECT_THAT(store.import_files(files, "p", options), IsError(error_code::cancelled));
  EXPECT_EQ(told.size(), 10U);
  EXPECT_FALSE(t.exists("ws/.agents/skills/p"));
  EXPECT_THAT(hidden(), IsEmpty());
  options.cancelled = nullptr;
  told.clear();
  EXPECT_THAT(store.import_files(files, "p", options), IsOk());
  EXPECT_EQ(told.back(), 21U);
}

// --- others at work
// -------------------------------------------------------------------------------

/// A skill all of whose files say which version it is.
class version {
public:
  explicit version(const std::string& number)
      : skill_(skill_md("v", number)), body_(number + std::string(3000, '.')) {
    for (int i = 0; i < files; ++i)
      names_.push_back("d" + std::to_string(i % 5) + "/f" + std::to_string(i));
    uploads_.push_back({"SKILL.md", skill_});
    for (const auto& name : names_)
      uploads_.push_back({name, body_});
  }
  static constexpr int files = 40;
  [[nodiscard]] const std::vector<uploaded_file>& uploads() const { return uploads_; }

private:
  std::string skill_;
  std::string body_;
  std::vector<std::string> names_;
  std::vector<uploaded_file> uploads_;
};

/// The version that a skill directory has in all its files; "" when it is a mixture.
std::string version_of(const std::string& directory) {
  std::set<std::string> found;
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const auto text = read_whole(entry.path());
    if (entry.path().filename() == "SKILL.md")
      found.insert(text.find("description: one") != std::string::npos ? "one" : "two");
    else
      found.insert(text.size() == 3003 ? text.substr(0, 3) : "cut off");
  }
  return found.size() == 1 && files == version::files + 1 ? *found.begin() : "";
}

TEST_F(skill_import_test, killed_at_any_moment_it_leaves_the_old_skill_or_the_new_one) {
  const version one("one");
  const version two("two");
  const auto began = std::chrono::steady_clock::now();
  ASSERT_THAT(open_store().import_files(one.uploads(), "v", {.id = "v"}), IsOk());
  const std::chrono::microseconds one_import =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() -
                                                            began);
  // Several imports, whatever a sanitizer makes of their speed.
  const auto moment_max =
      static_cast<useconds_t>(std::max<std::int64_t>(12'000, 8 * one_import.count()));
  put_user("other");
  const auto outside = canary.describe_outside();
  std::mt19937 random(1); // NOLINT: the same moments every time, as far as the machine allows
  std::set<std::string> seen;
  int leftovers = 0;
  for (int round = 0; round < 60; ++round) {
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto store = open_store();
      for (bool first = round % 2 == 0;; first = !first)
        if (!store.import_files(first ? one.uploads() : two.uploads(), "v",
                                {.id = "v", .overwrite = overwrite::replace}))
          ::_exit(1);
    }
    ASSERT_GT(child, 0);
    ::usleep(std::uniform_int_distribution<useconds_t>(0, moment_max)(random));
    ASSERT_EQ(0, ::kill(child, SIGKILL));
    int status = 0;
    ASSERT_EQ(child, ::waitpid(child, &status, 0));
    ASSERT_TRUE(WIFSIGNALED(status)) << "an import failed in round " << round;
    const auto version = version_of(skill_path("v"));
    EXPECT_NE(version, "") << "a mixture in round " << round;
    seen.insert(version);
    const auto left = hidden();
    leftovers += left.empty() ? 0 : 1;
    const auto store = open_store();
    EXPECT_THAT(store.find("v"), IsOk());
    EXPECT_THAT(store.edit("other", {.description = std::to_string(round)}), IsOk());
    EXPECT_EQ(hidden(), left) << "they might be anybody's, round " << round;
    for (const auto& name : left)
      std::filesystem::remove_all(skill_path(name));
  }
  EXPECT_GT(leftovers, 0) << "no kill came in the middle, so nothing was tested";
  EXPECT_EQ(seen.size(), 2U);
  EXPECT_EQ(canary.describe_outside(), outside);
}

TEST_F(skill_import_test, of_many_imports_of_one_id_one_wins_whole) {
  const version one("one");
  const version two("two");
  const auto store = open_store();
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> won = 0;
    std::vector<std::thread> threads;
    for (int n = 0; n < 4; ++n)
      threads.emplace_back([&, n] {
        const auto made =
            store.import_files(n % 2 == 0 ? one.uploads() : two.uploads(), "v", {.id = "v"});
        won += made.has_value() ? 1 : 0;
        EXPECT_EQ(report_of(made).refusal, made ? import_refusal::none : import_refusal::id_exists);
      });
    for (auto& thread : threads)
      thread.join();
    EXPECT_EQ(won, 1);
    EXPECT_NE(version_of(skill_path("v")), "");
    EXPECT_THAT(hidden(), IsEmpty());
    ASSERT_THAT(store.remove("v"), IsOk());
  }
}

TEST_F(skill_import_test, processes_that_overwrite_one_id_at_once_all_succeed) {
  const version one("one");
  const version two("two");
  std::vector<pid_t> children;
  std::fflush(nullptr);
  for (int n = 0; n < 3; ++n) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto store = open_store();
      bool good = true;
      for (int i = 0; i < 15; ++i) {
        good = good && store.import_files((n + i) % 2 == 0 ? one.uploads() : two.uploads(), "v",
                                          {.id = "v", .overwrite = overwrite::replace});
        good = good && store.find("v");
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(child, ::waitpid(child, &status, 0));
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_NE(version_of(skill_path("v")), "");
  EXPECT_THAT(hidden(), IsEmpty());
}

TEST_F(skill_import_test, a_folder_whose_entries_turn_into_links_gives_nothing_from_outside) {
  const auto source = folder("racing");
  t.directory("out/racing/swap");
  t.file("out/racing/swap/secret", "harmless");
  t.directory("out/racing-target");
  t.file("out/racing-target/secret", "OUTSIDE!");
  const auto store = open_store();
  std::atomic<bool> done = false;
  std::thread attacker([&] {
    const std::string at = source + "/swap";
    while (!done) {
      std::error_code ignored;
      std::filesystem::rename(at, source + "-kept", ignored);
      std::filesystem::create_directory_symlink(t / "out/racing-target", at, ignored);
      std::filesystem::remove(at, ignored);
      std::filesystem::rename(source + "-kept", at, ignored);
    }
  });
  int arrived = 0;
  for (int round = 0; round < 300 || (arrived == 0 && round < 30'000); ++round) {
    if (!store.import(source, {.id = "r", .overwrite = overwrite::replace})) continue;
    ++arrived;
    const auto path = skill_path("r/swap/secret");
    if (std::filesystem::exists(path)) {
      EXPECT_EQ(read_whole(path), "harmless");
    }
    EXPECT_FALSE(std::filesystem::is_symlink(skill_path("r/swap")));
  }
  done = true;
  attacker.join();
  EXPECT_GT(arrived, 0);
  EXPECT_THAT(hidden(), IsEmpty());
}

TEST_F(skill_import_test, a_directory_of_skills_that_turns_into_a_link_never_leads_outside) {
  const auto source = folder();
  t.directory("ws/.agents/skills");
  t.directory("out/skills");
  const auto store = open_store();
  const auto outside = canary.describe_outside();
  std::atomic<bool> done = false;
  std::thread attacker([&] {
    while (!done) {
      std::error_code ignored;
      std::filesystem::rename(t / user, t / "ws/.agents/kept", ignored);
      std::filesystem::create_directory_symlink(t / "out/skills", t / user, ignored);
      std::filesystem::remove(t / user, ignored);
      std::filesystem::rename(t / "ws/.agents/kept", t / user, ignored);
    }
  });
  for (int round = 0; round < 300; ++round) {
    (void)store.import(source, {.id = "r", .overwrite = overwrite::replace}).has_value();
    (void)store.edit("r", {.description = "edited"}).has_value();
    (void)store.remove("r").has_value();
  }
  done = true;
  attacker.join();
  EXPECT_EQ(canary.describe_outside(), outside);
}

} // namespace
} // namespace paddock
