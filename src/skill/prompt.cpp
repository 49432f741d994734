// SPDX-License-Identifier: MIT
#include <paddock/base/detail/visible_text.hpp>
#include <paddock/base/limits.hpp>
#include <paddock/path/lexical_path.hpp>
#include <paddock/skill/prompt.hpp>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock {
namespace {

/// What the Agent Skills specification allows; longer texts are cut here whatever the budget is.
constexpr std::size_t name_characters_max = 64;
constexpr std::size_t description_characters_max = 1024;
/// Descriptions are not shortened below this; from there on skills are left out.
constexpr std::size_t description_bytes_min = 48;
constexpr std::string_view ellipsis = "…";

constexpr std::string_view introduction_begin =
    "You have the skills below: for each its id, its name and what it is for. When a task fits "
    "one, call ReadFile with the path of its SKILL.md before you start and follow what it says; "
    "read other files of the skill's directory in the same way when SKILL.md refers to them. ";
constexpr std::string_view relative_paths = "Paths are relative to the run directory. ";
constexpr std::string_view introduction_end =
    "ReadFile reads any text file beneath the run directory whose extension is allowed.\n";
constexpr std::string_view xml_begin = "<available_skills>\n";
constexpr std::string_view xml_end = "</available_skills>\n";

// --- text that stays one item ------------------------------------------------------------------

struct line {
  std::string text;
  bool whole = true;
};

/// Everything that could begin a line or looks like a blank; control characters with it, so that
/// they part words.
bool breaks_lines(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || detail::is_blank_character(c);
}

/// Without a joiner at the end, which has nothing to join there any more.
std::string_view without_last_joiner(std::string_view text) {
  if (text.ends_with("\u200C") || text.ends_with("\u200D")) text.remove_suffix(3);
  return text;
}

/// One line of valid UTF-8, single spaces, nothing that a person who reviews it does not see, at
/// most `characters_max` long.
line one_line(std::string_view text, std::size_t characters_max) {
  line made;
  made.text.reserve(std::min(text.size(), 4 * characters_max) + ellipsis.size());
  std::size_t characters = 0;
  bool space = false;
  for (detail::visible_text walk(text); !walk.at_end();) {
    const std::size_t taken = characters + (space ? 1 : 0);
    if (const auto word = walk.take_ascii(characters_max - std::min(taken, characters_max));
        !word.empty()) {
      if (space) made.text += ' ';
      made.text += word;
      characters = taken + word.size();
      space = false;
      continue;
    }
    const auto c = walk.next();
    if (breaks_lines(c.code)) {
      space = !made.text.empty();
      continue;
    }
    if (c.is_hidden) continue;
    characters += space ? 2 : 1;
    if (characters > characters_max) {
      made.text.resize(without_last_joiner(made.text).size());
      made.text += ellipsis;
      made.whole = false;
      break;
    }
    if (space) made.text += ' ';
    made.text += c.is_valid ? c.bytes : "\xEF\xBF\xBD";
    space = false;
  }
  return made;
}

std::string_view escaped(char c) {
  switch (c) {
  case '&':
    return "&amp;";
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '"':
    return "&quot;";
  case '\'':
    return "&#x27;";
  default:
    return {};
  }
}

std::string as_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const std::string_view replacement = escaped(c);
    if (replacement.empty())
      out += c;
    else
      out += replacement;
  }
  return out;
}

/// `text` cut to `bytes_max` with an ellipsis: never inside of a code point, nor, in markup, of a
/// reference.
std::string shortened_description(std::string_view text, std::size_t bytes_max,
                                  prompt_format format) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t cut = bytes_max > ellipsis.size() ? bytes_max - ellipsis.size() : 0;
  while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0U) == 0x80U)
    --cut;
  if (format == prompt_format::xml) {
    const std::size_t reference = text.substr(0, cut).rfind('&');
    if (reference != std::string_view::npos && text.find(';', reference) >= cut) cut = reference;
  }
  while (cut > 0 && text[cut - 1] == ' ')
    --cut;
  return std::string(without_last_joiner(text.substr(0, cut))).append(ellipsis);
}

// --- items -------------------------------------------------------------------------------------

/// One skill, ready but for its description's length.
struct item {
  std::string before; ///< with a heading, where the directory is another than the last item's
  std::string description;
  std::string after;
  bool whole = true; ///< nothing of the description was cut yet

  [[nodiscard]] std::size_t bytes(std::size_t description_max) const {
    return before.size() + std::min(description.size(), description_max) + after.size();
  }
};

item seed_item(const skill& s, const line& name, line description) {
  const line id = one_line(encode_name(s.id), name_bytes_max);
  return {.before = "- **" + id.text + "**: " + name.text + " — ",
          .description = std::move(description.text),
          .after = "\n",
          .whole = description.whole};
}

