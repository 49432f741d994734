// SPDX-License-Identifier: MIT
#pragma once

// Blocks between fences of the kinds that people write, and ways to damage them, for the tests that
// compare parsers.

#include <algorithm>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::test {

inline constexpr std::string_view frontmatter_blocks[] = {
    "name: pdf-tools\ndescription: Reads and fills in PDF forms\n",
    "name: \"sql-review\"\ndescription: \"Use when: a query is slow, or \\\"EXPLAIN\\\" is "
    "unclear\"\n",
    "name: 'notes'\ndescription: 'It''s for notes: short ones'\nversion: 1.2.0\n",
    "name: weather\ndescription: |\n  Tells the weather.\n\n  - today\n    - by hour\n  - "
    "tomorrow\nlicense: MIT\n",
    "name: weather\ndescription: >\n  Tells the weather\n  of today\n\n  and tomorrow.\n    "
    "indented\n  back\n\nlicense: MIT\n",
    "name: a\ndescription: >-\n  one\n  two\n",
    "name: a\ndescription: |+\n  one\n\n\nmetadata: {}\n",
    "name: a\ndescription: |-\n\n  first line is empty\n  # not a comment\n",
    "name: long\ndescription: This text goes on\n  on the next line,\n\n  and after an empty one # "
    "here ends it\nauthor: someone\n",
    "name: long\ndescription: \"Quoted text goes on\n  on the next line, \\\n  joined\\n  \n\n  "
    "and after an empty one\"\nx: y\n",
    "name: long\ndescription: 'Quoted text goes on\n  on the next line\n\n  it''s done'   # "
    "comment\n",
    "name: next\ndescription:\n  The text begins on the next line\n  and goes on\n",
    "name: next\ndescription:\n\n  \"Quoted on the next line\"\nlicense:\n",
    "# comment at the top\nname: commented # behind\n\n# in between\ndescription: \"x\" # behind "
    "quotes\n  # indented\nversion: 3\n",
    "name: lists\ndescription: With lists\ntags:\n  - one\n  - \"two\"\n  - three: 3\n    four: "
    "4\nallowed-tools:\n- Read\n- Bash(git:*)\n",
    "name: nested\ndescription: d\nmetadata:\n  author: a\n  links:\n    home: "
    "https://example.org/x#y\n    other:\n      - a: b\n        c:\n          - d\n  short: |\n    "
    "text\n  last: >-\n    folded\n    text\n",
    "name: flow\ndescription: d\ntags: [a, b c, \"d, e\", 'f']\nmetadata: "
    "{\"tool\":{\"emoji\":\"\xF0\x9F\x93\xA7\",\"needs\":[\"a\",\"b\"],\"n\":5}, x: y}\n",
    "name: flow\ndescription: d\nallowed-tools: [Read, Bash(npm run *), Write(./**)]\nempty: "
    "[]\nnone: { }\n",
    "name: 技能\ndescription: 当用户需要时使用 — “quoted” … → ✓\n",
    "name: мой-навык\ndescription: \"\\u041d\\x41\\t\\U0001F600 \\/ \\e \\_ \\N\"\n",
    "name: 12\ndescription: true\nversion: 0x1F\nratio: -1.5e3\nnothing: ~\nnull_too: null\nfloat: "
    ".5\nname2: -foo\n",
    "name: odd\ndescription: a:b c#d e'f \"g\" [h] {i} & * ! | > % @ ` - , ?\n",
    "name: odd\ndescription: -x y\nversion: v1:2\nurl: http://a.b/?c=d&e=f\n",
    "description: keys in another order\nlicense: Apache-2.0\nname: reordered\ncompatibility: "
    "Needs git\n",
    "name:   spaces   \ndescription:    much    space   inside   \n",
    "name: empty\ndescription: \"\"\nlicense: ''\n",
    "name: &anchor x\ndescription: *anchor\n",
    "name: !!str 5\ndescription: ! x\nother: !custom y\n",
    "\"name\": quoted keys\n'description': too\n? complex\n: value\n",
    "{name: flow root, description: \"d\"}\n",
    "name: multi-line flow\ndescription: d\ntags: [a,\n  b,\n  c]\n",
    "name: explicit\ndescription: |2\n    indented text\n  text\n",
    "  name: indented root\n  description: d\n",
    "- name: list root\n- description: d\n",
    "just text\n",
    "name: broken\ndescription: Use when: it breaks\n",
    "name: broken\ndescription: **bold** text\nallowed-tools: *\n",
    "name: broken\ndescription: \"quoted\" and more\nargument-hint: [a] [b]\n",
    "name: broken\ndescription: > text after\n  and more\n",
    "name: twice\nname: again\ndescription: d\nmetadata:\n  a: 1\n  a: 2\n",
    "name: documents\ndescription: d\n...\n",
    "%YAML 1.2\nname: directive\ndescription: d\n",
    "name: tab\n\tdescription: x\n",
    "name: merge\ndescription: d\nbase: &b {a: 1}\nmore:\n  <<: *b\n",
};

