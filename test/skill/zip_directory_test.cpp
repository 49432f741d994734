// SPDX-License-Identifier: MIT

// Where a zip archive ends, judged by Python's zipfile and Info-ZIP's unzip: what we take for the
// end is what they take for it, and whatever readers may differ about is refused.

#include "skill/zip_directory.hpp"
#include "support/files/temp_tree.hpp"

namespace paddock {
namespace {

std::string little(std::uint64_t value, std::size_t bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes; ++i)
    out += i < sizeof value ? static_cast<char>(value >> (8 * i) & 0xFF) : '\0';
  return out;
}

constexpr std::uint64_t all16 = 0xFFFF;
constexpr std::uint64_t all32 = 0xFFFFFFFF;

/// What the records at the end of an archive of one file, "a", say. The numbers that a case does
/// not change are right.
struct end_records {
  std::uint64_t here = 1; ///< entries on this disk
  std::uint64_t entries = 1;
  std::uint64_t size = 47;
  std::uint64_t offset = 32;
  std::uint64_t disk = 0;
  std::uint64_t directory_disk = 0;
  bool large = true; ///< with the two records of large archives
  std::uint64_t here64 = 1;
  std::uint64_t entries64 = 1;
  std::uint64_t size64 = 47;
  std::uint64_t offset64 = 32;
  std::uint64_t disk64 = 0;
  std::uint64_t rest64 = 44; ///< what the record says of its own length
  std::uint64_t at64 = 79;   ///< where the locator says that it is
  std::uint64_t disks = 1;   ///< as the locator says
  std::string between64{};   ///< between that record and its locator
  std::string between{};     ///< between the locator and the end
  std::string comment{};
  std::uint64_t comment_size = 1'000'000; ///< that: the comment's
  std::string after{};
};

std::string made(const end_records& r) {
  const std::string crc = little(0x8CDC1683, 4);
  std::string out = "PK\3\4" + little(10, 2) + little(0, 8) + crc + little(1, 4) + little(1, 4) +
                    little(1, 2) + little(0, 2) + "ax";
  out += "PK\1\2" + little(10, 2) + little(10, 2) + little(0, 8) + crc + little(1, 4) +
         little(1, 4) + little(1, 2) + little(0, 2 + 2 + 2 + 2 + 4 + 4) + "a";
  if (r.large)
    out += "PK\6\6" + little(r.rest64, 8) + little(45, 2) + little(45, 2) + little(r.disk64, 4) +
           little(0, 4) + little(r.here64, 8) + little(r.entries64, 8) + little(r.size64, 8) +
           little(r.offset64, 8) + r.between64 + "PK\6\7" + little(0, 4) + little(r.at64, 8) +
           little(r.disks, 4);
  out += r.between + "PK\5\6" + little(r.disk, 2) + little(r.directory_disk, 2) +
         little(r.here, 2) + little(r.entries, 2) + little(r.size, 4) + little(r.offset, 4) +
         little(r.comment_size == 1'000'000 ? r.comment.size() : r.comment_size, 2) + r.comment;
  return out + r.after;
}

/// What may also stand at an end, of an archive of no file.
std::string empty_end(std::size_t comment_size, std::uint64_t offset = 0) {
  return "PK\5\6" + little(0, 12) + little(offset, 4) + little(comment_size, 2);
}

struct end_case {
  const char* name;
  end_records records;
  zip::end_state state;
};

std::vector<end_case> end_cases() {
  using enum zip::end_state;
  return {
      {"plain", {.large = false}, found},
      {"plain, with a comment", {.large = false, .comment = "words"}, found},
      {"both, all numbers twice", {}, found},
      {"both, all left to the new",
       {.here = all16, .entries = all16, .size = all32, .offset = all32},
       found},
      {"entries left to the new", {.here = all16, .entries = all16}, found},
      {"size left to the new", {.size = all32}, found},
      {"offset left to the new", {.offset = all32}, found},
      {"entries on this disk left to the new", {.here = all16}, found},
      {"entries differ", {.here = 2, .entries = 2}, ambiguous},
      {"old entries differ", {.entries = 0}, ambiguous},
      {"old entries on this disk differ", {.here = 0}, ambiguous},
      {"old size differs", {.size = 46}, ambiguous},
      {"old size none", {.size = 0}, ambiguous},
      {"old offset differs", {.offset = 31}, ambiguous},
      {"old offset none", {.offset = 0}, ambiguous},
      {"new entries differ", {.here64 = 2, .entries64 = 2}, ambiguous},
      {"new entries on this disk differ", {.here64 = 2}, ambiguous},
      {"new size differs", {.size64 = 46}, ambiguous},
      {"new offset differs", {.offset64 = 31}, ambiguous},
      {"all left to the new, size wrong",
       {.here = all16, .entries = all16, .size = all32, .offset = all32, .size64 = 46},
       ambiguous},
      {"all left to the new, offset wrong",
       {.here = all16, .entries = all16, .size = all32, .offset = all32, .offset64 = 31},
       ambiguous},
      {"new record's length differs", {.rest64 = 45}, ambiguous},
      {"new record's length, the rest there",
       {.rest64 = 48, .between64 = std::string(4, '\0')},
       found},
      {"something between record and locator", {.between64 = std::string(4, '\0')}, ambiguous},
      {"something between locator and end", {.between = "x"}, ambiguous},
      {"locator points elsewhere", {.at64 = 78}, ambiguous},
      {"locator points at itself", {.at64 = 135}, ambiguous},
      {"locator points far away", {.at64 = std::uint64_t{1} << 63}, ambiguous},
      {"plain, entries on this disk differ", {.here = 0, .large = false}, ambiguous},
      {"plain, size differs", {.size = 46, .large = false}, ambiguous},
      {"plain, offset differs", {.offset = 31, .large = false}, ambiguous},
      {"disk", {.disk = 1}, multi_disk},
      {"disk of the directory", {.directory_disk = 1}, multi_disk},
      {"disk in the new record", {.disk64 = 1}, multi_disk},
      {"disks in the locator", {.disks = 2}, multi_disk},
      {"comment with a mark", {.large = false, .comment = "see PK\5\6"}, ambiguous},
      {"comment with another end", {.large = false, .comment = empty_end(0)}, ambiguous},
      {"comment with another end that fits",
       {.large = false, .comment = empty_end(0, 101)},
       ambiguous},
      {"comment with another end and more",
       {.large = false, .comment = empty_end(4) + "more"},
       ambiguous},
      {"comment with an end that is too long",
       {.large = false, .comment = empty_end(9) + "more"},
       ambiguous},
      {"comment of both with another end", {.comment = empty_end(0)}, ambiguous},
      {"comment with a locator's mark", {.large = false, .comment = "PK\6\7 PK\6\6"}, found},
      {"comment that is cut off", {.large = false, .comment = "words", .comment_size = 6}, missing},
      {"comment and more", {.large = false, .comment = "words", .comment_size = 4}, ambiguous},
      {"an end behind the end", {.large = false, .after = empty_end(0)}, ambiguous},
      {"an end behind both ends", {.after = empty_end(0)}, ambiguous},
      {"a byte behind the end", {.large = false, .after = "x"}, ambiguous},
  };
}

constexpr std::string_view other_readers = R"(
import subprocess, sys, zipfile
for path in sys.argv[1:]:
    try:
        with zipfile.ZipFile(path) as opened:
            python = ",".join(opened.namelist()) if opened.testzip() is None else "-"
    except Exception:
        python = "-"
    done = subprocess.run(["unzip", "-tqq", path], stdin=subprocess.DEVNULL, capture_output=True)
    print(python or "nothing", "ok" if done.returncode == 0 else "-")
)";