item xml_item(std::string_view path, const line& name, const line& description) {
  return {.before = "<skill>\n<name>\n" + as_markup(name.text) + "\n</name>\n<description>\n",
          .description = as_markup(description.text),
          .after = "\n</description>\n<location>\n" +
                   as_markup(one_line(path, path_bytes_max).text) + "\n</location>\n</skill>\n",
          .whole = description.whole};
}

/// The application's own skills first, so that they are the last to be left out.
std::vector<item> items_of(std::span<const skill> skills, const prompt_options& options) {
  std::vector<const skill*> order;
  order.reserve(skills.size());
  for (const skill_source source : {skill_source::system, skill_source::user})
    for (const skill& s : skills)
      if (s.source == source) order.push_back(&s);
  std::vector<item> items;
  items.reserve(order.size());
  std::string directory;
  for (const skill* s : order) {
    const std::string path = join(options.path_prefix, encode_name(s->path));
    const line name = one_line(s->name, name_characters_max);
    line description = one_line(s->description, description_characters_max);
    if (options.format == prompt_format::xml) {
      items.push_back(xml_item(path, name, description));
      continue;
    }
    items.push_back(seed_item(*s, name, std::move(description)));
    if (const std::string_view above = parent(parent(path));
        items.size() == 1 || above != directory) {
      directory = above;
      items.back().before.insert(
          0, "\n" + join(one_line(above, path_bytes_max).text, "<id>/SKILL.md") + ":\n");
    }
  }
  return items;
}

// --- the text ----------------------------------------------------------------------------------

constexpr std::string_view shortened_note =
    "\nDescriptions that end in … are shortened; SKILL.md has the whole.\n";

std::string left_out_note(std::size_t skills) {
  return "\n" + std::to_string(skills) + (skills == 1 ? " more skill is" : " more skills are") +
         " not listed here, for want of room.\n";
}

std::string frame_begin(const prompt_options& options) {
  if (options.format == prompt_format::xml) return std::string(xml_begin);
  return std::string(introduction_begin)
      .append(options.path_prefix.empty() ? relative_paths : std::string_view())
      .append(introduction_end);
}

std::string_view frame_end(const prompt_options& options) {
  return options.format == prompt_format::xml ? xml_end : std::string_view();
}

/// How many items fit, from the first, with their descriptions as short as they may become.
std::size_t count_fitting(const std::vector<item>& items, std::size_t room) {
  std::size_t count = 0;
  for (; count < items.size(); ++count) {
    const std::size_t needed = items[count].bytes(description_bytes_min);
    if (needed > room) break;
    room -= needed;
  }
  return count;
}

/// The largest bound for all descriptions with which the items fit.
std::size_t description_bound(std::span<const item> items, std::size_t room) {
  const auto bytes_with = [&](std::size_t bound) {
    std::size_t sum = 0;
    for (const item& i : items)
      sum += i.bytes(bound);
    return sum;
  };
  std::size_t low = description_bytes_min;
  std::size_t high = low;
  for (const item& i : items)
    high = std::max(high, i.description.size());
  while (low < high) {
    const std::size_t middle = high - (high - low) / 2;
    if (bytes_with(middle) <= room)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

} // namespace

skill_prompt make_skill_prompt(std::span<const skill> skills, const prompt_options& options) {
  if (skills.empty()) return {};
  const std::vector<item> items = items_of(skills, options);
  const std::string begin = frame_begin(options);
  const std::string_view end = frame_end(options);
  const auto room_beside = [&](std::size_t notes) {
    const std::size_t taken = begin.size() + end.size() + notes;
    return options.bytes_max > taken ? options.bytes_max - taken : 0;
  };
  std::size_t whole_bytes = 0;
  bool whole = true;
  for (const item& i : items) {
    whole_bytes += i.bytes(i.description.size());
    whole = whole && i.whole;
  }
  // The notes need room themselves, so it is looked at without them, with one, and with both.
  std::size_t count = items.size();
  std::size_t room = room_beside(whole ? 0 : shortened_note.size());
  if (whole_bytes > room) {
    room = room_beside(shortened_note.size());
    count = count_fitting(items, room);
  }
  if (count < items.size()) {
    room = room_beside(shortened_note.size() + left_out_note(items.size() + 1).size());
    count = count_fitting(items, room);
  }
  skill_prompt made{.text = begin, .left_out = items.size() - count};
  const std::span<const item> kept(items.data(), count);
  const std::size_t bound = description_bound(kept, room);
  for (const item& i : kept) {
    const std::string description = shortened_description(i.description, bound, options.format);
    if (!i.whole || description.size() < i.description.size()) ++made.shortened;
    made.text.append(i.before).append(description).append(i.after);
  }
  made.text += end;
  if (made.shortened > 0) made.text += shortened_note;
  if (made.left_out > 0) made.text += left_out_note(made.left_out);
  if (count == 0) made.text = left_out_note(made.left_out).substr(1);
  if (made.text.size() > options.bytes_max) made.text.clear();
  return made;
}

} // namespace paddock
