// SPDX-License-Identifier: MIT
#include "support/matchers.hpp"
#include "support/words.hpp"

#include <paddock/exec/environment.hpp>

namespace paddock::test {
namespace {

using strings = std::vector<std::string>;

TEST(Environment, CombinesWhatIsInheritedPassedAndAskedFor) {
  const struct {
    const char* name;
    std::vector<std::string_view> inherited;
    strings pass;
    std::vector<environment_variable> extra;
    strings expected;
  } cases[] = {
      {"nothing", {}, {}, {}, {}},
      {"the minimum",
       {"PATH=/bin", "SECRET=x", "HOME=/h", "LANG=C", "LC_ALL=C", "LC_TIME=", "TERM=dumb", "TZ=UTC",
        "USER=u", "LOGNAME=u", "SHELL=/bin/sh", "TMPDIR=/tmp", "LANGUAGE=de"},
       {},
       {},
       {"PATH=/bin", "HOME=/h", "LANG=C", "LC_ALL=C", "LC_TIME=", "TERM=dumb", "TZ=UTC", "USER=u",
        "LOGNAME=u", "SHELL=/bin/sh", "TMPDIR=/tmp"}},
      {"passed on demand", {"A=1", "B=2"}, {"B", "C"}, {}, {"B=2"}},
      {"asked for", {"HOME=/h"}, {}, {{"B", "2"}, {"A", "1=1"}}, {"HOME=/h", "B=2", "A=1=1"}},
      {"asked for replaces inherited",
       {"PATH=/bin", "HOME=/h"},
       {},
       {{"PATH", "/usr/bin:/bin"}},
       {"PATH=/usr/bin:/bin", "HOME=/h"}},
      {"the last one counts", {"TZ=A", "TZ=B"}, {}, {{"X", "1"}, {"X", "2"}}, {"TZ=B", "X=2"}},
      {"refused ones are never inherited",
       {"LD_PRELOAD=x", "BASH_FUNC_a%%=() { :; }", "IFS=x"},
       {"LD_PRELOAD", "BASH_FUNC_a%%", "IFS"},
       {},
       {}},
      {"malformed ones are never inherited", {"PATH", "=x", "LC_A B=x", "", "LC_%=x"}, {}, {}, {}},
      {"empty values are values", {"TERM="}, {}, {{"X", ""}}, {"TERM=", "X="}},
      {"what chooses among programs may be set",
       {},
       {},
       {{"PAGER", "cat"}, {"EDITOR", "true"}, {"CC", "clang"}, {"SHELL", "/bin/sh"}, {"HOME", "x"}},
       {"PAGER=cat", "EDITOR=true", "CC=clang", "SHELL=/bin/sh", "HOME=x"}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(build_environment({.inherited = c.inherited, .pass = c.pass, .extra = c.extra}),
                HoldsValue(c.expected));
  }
}

/// Each name is looked up among those before it: what takes a moment here took minutes.
TEST(Environment, TakesManyVariables) {
  constexpr int count = 50'000;
  std::vector<environment_variable> many;
  for (int round = 0; round < 2; ++round)
    for (int i = 0; i < count; ++i)
      many.push_back({"V" + std::to_string(i), std::to_string(round)});
  const auto built = build_environment({.inherited = {}, .pass = {}, .extra = many});
  ASSERT_TRUE(built);
  ASSERT_EQ(std::size_t{count}, built->size());
  EXPECT_EQ("V0=1", built->front());
  EXPECT_EQ("V49999=1", built->back());
}

TEST(Environment, RefusesWithANameAndAReason) {
  const struct {
    environment_variable variable;
    error_code code;
  } cases[] = {
      {{"LD_PRELOAD", "x"}, error_code::denied_by_policy},
      {{"BASH_FUNC_ls%%", "() { :; }"}, error_code::denied_by_policy},
      {{"", "x"}, error_code::invalid_argument},
      {{"1A", "x"}, error_code::invalid_argument},
      {{"A-B", "x"}, error_code::invalid_argument},
      {{"A=B", "x"}, error_code::invalid_argument},
      {{std::string("A\0", 2), "x"}, error_code::invalid_argument},
      {{"\xc3\xa4", "x"}, error_code::invalid_argument},
      {{"A", std::string("x\0y", 3)}, error_code::invalid_argument},
      {{"PATH", ""}, error_code::invalid_argument},
      {{"PATH", "."}, error_code::invalid_argument},
      {{"PATH", "/bin:"}, error_code::invalid_argument},
      {{"PATH", ":/bin"}, error_code::invalid_argument},
      {{"PATH", "/bin::/usr/bin"}, error_code::invalid_argument},
      {{"PATH", "/bin:node_modules/.bin"}, error_code::invalid_argument},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.variable.name + "=" + c.variable.value);
    const std::vector<environment_variable> extra = {{"GOOD", "1"}, c.variable};
    environment_refusal refusal;
    EXPECT_THAT(build_environment({.extra = extra}, &refusal), IsError(c.code));
    EXPECT_EQ(refusal.name, c.variable.name);
    EXPECT_FALSE(refusal.reason.empty());
    EXPECT_THAT(build_environment({.extra = extra}), IsError(c.code));
  }
}

/// One name for each pattern of the table.
strings refused_names() {
  strings names;
  for (const refused_variables_row& row : refused_variables) {
    EXPECT_FALSE(row.reason.empty()) << row.patterns;
    std::istringstream patterns{std::string(row.patterns)};
    for (std::string name; patterns >> name; names.push_back(name))
      if (name.ends_with('*')) name.back() = 'X';
  }
  return names;
}

TEST(Environment, RefusesEveryNameOfTheTable) {
  for (const std::string& name : refused_names())
    EXPECT_TRUE(refusal_of(name)) << name;
  for (const char* name : {"LD_PRELOAD", "NLSPATH", "IFS", "PYTHONWARNINGS", "GIT_ASKPASS",
                           "GIT_CONFIG_COUNT", "LUA_PATH_5_4", "EXINIT", "RUSTC_WORKSPACE_WRAPPER"})
    EXPECT_TRUE(refusal_of(name)) << name;
  EXPECT_EQ(83U, refused_names().size()); // none is lost with its row
}

TEST(Environment, AConfinedCommandMayHaveThemButInheritsNone) {
  for (const std::string& name : refused_names()) {
    SCOPED_TRACE(name);
    const std::vector<environment_variable> extra{{name, "x"}};
    const std::string inherited = name + "=inherited";
    EXPECT_THAT(build_environment({.extra = extra}), IsError(error_code::denied_by_policy));
    EXPECT_THAT(build_environment({.extra = extra, .place = command_place::confined}),
                HoldsValue(strings{name + "=x"}));
    const std::vector<std::string_view> own{inherited};
    const strings pass{name};
    EXPECT_THAT(
        build_environment({.inherited = own, .pass = pass, .place = command_place::confined}),
        HoldsValue(strings{}));
  }
  const std::vector<environment_variable> wrong{{"PATH", "relative"}};
  EXPECT_THAT(build_environment({.extra = wrong, .place = command_place::confined}),
              IsError(error_code::invalid_argument));
}

TEST(Environment, RefusesNoInnocentNeighbour) {
  for (const std::string& name :
       test::words("LDFLAGS LD MALLOC ENVIRONMENT env PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE "
                   "PYTHONIOENCODING GIT_AUTHOR_NAME GIT_TERMINAL_PROMPT GIT_DIR NODE_ENV "
                   "PERL_MB_OPT RUBY_VERSION JAVA_HOME PATH HOME SHELL http_proxy CI VIRTUAL_ENV "
                   "CARGO_HOME GOPATH CFLAGS MAKEFLAGS PS1"))
    EXPECT_FALSE(refusal_of(name)) << name;
  for (const char* name : {"", "GIT_SSH GIT_SSH_COMMAND"})
    EXPECT_FALSE(refusal_of(name)) << name;
}

} // namespace
} // namespace paddock::test