/// A block with a few random changes, ending in a line break.
inline std::string damaged_block(std::mt19937_64& random) {
  constexpr std::string_view pieces[] = {": ",
                                         " #",
                                         "#",
                                         "- ",
                                         "-",
                                         "\n",
                                         "\n\n",
                                         "\n  ",
                                         "\n ",
                                         "\n    ",
                                         " ",
                                         "  ",
                                         "\"",
                                         "'",
                                         "\\",
                                         "\\n",
                                         "\\\"",
                                         "\\\n",
                                         "''",
                                         "|",
                                         ">",
                                         "|\n",
                                         ">-\n",
                                         "|+\n",
                                         ">2",
                                         "[",
                                         "]",
                                         "{",
                                         "}",
                                         ",",
                                         "&a ",
                                         "*a",
                                         "!!str ",
                                         "?",
                                         "? ",
                                         ":",
                                         "%",
                                         "@",
                                         "`",
                                         "~",
                                         "null",
                                         "true",
                                         "1",
                                         "\t",
                                         "\r\n",
                                         "\r",
                                         "...",
                                         "---",
                                         "name: x\n",
                                         "description: y\n",
                                         "a: b\n",
                                         "  a: b\n",
                                         "- a: b\n",
                                         "key:\n",
                                         "key: |\n  x\n",
                                         "\xC3\xA9",
                                         "\xC2\x85",
                                         "\xE2\x80\xA8",
                                         "\xEF\xBB\xBF",
                                         "\x7F",
                                         "\x01",
                                         "# c\n",
                                         "  # c\n",
                                         "<<: ",
                                         "\\u00e9",
                                         "\\ud83d",
                                         "\\x",
                                         "\"\"",
                                         "[]",
                                         "{}",
                                         "[a, b]",
                                         "{a: b}",
                                         "{\"a\":1}",
                                         "\n\n\n",
                                         "  \n"};
  const auto below = [&random](std::size_t n) { return static_cast<std::size_t>(random() % n); };
  const auto any_block = [&] { return frontmatter_blocks[below(std::size(frontmatter_blocks))]; };
  std::string block(any_block());
  for (std::size_t changes = below(4) + (below(8) == 0 ? 6 : 0); changes > 0; --changes) {
    const std::size_t at = below(block.size() + 1);
    const std::size_t line = block.rfind('\n', at == 0 ? 0 : at - 1) + 1; // 0 without one
    switch (below(8)) {
    case 0:
      block.erase(at, below(4));
      break;
    case 1: { // a line of another block
      const std::string_view other = any_block();
      const std::size_t from = below(other.size());
      block.insert(std::min(line, block.size()),
                   other.substr(from, other.find('\n', from) + 1 - from));
      break;
    }
    case 2: // indentation
      block.insert(std::min(line, block.size()), 1 + below(4), ' ');
      break;
    case 3: // the first of two, the rest of the other
      block = block.substr(0, at) + std::string(any_block());
      break;
    case 4:
      block = block.substr(0, at) + block.substr(std::min(block.size(), at + below(24)));
      break;
    default:
      block.insert(at, pieces[below(std::size(pieces))]);
    }
  }
  if (!block.ends_with('\n')) block.push_back('\n');
  return block;
}

} // namespace paddock::test
