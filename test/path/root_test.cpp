// SPDX-License-Identifier: MIT

// The corpus of paths: what every path must lead to, with either resolver and as either user, and
// that no operation of the library lets one of them touch what is outside.

#include "support/files/canary.hpp"
#include "support/matchers.hpp"
#include "support/process/process.hpp"

#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>
#include <paddock/path/root.hpp>

namespace paddock {
namespace {

using test::canary_tree;
using testing::Not;

/// What a path leads to.
struct answer {
  enum class kind : std::uint8_t { file, hard_linked, directory, other, link, nothing, refused };
  kind what;
  std::string_view path = {}; ///< resolved
  error_code code{};
};
constexpr answer file(std::string_view path) {
  return {answer::kind::file, path};
}
constexpr answer directory(std::string_view path) {
  return {answer::kind::directory, path};
}
constexpr answer other(std::string_view path) {
  return {answer::kind::other, path};
}
constexpr answer link(std::string_view path) {
  return {answer::kind::link, path};
}
constexpr answer nothing(std::string_view path) {
  return {answer::kind::nothing, path};
}
constexpr answer refused(error_code code) {
  return {answer::kind::refused, {}, code};
}

struct path_case {
  const char* name;
  std::string path; ///< @W is the root's absolute path, @O the outside's
  answer opened;    ///< links followed
  answer kept;      ///< located, a final link kept
  answer followed;  ///< located, a final link followed
};

/// The same refusal wherever the path is used.
path_case never(const char* name, std::string path, error_code code) {
  return {name, std::move(path), refused(code), refused(code), refused(code)};
}
/// A final link that is fine to name but not to follow.
path_case only_kept(const char* name, std::string path, error_code code) {
  return {name, std::move(path), refused(code), link(""), refused(code)};
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string out;
  while (times-- > 0)
    out += part;
  return out;
}

using enum error_code;

const path_case path_cases[] = {
    // --- inside
    {"plain", "f", file("f"), file("f"), file("f")},
    {"below", "a/b/g", file("a/b/g"), file("a/b/g"), file("a/b/g")},
    {"directory", "a", directory("a"), directory("a"), directory("a")},
    {"directory_slash", "a/", directory("a"), directory("a"), directory("a")},
    {"directory_dot", "a/.", directory("a"), directory("a"), directory("a")},
    {"dots_and_slashes", "./a//.//b/./g", file("a/b/g"), file("a/b/g"), file("a/b/g")},
    {"up_and_down", "a/../f", file("f"), file("f"), file("f")},
    {"up_twice", "a/b/../../f", file("f"), file("f"), file("f")},
    {"root", ".", directory(""), refused(workspace_root), refused(workspace_root)},
    {"root_slash", "./", directory(""), refused(workspace_root), refused(workspace_root)},
    {"root_by_dotdot", "a/..", directory(""), refused(workspace_root), refused(workspace_root)},
    {"ends_in_dotdot", "a/b/..", directory("a"), refused(invalid_argument),
     refused(invalid_argument)},
    {"missing", "nope", refused(not_found), nothing("nope"), nothing("nope")},
    {"missing_in_directory", "a/nope", refused(not_found), nothing("a/nope"), nothing("a/nope")},
    {"missing_slash", "nope/", refused(not_found), nothing("nope"), nothing("nope")},
    never("missing_parent", "nope/f", not_found),
    never("up_from_missing", "nope/../f", not_found),
    {"up_from_missing_at_end", "nope/..", refused(not_found), refused(workspace_root),
     refused(workspace_root)},
    {"file_slash", "f/", refused(not_a_directory), file("f"), file("f")},
    {"file_dot", "f/.", refused(not_a_directory), file("f"), file("f")},
    never("below_file", "f/x", not_a_directory),
    never("up_from_file", "f/../a/f", not_a_directory),
    // --- absolute spellings
    {"absolute_inside", "@W/f", file("f"), file("f"), file("f")},
    {"absolute_root", "@W", directory(""), refused(workspace_root), refused(workspace_root)},
    {"absolute_root_slash", "@W//", directory(""), refused(workspace_root),
     refused(workspace_root)},
    {"absolute_slashes", "//@W//./a/../f", file("f"), file("f"), file("f")},
    never("absolute_outside", "/etc/passwd", escapes_root),
    never("absolute_filesystem_root", "/", escapes_root),
    never("absolute_sibling_with_prefix", "@W-evil/f", escapes_root),
    never("absolute_sibling", "@O/secret", escapes_root),
    never("absolute_up", "@W/../out/secret", escapes_root),
    never("absolute_up_slashes", "@W//../out/secret", escapes_root),
    never("absolute_dotdot_before_root", "/x/..@W/f", escapes_root),
    // --- leaving
    never("dotdot_file", "../out/secret", escapes_root),
    never("dotdot_reenter", "../ws/f", escapes_root),
    never("dotdot_sibling_with_prefix", "../ws-evil/f", escapes_root),
    never("dotdot_in_the_middle", "a/../../out/secret", escapes_root),
    never("dotdot_many", repeated("../", 60) + "etc/passwd", escapes_root),
    {"dotdot", "..", refused(escapes_root), refused(escapes_root), refused(escapes_root)},
    {"dotdot_slash", "../", refused(escapes_root), refused(escapes_root), refused(escapes_root)},
    {"dotdot_at_end", "a/../..", refused(escapes_root), refused(escapes_root),
     refused(escapes_root)},
    // --- spellings that are only names
    {"tilde", "~", file("~"), file("~"), file("~")},
    {"variable", "$HOME", refused(not_found), nothing("$HOME"), nothing("$HOME")},
    {"percent", "%2e%2e/out", refused(not_found), refused(not_found), refused(not_found)},
    {"backslash", "..\\out\\secret", refused(not_found), nothing("..\\out\\secret"),
     nothing("..\\out\\secret")},
    {"three_dots", ".../f", file(".../f"), file(".../f"), file(".../f")},
    {"newline", "new\nline", file("new\nline"), file("new\nline"), file("new\nline")},
    {"invalid_utf8", "\xff\xfe", file("\xff\xfe"), file("\xff\xfe"), file("\xff\xfe")},
    {"leading_dash", "-rf", file("-rf"), file("-rf"), file("-rf")},
    // --- what is no path at all
    never("empty", "", invalid_argument),
    never("nul", std::string("f\0/../../out", 13), invalid_name),
    never("name_256", std::string(256, 'n'), name_too_long),
    never("name_256_in_the_middle", "a/" + std::string(256, 'n') + "/f", name_too_long),
    {"name_255", std::string(255, 'n'), refused(not_found), nothing(std::string_view()),
     nothing(std::string_view())},
    {"path_4095", repeated("a/../", 818) + "././f", file("f"), file("f"), file("f")},
    never("path_4096", repeated("a/../", 818) + "a/../f", path_too_long),
    // --- links that stay
    {"link_to_file", "in", file("a/b/g"), link("in"), file("a/b/g")},
    {"link_up_and_in", "a/up", file("f"), link("a/up"), file("f")},
    {"link_to_directory", "dirlink", directory("a"), link("dirlink"), directory("a")},
    {"link_to_directory_slash", "dirlink/", directory("a"), link("dirlink"), directory("a")},
    {"link_in_the_middle", "dirlink/b/g", file("a/b/g"), file("a/b/g"), file("a/b/g")},
    {"dotdot_after_link", "deeplink/../f", file("a/f"), file("a/f"), file("a/f")},
    {"link_to_root", "dot/f", file("f"), file("f"), file("f")},
    {"link_to_file_slash", "in/", refused(not_a_directory), link("in"), file("a/b/g")},
    {"target_with_slash", "file_slash", refused(not_a_directory), link("file_slash"),
     refused(not_a_directory)},
    {"chain_40", "chain40", file("f"), link("chain40"), file("f")},
    {"missing_below_link", "dirlink/nope", refused(not_found), nothing("a/nope"),
     nothing("a/nope")},
    // --- links that do not
    only_kept("chain_41", "chain41", symlink_loop),
    only_kept("loop", "loop", symlink_loop),
    only_kept("ever_longer", "longer0", path_too_long),
    only_kept("ping_pong", "ping", symlink_loop),
    never("loop_in_the_middle", "loop/f", symlink_loop),
    only_kept("link_absolute", "abs_out", absolute_symlink),
    only_kept("link_absolute_inside", "abs_in", absolute_symlink_inside),
    only_kept("link_absolute_sibling_with_prefix", "abs_evil", absolute_symlink),
    only_kept("link_relative_out", "rel_out", escapes_root),
    only_kept("link_reenters", "reenter", escapes_root),
    only_kept("link_to_parent", "updir", escapes_root),
    only_kept("link_proc_root", "proc_root", absolute_symlink),
    only_kept("link_proc_fd", "proc_fd", absolute_symlink),
    only_kept("link_to_outside_directory", "out_dir", escapes_root),
    only_kept("link_to_outside_directory_slash", "out_dir/", escapes_root),
    never("below_outside_directory", "out_dir/secret", escapes_root),
    never("below_absolute_directory", "abs_dir/secret", absolute_symlink),
    never("new_below_outside_directory", "out_dir/new", escapes_root),
    never("new_below_absolute_directory", "abs_dir/new", absolute_symlink),
    never("dotdot_after_outside_link", "out_dir/../ws/f", escapes_root),
    // --- dangling links
    {"dangling", "dang", refused(dangling_symlink), link("dang"), nothing("nope")},
    {"dangling_deep", "dang_deep", refused(dangling_symlink), link("dang_deep"),
     refused(dangling_symlink)},
    {"dangling_out", "dang_out", refused(escapes_root), link("dang_out"), refused(escapes_root)},
    {"dangling_absolute", "dang_abs", refused(absolute_symlink), link("dang_abs"),
     refused(absolute_symlink)},
    never("dangling_in_the_middle", "dang/f", dangling_symlink),
    // --- reserved entries
    never("protected_file", ".perstack/cfg", protected_entry),
    never("protected_directory", ".perstack", protected_entry),
    never("protected_dots", "./.perstack/./cfg", protected_entry),
    never("protected_by_dotdot", "a/../.perstack/cfg", protected_entry),
    never("protected_absolute", "@W/.perstack/cfg", protected_entry),
    never("protected_case", ".PerStack/cfg", protected_entry),
    never("protected_passed_through", ".perstack/../f", protected_entry),
    never("protected_through_directory_link", "pst/cfg", protected_entry),
    never("protected_through_link_and_dotdot", "deeplink/../../.perstack/cfg", protected_entry),
    only_kept("protected_link", "pst", protected_entry),
    only_kept("protected_file_link", "a/pst_cfg", protected_entry),
    never("protected_below", "a/.perstack", protected_entry),
    {"not_protected_prefix", ".perstack2", refused(not_found), nothing(".perstack2"),
     nothing(".perstack2")},
    // --- what is no file
    {"fifo", "fifo", other("fifo"), other("fifo"), other("fifo")},
    {"socket", "socket", other("socket"), other("socket"), other("socket")},
    {"link_to_fifo", "fifo_link", other("fifo"), link("fifo_link"), other("fifo")},
    {"hard_link_to_outside",
     "hard",
     {answer::kind::hard_linked, "hard"},
     file("hard"),
     file("hard")},
};

void build(const canary_tree& canary) {
  const auto& t = canary.tree();
  for (const char* name : {"ws/a/b", "ws/.perstack", "ws/..."})
    t.directory(name);
  for (const char* name : {"ws/f", "ws/a/f", "ws/a/b/g", "ws/.perstack/cfg", "ws/a/.perstack",
                           "ws/~", "ws/new\nline", "ws/\xff\xfe", "ws/-rf", "ws/.../f"})
    t.file(name, "inside");
  const std::string ws = canary.ws();
  const std::pair<const char*, std::string> links[] = {
      {"in", "a/b/g"},
      {"a/up", "../f"},
      {"dirlink", "a"},
      {"deeplink", "a/b"},
      {"dot", "."},
      {"file_slash", "f/"},
      {"loop", "loop"},
      {"ping", "pong"},
      {"pong", "ping"},
      {"abs_out", canary.out() + "/secret"},
      {"abs_in", ws + "/f"},
      {"abs_evil", ws + "-evil/f"},
      {"updir", ".."},
      {"rel_out", "../out/secret"},
      {"out_dir", "../out"},
      {"reenter", "../ws/f"},
      {"fifo_link", "fifo"},
      {"proc_root", "/proc/self/root/etc/passwd"},
      {"dang", "nope"},
      {"proc_fd", "/proc/self/fd/0"},
      {"pst", ".perstack"},
      {"abs_dir", canary.out()},
      {"chain1", "f"},
      {"dang_deep", "nope/deeper"},
      {"chain40", "chain39"},
      {"dang_out", "../out/new"},
      {"chain41", "chain40"},
      {"dang_abs", canary.out() + "/new"},
      {"a/pst_cfg", "../.perstack/cfg"},
  };
  for (const auto& [name, target] : links)
    t.link(std::string("ws/") + name, target);
  for (int i = 2; i < 40; ++i)
    t.link("ws/chain" + std::to_string(i), "chain" + std::to_string(i - 1));
  for (int i = 0; i < 5; ++i) // each leaves some 2000 names to be looked up
    t.link("ws/longer" + std::to_string(i),
           "longer" + std::to_string(i + 1) + repeated("/a", 2'040));
  ASSERT_EQ(0, ::mkfifo((ws + "/fifo").c_str(), 0666));
  ASSERT_EQ(0, ::mknod((ws + "/socket").c_str(), S_IFSOCK | 0666, 0));
  ASSERT_EQ(0, ::link((canary.out() + "/hard").c_str(), (ws + "/hard").c_str()));
}

std::string spelled(std::string path, const canary_tree& canary) {
  for (const auto& [mark, text] : {std::pair("@W", canary.ws()), std::pair("@O", canary.out())})
    if (const auto at = path.find(mark); at != std::string::npos) path.replace(at, 2, text);
  return path;
}

/// What open_beneath must say for an access, given what the path leads to.
std::optional<error_code> refusal(const answer& want, access intent) {
  using kind = answer::kind;
  if (want.what == kind::refused) return want.code;
  if (intent == access::inspect) return std::nullopt;
  if (want.what == kind::directory)
    return intent == access::directory ? std::nullopt : std::optional(is_a_directory);
  if (intent == access::directory) return not_a_directory;
  if (want.what == kind::other) return not_regular;
  if (want.what == kind::hard_linked && intent == access::append) return hard_linked;
  return std::nullopt;
}

void check_open(const root& r, const std::string& path, const answer& want) {
  for (const auto intent : {access::read, access::append, access::directory, access::inspect}) {
    SCOPED_TRACE(testing::Message() << "access " << static_cast<int>(intent));
    const auto got = r.open_beneath(path, intent);
    if (const auto code = refusal(want, intent)) {
      EXPECT_THAT(got, test::IsError(*code));
    } else {
      ASSERT_THAT(got, test::IsOk());
      EXPECT_EQ(got->path, want.path);
      EXPECT_NE(got->status.kind, entry_kind::symlink);
    }
  }
}

void check_located(const root& r, const std::string& path, const answer& want, final_link last) {
  SCOPED_TRACE(last == final_link::keep ? "locate, keep" : "locate, follow");
  const auto got = r.locate(path, last);
  if (want.what == answer::kind::refused) {
    EXPECT_THAT(got, test::IsError(want.code));
    return;
  }
  ASSERT_THAT(got, test::IsOk());
  if (!want.path.empty()) {
    EXPECT_EQ(got->path, want.path);
  }
  ASSERT_EQ(got->existing.has_value(), want.what != answer::kind::nothing);
  if (!got->existing) return;
  EXPECT_EQ(got->existing->kind == entry_kind::symlink, want.what == answer::kind::link);
  EXPECT_EQ(got->existing->kind == entry_kind::directory, want.what == answer::kind::directory);
  EXPECT_EQ(got->existing->kind == entry_kind::other, want.what == answer::kind::other);
}

enum class user { same, nobody };

class path_test : public testing::TestWithParam<std::tuple<resolver, user>> {
protected:
  void SetUp() override {
    if (std::get<1>(GetParam()) == user::nobody && ::geteuid() != 0)
      GTEST_SKIP() << "changing the user needs privilege";
  }
  static void make(const canary_tree& canary) {
    build(canary);
    if (std::get<1>(GetParam()) == user::nobody) test::give_to_nobody(canary.ws());
  }
  template <class Body> static void as_user(Body&& body) {
    if (std::get<1>(GetParam()) == user::same) return body();
    ASSERT_EQ(test::in_child(test::become_nobody, body), test::child_end::finished);
  }
  static root open(const canary_tree& canary) {
    return test::open_root(canary.ws(), std::get<0>(GetParam()));
  }
};

TEST_P(path_test, leads_to_what_the_table_says) {
  const canary_tree canary;
  make(canary);
  const std::string outside = canary.describe_outside();
  as_user([&] {
    const root r = open(canary);
    ASSERT_EQ(r.resolver(), std::get<0>(GetParam()));
    for (const auto& row : path_cases) {
      SCOPED_TRACE(row.name);
      const std::string path = spelled(row.path, canary);
      check_open(r, path, row.opened);
      check_located(r, path, row.kept, final_link::keep);
      check_located(r, path, row.followed, final_link::follow);
    }
  });
  EXPECT_EQ(outside, canary.describe_outside());
}

/// The root may hold nothing but what is inside, whatever is done with a path.
using operation = void (*)(const root&, const std::string&);
const std::pair<const char*, operation> operations[] = {
    {"write", [](const root& r, const std::string& p) { (void)write_file(r, p, "new"); }},
    {"append", [](const root& r, const std::string& p) { (void)append_file(r, p, "more"); }},
    {"edit",
     [](const root& r, const std::string& p) {
       (void)edit_file(r, p, {.old_text = "i", .new_text = "I"});
       EXPECT_THAT(edit_file(r, p, {.old_text = test::outside_mark, .new_text = "x"}),
                   Not(test::IsOk()));
     }},
    {"move_away", [](const root& r, const std::string& p) { (void)move_entry(r, p, "moved"); }},
    {"move_here", [](const root& r, const std::string& p) { (void)move_entry(r, "~", p); }},
    {"remove_file", [](const root& r, const std::string& p) { (void)remove_file(r, p); }},
    {"create_directory", [](const root& r, const std::string& p) { (void)create_directory(r, p); }},
    {"remove_directory",
     [](const root& r, const std::string& p) {
       (void)remove_directory(r, p, {.recursive = recursion::yes});
     }},
    {"read", [](const root& r, const std::string& p) {
       const auto whole = read_file(r, p);
       if (whole && whole->path != "hard") {
         EXPECT_EQ(whole->bytes.find(test::outside_mark), std::string::npos);
       }
       (void)read_lines(r, p, {});
       (void)inspect(r, p);
       if (const auto listing = list_directory(r, p)) {
         EXPECT_EQ(listing->names.find("secret"), std::string::npos);
       }
     }}};

TEST_P(path_test, never_touch_the_outside_in_any_operation) {
  for (const auto& op : operations) {
    SCOPED_TRACE(op.first);
    const canary_tree canary;
    make(canary);
    const std::string outside = canary.describe_outside();
    const std::string reserved = test::describe_tree(canary.ws() + "/.perstack");
    ASSERT_NE(::unlink((canary.ws() + "/hard").c_str()), -1); // its link count is outside too
    const std::string unlinked = canary.describe_outside();
    EXPECT_NE(outside, unlinked) << "the description has to see a change";
    as_user([&] {
      const root r = open(canary);
      for (const auto& row : path_cases)
        op.second(r, spelled(row.path, canary));
    });
    EXPECT_EQ(unlinked, canary.describe_outside());
    if (std::get<1>(GetParam()) == user::same) {
      EXPECT_EQ(reserved, test::describe_tree(canary.ws() + "/.perstack"));
    }
    EXPECT_TRUE(canary.tree().exists("ws/.perstack/cfg"));
  }
}

INSTANTIATE_TEST_SUITE_P(every, path_test,
                         testing::Combine(testing::Values(resolver::openat2, resolver::walker),
                                          testing::Values(user::same, user::nobody)),
                         [](const auto& suite) {
                           return test::name_of(std::get<0>(suite.param)) +
                                  (std::get<1>(suite.param) == user::same ? "" : "_as_nobody");
                         });

TEST(path_table, names_are_unique) {
  std::vector<std::string_view> names;
  for (const auto& row : path_cases)
    names.emplace_back(row.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  RecordProperty("path_cases", static_cast<int>(names.size()));
}

TEST(component_test, accepts_only_one_name) {
  const std::pair<std::string, std::optional<error_code>> rows[] = {
      {"a", {}},
      {"...", {}},
      {" ", {}},
      {"\xff", {}},
      {std::string(255, 'x'), {}},
      {"", invalid_name},
      {".", invalid_name},
      {"..", invalid_name},
      {"/", invalid_name},
      {"a/", invalid_name},
      {"a/b", invalid_name},
      {std::string("a\0b", 3), invalid_name},
      {std::string(256, 'x'), name_too_long},
  };
  for (const auto& [name, code] : rows) {
    SCOPED_TRACE(testing::PrintToString(name));
    const auto got = component::from(name);
    if (code) {
      EXPECT_THAT(got, test::IsError(*code));
      continue;
    }
    ASSERT_THAT(got, test::IsOk());
    EXPECT_EQ(got->view(), name);
    EXPECT_STREQ(got->c_str(), name.c_str());
  }
}

} // namespace
} // namespace paddock
