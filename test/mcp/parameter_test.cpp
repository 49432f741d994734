// SPDX-License-Identifier: MIT

// Tables of parameters: the schema, the check and its text, fallbacks. PADDOCK_SCHEMA_CASES names a
// file for an outside judge (schema_judge.py): schemas, random values, and what the check says.

#include "precompiled/tests.hpp"

#include <paddock/mcp/parameter.hpp>
#include <paddock/mcp/server.hpp>

namespace paddock::mcp {
namespace {

using enum parameter_type;
using testing::ElementsAre;
using testing::HasSubstr;
constexpr auto optional = presence::optional;

/// Arrays of objects that hold arrays of objects, and one of everything.
std::vector<parameter> nested() {
  const std::vector<parameter> edit = {
      {.name = "oldText", .characters_min = 1, .characters_max = 8},
      {.name = "newText"},
      {.name = "all", .type = boolean, .presence = optional, .fallback = "false"},
      {.name = "line", .type = integer, .presence = optional, .minimum = 1, .maximum = 99},
  };
  return {
      {.name = "changes",
       .type = object_array,
       .elements_min = 1,
       .elements_max = 3,
       .members = {{.name = "path", .characters_min = 1},
                   {.name = "edits", .type = object_array, .presence = optional, .members = edit},
                   {.name = "kinds",
                    .type = string_array,
                    .presence = optional,
                    .choices = {"file", "directory"},
                    .elements_max = 2}}},
      {.name = "output",
       .presence = optional,
       .choices = {"lines", "files", "counts"},
       .fallback = R"("lines")"},
      {.name = "share", .type = number, .presence = optional, .minimum = 0, .maximum = 1},
      {.name = "range",
       .type = object,
       .presence = optional,
       .members = {{.name = "from", .type = integer},
                   {.name = "to", .type = integer, .presence = optional, .fallback = "-1"}}},
      {.name = "env", .type = string_map, .presence = optional, .characters_max = 4},
      {.name = "ids", .type = integer_array, .presence = optional, .minimum = 0},
  };
}

struct check_case {
  const char* name;
  const char* arguments;
  const char* problems;
};

const check_case check_cases[] = {
    {"fits",
     R"({"changes":[{"path":"a","edits":[{"oldText":"x","newText":""}],"kinds":["file"]}],)"
     R"("output":"files","share":0.5,"range":{"from":1},"env":{"A":"b"},"ids":[0,1.0]})",
     ""},
    {"nothing is given", "{}",
     R"("changes" is required: give an array of objects, each with path)"},
    {"no array", R"({"changes":{}})", R"("changes" must be an array of objects, not an object)"},
    {"no object in it", R"({"changes":[1]})", R"("changes"[0] must be an object, not a number)"},
    {"too few", R"({"changes":[]})", R"("changes" must have at least 1 element)"},
    {"too many", R"({"changes":[1,2,3,4]})",
     R"("changes" has 4 elements, at most 3 are accepted in one call)"},
    {"all problems, at any depth",
     R"({"changes":[{"path":""},{"edits":[{"oldText":"too long for it","line":0},7]},)"
     R"({"path":"c","kinds":["file","link"]}],"output":"line","share":2,"ids":[-1,"x"]})",
     R"("changes"[0].path must not be empty; "changes"[1].path is required: give a string; )"
     R"("changes"[1].edits[0].oldText has 15 characters, at most 8 are accepted; )"
     R"("changes"[1].edits[0].newText is required: give a string; )"
     R"("changes"[1].edits[0].line must be an integer from 1 to 99, not 0; )"
     R"("changes"[1].edits[1] must be an object, not a number; )"
     R"("changes"[2].kinds[1] must be "file" or "directory", not "link"; )"
     R"("output" must be "lines", "files" or "counts", not "line"; )"
     R"("share" must be a number from 0 to 1, not 2; )"
     R"("ids"[0] must be an integer of at least 0, not -1; )"
     R"("ids"[1] must be an integer of at least 0, not "x")"},
    {"members that there are not", R"({"changes":[{"path":"a","text":"b"}],"paths":1})",
     R"("changes"[0]: unknown key text (it takes path, edits, kinds); "paths" is not a )"
     R"(parameter of tool (it takes changes, output, share, range, env, ids))"},
    {"null", R"({"changes":[{"path":"a"}],"output":null,"range":{"from":null}})",
     R"("output" must be "lines", "files" or "counts", not null; leave it out instead; )"
     R"("range".from must be an integer, not null)"},
    {"wrong types", R"({"changes":[{"path":"a"}],"output":1,"share":"1","range":[],"env":{"A":1}})",
     R"("output" must be "lines", "files" or "counts", not a number; )"
     R"("share" must be a number from 0 to 1, not "1"; "range" must be an object, not an array; )"
     R"("env"["A"] must be a string, not a number)"},
};

std::string checked(const std::string& arguments) {
  json_document document;
  const auto parsed = document.parse(arguments);
  EXPECT_TRUE(parsed) << arguments;
  return problems_of(nested(), *parsed, "tool");
}

TEST(Parameters, EveryProblemIsToldWithItsPlaceAndRemedy) {
  for (const check_case& c : check_cases)
    EXPECT_EQ(c.problems, checked(c.arguments)) << c.name;
}

TEST(Parameters, MistakesWithoutEndAreCounted) {
  std::string ids = R"({"changes":[{"path":"a"}],"ids":[)";
  for (int i = 0; i < 100'000; ++i)
    ids += "-1,";
  const std::string problems = checked(ids + "-1]}");
  EXPECT_LE(problems.size(), 1000U);
  EXPECT_THAT(problems, HasSubstr("; and 99985 more"));
}

TEST(Parameters, TheSchemaSaysWhatIsChecked) {
  EXPECT_EQ(
      R"({"type":"object","properties":{"a":{"type":"array","minItems":1,"items":{"type":"object",)"
      R"("properties":{"b":{"type":"string","enum":["x","y"],"default":"y","description":"B."}},)"
      R"("additionalProperties":false}},"c":{"type":"number","minimum":0}},"required":["a","c"],)"
      R"("additionalProperties":false})",
      schema_of(std::vector<parameter>{{.name = "a",
                                        .type = object_array,
                                        .elements_min = 1,
                                        .members = {{.name = "b",
                                                     .presence = optional,
                                                     .description = "B.",
                                                     .choices = {"x", "y"},
                                                     .fallback = R"("y")"}}},
                                       {.name = "c", .type = number, .minimum = 0}}));
}

TEST(Parameters, HandlersFindTheFallbacks) {
  server s({}, {{.name = "tool", .parameters = nested(), .handler = [](call& c) {
                   return tool_result{.json = c.arguments().text()};
                 }}});
  const auto handled = [&](const std::string& arguments) {
    const auto lines = s.handle_line(
        R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool","arguments":)" +
        arguments + "}}");
    json_document document;
    const auto parsed = document.parse(lines.at(0));
    return (*parsed)["result"]["structuredContent"].text();
  };
  EXPECT_EQ(
      R"({"changes":[{"path":"a\n","edits":[{"newText":"","oldText":"x","all":false},)"
      R"({"all":true,"oldText":"y","newText":""}]}],"range":{"from":1,"to":-1},"output":"lines"})",
      handled(R"({"changes":[{"path":"a\n","edits":[{"newText":"","oldText":"x"},)"
              R"({"all":true,"oldText":"y","newText":""}]}],"range":{"from":1}})"));
  const std::string whole = R"({"output":"files","changes":[{"path":"a"}]})";
  EXPECT_EQ(whole, handled(whole)) << "what has all stays as it is";
}

TEST(Parameters, TablesThatContradictThemselvesAreRefused) {
  const struct {
    parameter row;
    const char* problem;
  } cases[] = {
      {{.name = ""}, "one has no name"},
      {{.name = "a", .type = integer, .choices = {"x"}}, "a has choices, and is no string"},
      {{.name = "a", .minimum = 1}, "a has bounds, and is no number"},
      {{.name = "a", .type = boolean, .characters_max = 1}, "a has a length, and is no string"},
      {{.name = "a", .elements_max = 1}, "a counts elements, and is no array"},
      {{.name = "a", .type = object}, "a is an object without members"},
      {{.name = "a", .members = {{.name = "b"}}}, "a has members, and is no object"},
      {{.name = "a", .type = object, .members = {{.name = "b", .fallback = "1"}}},
       "a has members, of which b is required and has a fallback"},
      {{.name = "a", .presence = optional, .fallback = "x"}, "a has a fallback that is "},
      {{.name = "a", .presence = optional, .fallback = "1"},
       R"(a has a fallback that does not fit: "a" must be a string, not a number)"},
      {{.name = "a", .presence = optional, .fallback = "\n\"\""}, "a has a fallback of several"},
  };
  for (const auto& c : cases)
    EXPECT_THAT(problem_of_table({&c.row, 1}), testing::StartsWith(c.problem));
  EXPECT_EQ("two are called a",
            problem_of_table(std::vector<parameter>{{.name = "a"}, {.name = "a"}}));
  EXPECT_EQ("", problem_of_table(nested()));
  const auto made =
      server::make({}, {{.name = "t", .parameters = {cases[1].row}, .handler = [](call&) {
                           return tool_result{};
                         }}});
  ASSERT_FALSE(made);
  EXPECT_EQ("the tool t has a table of parameters in which a has choices, and is no string",
            made.error().detail);
}

// --- for the judge -----------------------------------------------------------------------------

class random_json {
public:
  explicit random_json(unsigned seed) : random_(seed) {}
  /// A value that mostly fits `p`.
  void write(json_writer& out, const parameter& p) {
    if (one_in(40)) return write_anything(out);
    switch (p.type) {
    case string:
      return write_string(out, p);
    case integer:
      out.integer(static_cast<std::int64_t>(random_() % 103) - 1);
      return;
    case number:
      out.number(static_cast<double>(random_() % 11) / 10);
      return;
    case boolean:
      out.boolean(one_in(2));
      return;
    case object:
      return write_object(out, p.members);
    case string_map:
      out.begin_object();
      write_string(out.key("k"), p);
      out.end_object();
      return;
    case string_array:
    case integer_array:
    case object_array:
      break;
    }
    parameter one = p;
    one.type = p.type == string_array ? string : p.type == integer_array ? integer : object;
    out.begin_array();
    for (unsigned n = one_in(15) ? 0 : 1 + random_() % 2; n > 0; --n)
      write(out, one);
    out.end_array();
  }
  void write_object(json_writer& out, const std::vector<parameter>& members) {
    out.begin_object();
    for (const parameter& p : members)
      if (!one_in(p.presence == presence::required ? 20 : 3)) write(out.key(p.name), p);
    if (one_in(25)) out.key("other").integer(1);
    out.end_object();
  }

private:
  bool one_in(unsigned n) { return random_() % n == 0; }
  void write_string(json_writer& out, const parameter& p) {
    constexpr const char* texts[] = {"", "a", "four", "\xE2\x82\xAC\xE2\x82\xAC", "nine char"};
    if (p.choices.empty() || one_in(20))
      out.string(texts[one_in(8) ? random_() % 5 : 1 + random_() % 3]);
    else
      out.string(p.choices[random_() % p.choices.size()]);
  }
  void write_anything(json_writer& out) {
    constexpr const char* values[] = {"null",  "true", "1",  "1.0", "0.5",          "-3",
                                      R"("")", "[]",   "{}", "[1]", R"({"path":1})"};
    out.raw(values[random_() % std::size(values)]);
  }
  std::mt19937 random_;
};

TEST(Parameters, RandomArgumentsFitOrNot) {
  const char* const file = std::getenv("PADDOCK_SCHEMA_CASES");
  std::ofstream to;
  if (file != nullptr) to.open(file, std::ios::app);
  const auto table = nested();
  const std::string schema = schema_of(table);
  random_json random(20261122);
  unsigned fit = 0;
  constexpr unsigned rounds = 4000;
  for (unsigned i = 0; i < rounds; ++i) {
    json_writer out;
    random.write_object(out, table);
    const bool fits = checked(out.str()).empty();
    fit += fits ? 1 : 0;
    json_writer line;
    line.begin_object().member("tool", "nested").key("fits").boolean(fits);
    line.key("value").raw(out.str()).key("schema").raw(schema).end_object();
    if (to.is_open()) to << line.str() << '\n';
  }
  EXPECT_GT(fit, rounds / 20);
  EXPECT_LT(fit, rounds / 2 + rounds / 4);
}

} // namespace
} // namespace paddock::mcp
