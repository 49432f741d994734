// SPDX-License-Identifier: MIT
#include "support/matchers.hpp"

#include <paddock/mcp/json.hpp>

#include <limits>

namespace paddock::mcp {
namespace {

using namespace std::string_literals;
using test::IsError;
using test::IsOk;

std::string written(std::string_view text) {
  json_writer out;
  out.string(text);
  return out.take();
}

/// One byte at a time, for text that is UTF-8.
std::string naive(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const std::size_t known = "\"\\\n\r\t\b\f"s.find(c);
    if (known != std::string::npos && c != '\0') {
      out += '\\';
      out += "\"\\nrtbf"[known];
    } else if (byte < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", byte);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

TEST(JsonWriter, Escapes) {
  const struct {
    const char* name;
    std::string text, json;
  } cases[] = {
      {"empty", "", R"("")"},
      {"quote and backslash", "a\"b\\c", R"("a\"b\\c")"},
      {"short forms", "\n\r\t\b\f", R"("\n\r\t\b\f")"},
      {"other controls", "\x01\x1f\x1b"s + '\0', R"("\u0001\u001f\u001b\u0000")"},
      {"DEL and slash stay", "\x7f/", "\"\x7f/\""},
      {"UTF-8 stays", "äß€😀", "\"äß€😀\""},
      {"line separator stays", "\u2028", "\"\u2028\""},
      {"lone continuation", "a\x80z", "\"a\uFFFDz\""},
      {"overlong", "\xC0\xAF", "\"\uFFFD\uFFFD\""},
      {"surrogate", "\xED\xA0\x80", "\"\uFFFD\uFFFD\uFFFD\""},
      {"too high", "\xF4\x90\x80\x80", "\"\uFFFD\uFFFD\uFFFD\uFFFD\""},
      {"cut off", "x\xE2\x82", "\"x\uFFFD\""},
      {"cut off before a quote", "\xF0\x9F\x98\"", "\"\uFFFD\\\"\""},
      {"invalid beside escapes", "\n\xFF\n", "\"\\n\uFFFD\\n\""},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(c.json, written(c.text));
  }
}

TEST(JsonWriter, EveryByteAtEveryOffsetIsEscapedAsByTheNaiveWriter) {
  for (int byte = 0; byte < 0x80; ++byte)
    for (std::size_t at = 0; at < 20; ++at) {
      std::string text(20, 'a');
      text[at] = static_cast<char>(byte);
      ASSERT_EQ(naive(text), written(text)) << byte << " at " << at;
    }
}

TEST(JsonWriter, RandomTextSurvivesARoundTrip) {
  std::mt19937 random(20260728);
  json_document document;
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    const auto length = random() % 80;
    for (unsigned i = 0; i < length; ++i) {
      const char* const pieces[] = {"a", "\"", "\\", "\n", "\x01",
                                    "é", "€",  "😀", "{",  "plain text "};
      text += pieces[random() % std::size(pieces)];
    }
    ASSERT_EQ(naive(text), written(text));
    const auto parsed = document.parse(written(text));
    ASSERT_THAT(parsed, IsOk());
    ASSERT_EQ(text, parsed->string());
    // And once more as JSON inside JSON.
    const auto outer = document.parse(written(written(text)));
    ASSERT_THAT(outer, IsOk());
    ASSERT_EQ(written(text), outer->string());
  }
}

TEST(JsonWriter, RandomBytesAlwaysMakeValidJson) {
  std::mt19937 random(7);
  json_document document;
  for (int round = 0; round < 5000; ++round) {
    std::string bytes(random() % 40, '\0');
    for (char& b : bytes)
      b = static_cast<char>(random());
    ASSERT_THAT(document.parse(written(bytes)), IsOk());
  }
}

TEST(JsonWriter, PlacesCommas) {
  json_writer out;
  out.begin_object().key("a").begin_array().integer(-1).null().boolean(true).begin_array();
  out.end_array().begin_object().end_object().end_array();
  out.member("b", "c").key("d").raw("[1,2]").key("e").number(0.5).end_object();
  EXPECT_EQ(R"({"a":[-1,null,true,[],{}],"b":"c","d":[1,2],"e":0.5})", out.str());
  out.end_line().integer(1);
  EXPECT_TRUE(out.str().ends_with("}\n1"));
  out.clear();
  out.integer(2);
  EXPECT_EQ("2", out.take());
  out.integer(3);
  EXPECT_EQ("3", out.str());
}

TEST(JsonWriter, GoesOnWithTheMembersOfAnObject) {
  struct {
    const char* object;
    const char* written;
  } const cases[] = {
      {"{}", R"([1,{"z":2},3])"},
      {" { \t} ", R"([1, { 	"z":2},3])"},
      {R"({"a":1})", R"([1,{"a":1,"z":2},3])"},
      {"{\"a\":{}} \r", R"([1,{"a":{},"z":2},3])"},
      {R"({"a":"}{"})", R"([1,{"a":"}{","z":2},3])"},
  };
  for (const auto& c : cases) {
    json_writer out;
    out.begin_array().integer(1).begin_object_with(c.object).key("z").integer(2).end_object();
    out.integer(3).end_array();
    EXPECT_EQ(c.written, out.str()) << c.object;
    json_document document;
    EXPECT_TRUE(document.parse(out.str())) << c.object;
  }
  for (const char* none : {"", "  ", "}", "{", "7}"})
    EXPECT_DEATH(json_writer().begin_object_with(none), "") << none;
}

TEST(JsonWriter, MembersOfEachKind) {
  const std::uint64_t large = std::uint64_t{1} << 63U;
  EXPECT_EQ(R"({"s":"x","c":"y","b":true,"i":-1,"u":9223372036854775808,"d":0.5})",
            json_writer()
                .begin_object()
                .member("s", "x")
                .member("c", std::string("y"))
                .member("b", true)
                .member("i", -1)
                .member("u", large)
                .member("d", 0.5)
                .end_object()
                .str());
}

TEST(JsonWriter, Numbers) {
  json_writer out;
  out.begin_array();
  out.integer(std::numeric_limits<std::int64_t>::min()).unsigned_integer(~std::uint64_t{0});
  out.number(1e300).number(std::numeric_limits<double>::infinity());
  out.number(std::numeric_limits<double>::quiet_NaN()).end_array();
  EXPECT_EQ("[-9223372036854775808,18446744073709551615,1e+300,null,null]", out.str());
}

TEST(JsonView, KindsAndValues) {
  json_document document;
  const auto root =
      document.parse(R"({"n":null,"b":true,"i":-7,"u":18446744073709551615,"d":1.5,"w":1e3,
                                       "s":"x\u0000y","a":[1,2,3],"o":{"k":"v"}})");
  ASSERT_THAT(root, IsOk());
  const json_view v = *root;
  EXPECT_TRUE(v.is(json_kind::object));
  EXPECT_EQ(9U, v.size());
  EXPECT_TRUE(v["n"].is(json_kind::null));
  EXPECT_TRUE(v["n"].exists());
  EXPECT_EQ(true, v["b"].boolean());
  EXPECT_EQ(-7, v["i"].integer());
  EXPECT_EQ(-7.0, v["i"].number());
  EXPECT_TRUE(v["u"].is(json_kind::number));
  EXPECT_EQ(std::nullopt, v["u"].integer());
  EXPECT_EQ(std::nullopt, v["d"].integer());
  EXPECT_EQ(1.5, v["d"].number());
  EXPECT_EQ(1000, v["w"].integer());
  EXPECT_EQ("x\0y"s, v["s"].string());
  EXPECT_EQ(3U, v["a"].size());
  EXPECT_EQ("v", v["o"]["k"].string());
  EXPECT_FALSE(v["x"].exists());
  EXPECT_TRUE(v["x"]["y"].is(json_kind::missing));
  EXPECT_EQ(std::nullopt, v["s"].integer());
  EXPECT_EQ(std::nullopt, v["i"].string());
  EXPECT_EQ(0U, v["i"].size());
  EXPECT_EQ("", v["x"].text());
}

TEST(JsonView, VisitsInOrderAndTheLastDuplicateCounts) {
  json_document document;
  ASSERT_THAT(document.parse(R"({"a":1,"b":[true,"x"],"a":2})"), IsOk());
  std::string seen;
  document.root().for_each_member([&](std::string_view key, json_view value) {
    seen += std::string(key) + value.text() + ";";
    value.for_each_element([&](json_view e) { seen += e.text() + ","; });
  });
  EXPECT_EQ("a1;b[true,\"x\"];true,\"x\",a2;", seen);
  EXPECT_EQ(2, document.root()["a"].integer());
}

TEST(JsonView, TextIsCompactJson) {
  json_document document;
  ASSERT_THAT(document.parse(" { \"a\\n\" : [ 1 , 2.5 , null , { } ] } "), IsOk());
  EXPECT_EQ(R"({"a\n":[1,2.5,null,{}]})", document.root().text());
}

TEST(JsonDocument, RefusesWhatIsNotJson) {
  const struct {
    const char* name;
    std::string text;
  } cases[] = {{"empty", ""},
               {"blank", "  "},
               {"word", "hello"},
               {"cut off object", R"({"a":)"},
               {"cut off string", R"({"a":"b)"},
               {"trailing garbage", "{} x"},
               {"two values", "{}{}"},
               {"trailing comma", "[1,]"},
               {"single quotes", "{'a':1}"},
               {"comment", "[1] // one"},
               {"raw newline in a string", "\"a\nb\""},
               {"NUL byte", "{\"a\":\0 1}"s},
               {"invalid UTF-8", "\"\xFF\""},
               {"UTF-8 surrogate", "\"\xED\xA0\x80\""},
               {"leading zero", "[01]"},
               {"plus", "[+1]"},
               {"NaN", "[NaN]"},
               {"bad escape", R"("\x41")"},
               {"cut off escape", R"("\u12")"},
               {"depth bomb", std::string(100'000, '[')},
               {"object depth bomb",
                [] {
                  std::string s;
                  for (int i = 0; i < 10'000; ++i)
                    s += R"({"a":)";
                  return s;
                }()},
               {"closed beyond the depth", std::string(200, '[') + std::string(200, ']')},
               {"lone surrogate in garbage", R"("\ud800)"}};
  json_document document;
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_THAT(document.parse(c.text), IsError(error_code::invalid_argument));
    EXPECT_FALSE(document.root().exists());
  }
  EXPECT_THAT(document.parse("[1]"), IsOk()) << "usable again";
}

TEST(JsonDocument, ReadsWhatNeitherUtf8NorSixtyFourBitsHold) {
  const struct {
    const char* name;
    std::string json, text;
  } cases[] = {
      {"lone high surrogate", R"("a\ud800b")", "\"a\uFFFDb\""},
      {"lone low surrogate", R"("\udc00")", "\"\uFFFD\""},
      {"two high surrogates", R"("\ud800\ud800")", "\"\uFFFD\uFFFD\""},
      {"high, then a pair", R"("\ud800\ud83d\ude00")", "\"\uFFFD😀\""},
      {"in a key", R"({"\ud800":1})", "{\"\uFFFD\":1}"},
      {"escaped backslash before u", R"("\\ud800\ud800")", "\"\\\\ud800\uFFFD\""},
      {"integer beyond 64 bits", "[123456789012345678901234567890]", "[1.2345678901234568e+29]"},
      {"negative integer beyond 64 bits", "[-9223372036854775809]", "[-9.223372036854775808e+18]"},
      {"number beyond double", "[1e400,-1e400]",
       "[1.7976931348623157e+308,-1.7976931348623157e+308]"},
      {"number too small", "[1e-400]", "[0]"},
      {"digits in a string stay", R"(["123456789012345678901234567890",1e999])",
       R"(["123456789012345678901234567890",1.7976931348623157e+308])"},
  };
  json_document document;
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const auto root = document.parse(c.json);
    ASSERT_THAT(root, IsOk());
    json_document expected;
    ASSERT_THAT(expected.parse(c.text), IsOk());
    EXPECT_EQ(expected.root().text(), root->text());
  }
}

TEST(JsonDocument, DepthBoundIsInclusive) {
  const auto nested = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  json_document document;
  std::size_t deepest = 0;
  for (std::size_t n = 1; n < 2 * json_depth_max; ++n)
    if (document.parse(nested(n))) deepest = n;
  EXPECT_GE(deepest, json_depth_max - 1);
  EXPECT_LE(deepest, json_depth_max);
}

TEST(JsonDocument, IsReusedAndMoved) {
  json_document a;
  ASSERT_THAT(a.parse(R"(["first"])"), IsOk());
  json_document b = std::move(a);
  EXPECT_EQ(R"(["first"])", b.root().text());
  ASSERT_THAT(b.parse("{\"long\":\"" + std::string(100'000, 'x') + "\"}"), IsOk());
  EXPECT_EQ(100'000U, b.root()["long"].string()->size());
}

} // namespace
} // namespace paddock::mcp
