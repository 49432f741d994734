// SPDX-License-Identifier: MIT

// Other spellings of protected names: as file systems fold and cut names, and, character by
// character, against Python's tables of Unicode.

#include "path/name_folding.hpp"
#include "precompiled/tests.hpp"

#include <paddock/base/detail/visible_text.hpp>

namespace paddock {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct spelling {
  const char* what;
  std::string_view name;
  std::string_view plain;
};

TEST(name_folding, names_that_some_file_system_takes_for_one) {
  const spelling table[] = {
      {"the same", ".git", ".git"},
      {"case", ".GiT", ".git"},
      {"full width", "\uff0e\uff27\uff29\uff34", ".git"},
      {"full width, small", ".\uff47it", ".git"},
      {"long s", ".per\u017ftack", ".perstack"},
      {"kelvin", ".perstac\u212a", ".perstack"},
      {"sharp s", "a\u00df", "ASS"},
      {"ligature", ".con\ufb01g", ".config"},
      {"ligature of three", "o\ufb03ce", "office"},
      {"circled", ".\u24d6\u24be\u24e3", ".git"},
      {"mathematical, bold", ".\U0001d420\U0001d422\U0001d42d", ".git"},
      {"mathematical, monospace capitals", ".\U0001d676\U0001d678\U0001d683", ".git"},
      {"letters above", ".\u1d4d\u2071\u1d57", ".git"},
      {"roman figure", "xv\u2172", "xviii"},
      {"ellipsis", "\u2026a", "...a"},
      {"one dot", "\u2024git", ".git"},
      {"joiner", ".g\u200cit", ".git"},
      {"soft hyphen", ".g\u00adit", ".git"},
      {"marks of direction (HFS+)", "\u202a.g\u206ait\ufeff", ".git"},
      {"variation selector", ".git\ufe0f", ".git"},
      {"tag", ".g\U000e0067it", ".git"},
      {"dots at the end", ".git..", ".git"},
      {"blanks at the end", ".git . ", ".git"},
      {"full width dot at the end", ".git\uff0e", ".git"},
      {"ideographic blank at the end", ".git\u3000", ".git"},
      {"stream", ".git::$INDEX_ALLOCATION", ".git"},
      {"stream behind a blank", ".git :x", ".git"},
      {"backslash", ".git\\hooks", ".git"},
      {"short", "GIT~1", ".git"},
      {"short, small", "git~2", ".git"},
      {"short, dot at the end", "GIT~1.", ".git"},
      {"short, cut", "GITMOD~1", ".gitmodules"},
      {"short, more figures", "GITMO~12", ".gitmodules"},
      {"short, checksum", "GI7EBA~1", ".gitmodules"},
      {"short, checksum and one letter", "G7EBA~1", ".gitmodules"},
      {"short with an extension", "PERSTA~1.TOM", "perstack.toml"},
      {"short, dot in the middle", "MCP~1.JSO", ".mcp.json"},
      {"short, stream", "GIT~1:x", ".git"},
      {"of the user, beyond ASCII", "Gr\u00f6\u200d\u03b2e", "gr\u00f6\u03b2e"},
  };
  for (const auto& [what, name, plain] : table)
    EXPECT_TRUE(same_folded(name, plain)) << what << ": " << name;
}

TEST(name_folding, names_that_stay_two) {
  const spelling table[] = {
      {"empty", "", ".git"},
      {"shorter", ".gi", ".git"},
      {"longer", ".gitx", ".git"},
      {"without the dot", "git", ".git"},
      {"two dots", "..git", ".git"},
      {"blank before it", " .git", ".git"},
      {"dot inside", ".g.it", ".git"},
      {"cyrillic", ".g\u0456t", ".git"},
      {"mark above", ".gi\u0301t", ".git"},
      {"greek", ".\u03b3it", ".git"},
      {"no UTF-8", ".g\xffit", ".git"},
      {"no short name without a figure", "GIT~", ".git"},
      {"no short name with a letter", "GIT~a", ".git"},
      {"no short name of it", "GIX~1", ".git"},
      {"short name of something longer", "GITM~1", ".git"},
      {"short name with room left", "GITM~1", ".gitmodules"},
      {"short name that is too long", "GITMODU~1", ".gitmodules"},
      {"short name with an extension", "GIT~1.TXT", ".git"},
      {"short name without its extension", "PERSTA~1", "perstack.toml"},
      {"no checksum", "GI7EBX~1", ".gitmodules"},
      {"backup", ".envrc~", ".envrc"},
      {"backup with a figure", ".envrc.~1~", ".envrc"},
      {"figures in circles", "\u2460", ".git"},
      {"an ordinal", "1\u00aa", ".git"},
      {"a unit", "\u338f", ".git"},
      {"sharp s", "\u00df", ".git"},
      {"words in full width", "\uff21\uff22\uff23", ".git"},
      {"only what is ignored", "\u200d", ".git"},
      {"only blanks", "\u3000\u3000", ".git"},
  };
  for (const auto& [what, name, plain] : table)
    EXPECT_FALSE(same_folded(name, plain)) << what << ": " << name;
}

TEST(name_folding, what_begins_with_a_name) {
  EXPECT_TRUE(begins_folded(".PerStack.made-x", ".perstack.made-"));
  EXPECT_TRUE(begins_folded(".per\u017ftack.made-\u4e2d", ".perstack.made-"));
  EXPECT_FALSE(begins_folded(".perstack.mad", ".perstack.made-"));
  EXPECT_FALSE(begins_folded(".per\u03c3tack.made-x", ".perstack.made-"));
}

/// All readings of a long name are followed together, so their number does not matter.
TEST(name_folding, many_readings_end) {
  std::string name;
  for (int i = 0; i < 80; ++i)
    name += "\u338f";
  const std::string plain(255, 'a');
  EXPECT_TRUE(same_folded(name, plain));
  EXPECT_FALSE(same_folded(name + "!", plain));
}

// --- each character, against Python --------------------------------------------------------------

struct folding {
  std::string character;
  std::string becomes; ///< ASCII; empty: something else
};

/// Of each code point that Python knows: what NFKC and case folding make of it.
std::optional<std::map<std::uint32_t, folding>> from_python() {
  std::FILE* const pipe =
      ::popen("python3 -c 'import unicodedata as u\n"
              "f=lambda s:u.normalize(\"NFKC\",u.normalize(\"NFKC\",s).casefold())\n"
              "for c in range(0x80,0x110000):\n"
              " if u.category(chr(c)) not in (\"Cn\",\"Cs\",\"Co\"):\n"
              "  s=f(f(chr(c)))\n"
              "  print(c,chr(c).encode().hex(),s.encode().hex() if s.isascii() else \"-\")'"
              " 2>/dev/null",
              "r");
  if (pipe == nullptr) return std::nullopt;
  std::string all;
  char part[65536];
  for (std::size_t n = 0; (n = std::fread(part, 1, sizeof part, pipe)) > 0;)
    all.append(part, n);
  if (::pclose(pipe) != 0) return std::nullopt;
  const auto bytes = [](std::string_view digits) {
    std::string out;
    for (; digits.size() > 1; digits.remove_prefix(2))
      out += static_cast<char>(std::stoi(std::string(digits.substr(0, 2)), nullptr, 16));
    return out;
  };
  std::map<std::uint32_t, folding> table;
  std::istringstream lines(all);
  std::uint32_t code = 0;
  for (std::string character, becomes; lines >> code >> character >> becomes;)
    table[code] = {bytes(character), becomes == "-" ? "" : bytes(becomes)};
  return table;
}

/// Characters that turn into ASCII, in names where `same` does not see it.
std::vector<std::uint32_t>
missed(const std::map<std::uint32_t, folding>& table,
       const std::function<bool(std::string_view, std::string_view)>& same) {
  std::vector<std::uint32_t> all;
  for (const auto& [code, each] : table) {
    const auto& [character, becomes] = each;
    if (becomes.empty() || becomes.find('/') != std::string::npos) continue; // no part of a name
    if (!same("x" + character + "y", "x" + becomes + "y") ||
        !same("." + character + character, "." + becomes + becomes))
      all.push_back(code);
  }
  return all;
}

TEST(name_folding, every_character_that_turns_into_ascii) {
  const auto table = from_python();
  if (!table || table->size() < 100'000) GTEST_SKIP() << "needs python3";
  EXPECT_THAT(missed(*table, same_folded), IsEmpty());
  EXPECT_THAT(missed(*table,
                     [](std::string_view name, std::string_view plain) {
                       return name.find("\u24c2") == name.npos && same_folded(name, plain);
                     }),
              ElementsAre(0x24C2U))
      << "a hole is noticed";
}

TEST(name_folding, hardly_a_character_that_does_not) {
  const auto table = from_python();
  if (!table || table->size() < 100'000) GTEST_SKIP() << "needs python3";
  std::vector<std::uint32_t> taken;
  for (const auto& [code, each] : *table) {
    const bool stays = each.becomes.empty() && !detail::is_hidden(static_cast<char32_t>(code));
    if (stays && (same_folded("x" + each.character + "y", "xabcy") ||
                  same_folded("x" + each.character + "y", "x12y") ||
                  same_folded("x" + each.character + "y", "x..y")))
      taken.push_back(code);
  }
  // In blocks of letterlike characters, some of which are Greek or Hebrew.
  EXPECT_LT(taken.size(), 250U) << testing::PrintToString(taken);
}

} // namespace
} // namespace paddock
