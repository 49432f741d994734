// SPDX-License-Identifier: MIT
#include "precompiled/tests.hpp"

#include <paddock/path/lexical_path.hpp>

namespace paddock {
namespace {

using namespace std::string_literals;
using namespace std::string_view_literals;

std::vector<std::string> components_of(std::string_view path) {
  std::vector<std::string> components;
  for (auto name = next_component(path); !name.empty(); name = next_component(path))
    components.emplace_back(name);
  return components;
}

TEST(LexicalPath, Components) {
  using testing::ElementsAre;
  EXPECT_THAT(components_of(""), ElementsAre());
  EXPECT_THAT(components_of("///"), ElementsAre());
  EXPECT_THAT(components_of("a"), ElementsAre("a"));
  EXPECT_THAT(components_of("//a///b/"), ElementsAre("a", "b"));
  EXPECT_THAT(components_of("./../a"), ElementsAre(".", "..", "a"));
}

struct text_case {
  std::string_view path;
  std::string_view expected;
};

constexpr text_case normalize_cases[] = {
    {"", "."},
    {".", "."},
    {"./", "."},
    {"a", "a"},
    {"a/", "a"},
    {"a//b", "a/b"},
    {"./a/./b/.", "a/b"},
    {"a/..", "."},
    {"a/../b", "b"},
    {"a/b/..", "a"},
    {"a/b/../..", "."},
    {"..", ".."},
    {"../a", "../a"},
    {"a/../..", ".."},
    {"../../a/..", "../.."},
    {"/", "/"},
    {"//", "/"},
    {"/a/../..", "/"},
    {"/../a", "/a"},
    {"/a//b/./c/", "/a/b/c"},
    {"/a/..", "/"},
    {"../a/../../b", "../../b"},
    {"...", "..."},
    {"a/...", "a/..."},
    {"/..a", "/..a"},
};

TEST(LexicalPath, Normalize) {
  for (const auto& row : normalize_cases)
    EXPECT_EQ(normalize_lexically(row.path), row.expected) << row.path;
}

std::string random_path(std::mt19937& random) {
  constexpr std::string_view parts[] = {"/", "/", "a", "b", ".", "..", "//"};
  std::string path;
  for (auto n = random() % 10; n > 0; --n)
    path += parts[random() % std::size(parts)];
  return path;
}

TEST(LexicalPath, NormalizeAgreesWithTheStandardLibrary) {
  std::mt19937 random(3);
  for (int round = 0; round < 20'000; ++round) {
    const std::string path = random_path(random);
    std::string expected = std::filesystem::path(path).lexically_normal().string();
    while (expected.size() > 1 && expected.ends_with('/'))
      expected.pop_back();
    if (expected.empty()) expected = ".";
    ASSERT_EQ(normalize_lexically(path), expected) << path;
    ASSERT_EQ(normalize_lexically(expected), expected);
  }
}

TEST(LexicalPath, Join) {
  EXPECT_EQ(join("a", "b"), "a/b");
  EXPECT_EQ(join("a/", "b"), "a/b");
  EXPECT_EQ(join("/", "b"), "/b");
  EXPECT_EQ(join("", "b"), "b");
  EXPECT_EQ(join("a", ""), "a");
  EXPECT_EQ(join("", ""), "");
  EXPECT_EQ(join("a", "/b"), "/b");
  EXPECT_EQ(join("a", "../b"), "a/../b");
}

constexpr text_case extension_cases[] = {
    {"", ""},
    {".", ""},
    {"..", ""},
    {"...", "."},
    {"a", ""},
    {"a.txt", ".txt"},
    {".hidden", ""},
    {"a.", "."},
    {"a..", "."},
    {"..a", ".a"},
    {".env.local", ".local"},
    {"a.tar.gz", ".gz"},
    {"a.TXT", ".TXT"},
    {"d.x/a", ""},
    {"d.x/a.b", ".b"},
    {"a.b/", ".b"},
    {"x/.hidden", ""},
    {"a.png ", ".png "},
};

TEST(LexicalPath, ExtensionIsNodesExtname) {
  for (const auto& row : extension_cases)
    EXPECT_EQ(extension(row.path), row.expected) << row.path;
}

struct split_case {
  std::string_view path;
  std::string_view parent;
  std::string_view name;
};

constexpr split_case split_cases[] = {
    {"", "", ""},         {"/", "/", ""},      {"//", "/", ""},       {"a", "", "a"},
    {"a/", "", "a"},      {"/a", "/", "a"},    {"//a", "/", "a"},     {"a/b", "a", "b"},
    {"a//b//", "a", "b"}, {"/a/b", "/a", "b"}, {"a/b/c", "a/b", "c"}, {"./a", ".", "a"},
    {"..", "", ".."},
};

TEST(LexicalPath, ParentAndName) {
  for (const auto& row : split_cases) {
    EXPECT_EQ(parent(row.path), row.parent) << row.path;
    EXPECT_EQ(file_name(row.path), row.name) << row.path;
  }
}

struct prefix_case {
  std::string_view absolute;
  std::string_view root;
  std::optional<std::string_view> remainder;
};

constexpr prefix_case prefix_cases[] = {
    {"/ws", "/ws", ""},
    {"/ws/", "/ws", ""},
    {"/ws", "/ws/", ""},
    {"/ws/.", "/ws", ""},
    {"/ws/a", "/ws", "a"},
    {"/ws/a/b/", "/ws", "a/b/"},
    {"//ws///a", "/ws", "a"},
    {"/./ws/./a/./b", "/ws/.", "a/./b"},
    {"/a", "/", "a"},
    {"///a", "/", "a"},
    {"/", "/", ""},
    {"/ws/../x", "/ws", "../x"},
    {"/ws/./../x", "/ws", "../x"},
    {"/a/b/c", "/a/b", "c"},
    {"/ws/...", "/ws", "..."},
    {"/ws-evil/f", "/ws", std::nullopt},
    {"/w", "/ws", std::nullopt},
    {"/", "/ws", std::nullopt},
    {"/x/../ws/f", "/ws", std::nullopt},
    {"/ws/../ws/f", "/ws/../ws", std::nullopt},
    {"/WS/f", "/ws", std::nullopt},
    {"ws/f", "/ws", std::nullopt},
    {"/ws/f", "ws", std::nullopt},
    {"", "/ws", std::nullopt},
    {"/ws", "", std::nullopt},
};

TEST(LexicalPath, RootPrefixIsComparedByComponents) {
  for (const auto& row : prefix_cases)
    EXPECT_EQ(strip_root_prefix(row.absolute, row.root), row.remainder)
        << row.absolute << " in " << row.root;
}

TEST(LexicalPath, EscapesBySpelling) {
  for (const auto path : {"", ".", "a", "a/..", "a/../b", "./a/../b/..", "..."})
    EXPECT_FALSE(escapes_lexically(path)) << path;
  for (const auto path : {"/", "/a", "..", "../a", "a/../..", "a/../../a", "./.."})
    EXPECT_TRUE(escapes_lexically(path)) << path;
}

TEST(LexicalPath, WhatDoesNotEscapeNormalizesWithoutDotDot) {
  std::mt19937 random(4);
  std::size_t inside = 0;
  for (int round = 0; round < 20'000; ++round) {
    const std::string path = random_path(random);
    if (escapes_lexically(path)) continue;
    ++inside;
    ASSERT_THAT(components_of(normalize_lexically(path)), testing::Not(testing::Contains("..")))
        << path;
  }
  EXPECT_GT(inside, 5'000U);
}

// --- names ---------------------------------------------------------------------------------------

struct name_case {
  const char* name;
  std::string_view bytes;
  std::string_view encoded;
};

constexpr name_case name_cases[] = {
    {"ascii", "a b.txt", "a b.txt"},
    {"utf-8", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"},
    {"latin-1", "caf\xE9", "caf\xEE\xBF\xA9"},
    {"lowest byte", "\x80", "\xEE\xBE\x80"},
    {"last of the first row", "\xBF", "\xEE\xBE\xBF"},
    {"first of the second row", "\xC0", "\xEE\xBF\x80"},
    {"highest byte", "\xFF", "\xEE\xBF\xBF"},
    {"cut code point", "\xE2\x82", "\xEE\xBF\xA2\xEE\xBE\x82"},
    {"surrogate", "\xED\xA0\x80", "\xEE\xBF\xAD\xEE\xBE\xA0\xEE\xBE\x80"},
    {"private use below", "\xEE\xBD\xBF", "\xEE\xBD\xBF"},
    {"private use above", "\xEF\x80\x80", "\xEF\x80\x80"},
    {"genuine U+EF80", "\xEE\xBE\x80", "\xEE\xBF\xAE\xEE\xBE\xBE\xEE\xBE\x80"},
    {"genuine U+EFFF", "\xEE\xBF\xBF", "\xEE\xBF\xAE\xEE\xBE\xBF\xEE\xBE\xBF"},
    {"invalid between valid", "\xC3\xA9\xFFz", "\xC3\xA9\xEE\xBF\xBFz"},
};

TEST(NameCodec, Table) {
  for (const auto& row : name_cases) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(encode_name(row.bytes), row.encoded);
    EXPECT_EQ(decode_name(row.encoded), row.bytes);
    EXPECT_EQ(needs_encoding(row.bytes), row.bytes != row.encoded);
  }
}

/// Checks one name, and that no other name met before has the same encoded form.
void check_round_trip(std::string_view name, std::map<std::string, std::string>& seen) {
  const std::string encoded = encode_name(name);
  ASSERT_TRUE(detail::is_valid_utf8(encoded)) << testing::PrintToString(name);
  ASSERT_EQ(decode_name(encoded), name) << testing::PrintToString(name);
  ASSERT_EQ(needs_encoding(name), encoded != name);
  const auto [entry, added] = seen.emplace(encoded, name);
  ASSERT_TRUE(added || entry->second == name) << testing::PrintToString(encoded);
}

TEST(NameCodec, RoundTripOfEveryShortName) {
  constexpr std::string_view alphabet = "a\x80\xBE\xBF\xC3\xE9\xEE\xEF\xFF";
  std::map<std::string, std::string> seen;
  std::vector<std::string> names{""};
  for (int size = 0; size < 5; ++size) {
    std::vector<std::string> longer;
    for (const auto& name : names)
      for (const char c : alphabet) {
        longer.push_back(name + c);
        check_round_trip(longer.back(), seen);
        ASSERT_FALSE(HasFatalFailure());
      }
    names = std::move(longer);
  }
  EXPECT_EQ(seen.size(), 9U + 81U + 729U + 6561U + 59049U);
}

TEST(NameCodec, RoundTripOfRandomBytes) {
  std::mt19937 random(5);
  std::map<std::string, std::string> seen;
  for (int round = 0; round < 50'000; ++round) {
    std::string name(random() % 30, '\0');
    for (char& c : name)
      c = static_cast<char>(random() % 256);
    check_round_trip(name, seen);
    ASSERT_FALSE(HasFatalFailure());
  }
}

TEST(NameCodec, DecodingMakesNoSlashDotOrNul) {
  for (int high = 0xBE; high <= 0xBF; ++high)
    for (int low = 0x80; low <= 0xBF; ++low) {
      const std::string escape{'\xEE', static_cast<char>(high), static_cast<char>(low)};
      const std::string byte = decode_name(escape);
      ASSERT_EQ(byte.size(), 1U);
      EXPECT_GE(static_cast<unsigned char>(byte[0]), 0x80);
    }
}

} // namespace
} // namespace paddock