TEST(ZipEnd, OnlyWhatAllReadersReadAlikeIsFound) {
  const test::temp_tree t;
  const auto cases = end_cases();
  std::string command;
  t.file("judge.py", other_readers);
  command = "python3 '" + (t / "judge.py") + "'";
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const std::string name = std::to_string(i) + ".zip";
    t.file(name, made(cases[i].records));
    command += " '" + (t / name) + "'";
  }
  std::string said;
  if (std::system("command -v python3 >/dev/null && command -v unzip >/dev/null") == 0) {
    FILE* const pipe = ::popen(command.c_str(), "r");
    ASSERT_NE(pipe, nullptr);
    char part[4096];
    for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, pipe)) > 0;)
      said.append(part, n);
    EXPECT_EQ(::pclose(pipe), 0);
  }
  std::istringstream lines(said);
  std::size_t judged = 0;
  std::size_t differently = 0;
  for (const end_case& c : cases) {
    zip::directory_end end;
    EXPECT_EQ(zip::find_end(made(c.records), end), c.state) << c.name;
    if (c.state == zip::end_state::found) {
      EXPECT_EQ(std::tuple(end.entries, end.offset, end.size), std::tuple(1U, 32U, 47U)) << c.name;
    }
    std::string python;
    std::string unzip;
    if (!(lines >> python >> unzip)) continue;
    ++judged;
    // One that refuses what it does not know is no other reading.
    if (c.state == zip::end_state::found) {
      EXPECT_TRUE((python == "a" || python == "-") && unzip == "ok") << c.name << python << unzip;
    } else {
      differently += (python == "a") != (unzip == "ok") ? 1U : 0U;
    }
  }
  if (said.empty()) GTEST_SKIP() << "needs python3 and unzip to judge";
  EXPECT_EQ(judged, cases.size());
  EXPECT_GT(differently, 5U) << "of what is refused, some is read by one and not by the other";
}

} // namespace
} // namespace paddock
