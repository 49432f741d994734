// SPDX-License-Identifier: MIT
#include <paddock/frontmatter/frontmatter_yaml.hpp>

#if PADDOCK_HAVE_LIBYAML

#include <yaml.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace paddock::frontmatter {
namespace {

// Nesting is what libyaml takes quadratic time for.
constexpr std::size_t depth_max = 64;
constexpr std::size_t events_max = 20'000;
constexpr std::size_t problems_max = 32;

std::string_view text_of(const yaml_char_t* bytes, std::size_t size) noexcept {
  return {reinterpret_cast<const char*>(bytes), size};
}
std::string_view text_of(const yaml_char_t* text) noexcept {
  return text == nullptr ? std::string_view{} : reinterpret_cast<const char*>(text);
}

/// libyaml counts lines from 0 and columns in characters; this turns them into offsets. Cheap for
/// marks in the order of the text: it goes on from the one before.
class line_table {
public:
  explicit line_table(std::string_view text) : text_(text) {}

  /// The offset of a mark.
  std::size_t offset(const yaml_mark_t& mark) {
    if (mark.line < line_) line_ = line_begin_ = column_ = at_ = 0;
    for (; line_ < mark.line; ++line_) {
      const std::size_t line_break = find_break(at_);
      if (line_break >= text_.size()) break;
      line_begin_ = at_ = line_break + break_size(line_break);
      column_ = 0;
    }
    if (mark.column < column_) {
      column_ = 0;
      at_ = line_begin_;
    }
    for (; column_ < mark.column && at_ < text_.size(); ++column_)
      at_ += detail::first_character(text_.substr(at_)).size();
    return at_;
  }

  /// The column of a mark in bytes, 1-based.
  std::uint32_t column(const yaml_mark_t& mark) {
    return static_cast<std::uint32_t>(offset(mark) - line_begin_ + 1);
  }

private:
  /// What libyaml takes for a line break: CR and the Unicode ones too.
  [[nodiscard]] std::size_t find_break(std::size_t at) const noexcept {
    while (at < text_.size() && break_size(at) == 0)
      ++at;
    return at;
  }
  [[nodiscard]] std::size_t break_size(std::size_t at) const noexcept {
    const std::string_view rest = text_.substr(at);
    if (rest.starts_with("\r\n") || rest.starts_with("\xC2\x85")) return 2;
    if (rest.starts_with("\xE2\x80\xA8") || rest.starts_with("\xE2\x80\xA9")) return 3;
    return rest.starts_with('\n') || rest.starts_with('\r') ? 1 : 0;
  }

  std::string_view text_;
  std::size_t line_ = 0;
  std::size_t line_begin_ = 0;
  std::size_t column_ = 0; ///< of `at_`, in characters
  std::size_t at_ = 0;
};

struct delete_event {
  void operator()(yaml_event_t* event) const noexcept { yaml_event_delete(event); }
};

/// Reads the events of one block.
class event_reader {
public:
  event_reader(std::string_view block, std::uint32_t first_line)
      : block_(block), first_line_(first_line), lines_(block) {}
  event_reader(const event_reader&) = delete;
  event_reader& operator=(const event_reader&) = delete;
  ~event_reader() {
    if (has_parser_) yaml_parser_delete(&parser_);
  }

  document run() {
    has_parser_ = yaml_parser_initialize(&parser_) != 0;
    if (!has_parser_) {
      problem(diagnostic_code::too_complex, {});
      return std::move(out_);
    }
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(block_.data()),
                                 block_.size());
    for (std::size_t events = 0; !done_; ++events) {
      yaml_event_t event;
      if (yaml_parser_parse(&parser_, &event) == 0) {
        parser_error();
        break;
      }
      const std::unique_ptr<yaml_event_t, delete_event> parsed(&event);
      if (events == events_max) {
        problem(diagnostic_code::too_complex, event.start_mark);
        break;
      }
      handle(event);
    }
    return std::move(out_);
  }

private:
  /// A collection that is open.
  struct collection {
    bool is_mapping = false;
    bool expects_key = false;
    std::unordered_set<std::string> keys;
  };
  /// The value of an anchor.
  struct named {
    std::string text; ///< of a scalar
    value_kind kind{};
  };

  void problem(diagnostic_code code, const yaml_mark_t& mark) {
    if (out_.problems.size() == problems_max) return;
    out_.problems.push_back(
        {code, static_cast<std::uint32_t>(mark.line) + first_line_, lines_.column(mark)});
  }

  void stop(diagnostic_code code, const yaml_mark_t& mark) {
    // What stops the reader comes first, whatever was noticed before.
    if (out_.problems.size() == problems_max) out_.problems.pop_back();
    problem(code, mark);
    std::rotate(out_.problems.begin(), out_.problems.end() - 1, out_.problems.end());
    done_ = true;
  }

  void parser_error() {
    yaml_mark_t mark = parser_.problem_mark;
    if (parser_.error == YAML_READER_ERROR) // a character that YAML forbids; its mark is not set
      mark = parser_.mark;
    if (parser_.error == YAML_MEMORY_ERROR) return stop(diagnostic_code::too_complex, mark);
    stop(diagnostic_code::invalid_yaml, mark);
  }

  void handle(const yaml_event_t& event) {
    switch (event.type) {
    case YAML_DOCUMENT_START_EVENT:
      if (++documents_ > 1) stop(diagnostic_code::document_end, event.start_mark);
      return;
    case YAML_DOCUMENT_END_EVENT:
      if (event.data.document_end.implicit == 0)
        stop(diagnostic_code::document_end, event.start_mark);
      return;
    case YAML_STREAM_END_EVENT:
      if (documents_ == 0 && !done_) stop(diagnostic_code::not_a_mapping, event.start_mark);
      done_ = true;
      return;
    case YAML_ALIAS_EVENT:
      alias(event);
      return close(event);
    case YAML_SCALAR_EVENT:
      scalar(event);
      return close(event);
    case YAML_SEQUENCE_START_EVENT:
      decorations(event, event.data.sequence_start.anchor, event.data.sequence_start.tag);
      anchor(event.data.sequence_start.anchor, {}, value_kind::sequence);
      node(event, {}, value_kind::sequence);
      return open(event, false);
    case YAML_MAPPING_START_EVENT:
      decorations(event, event.data.mapping_start.anchor, event.data.mapping_start.tag);
      anchor(event.data.mapping_start.anchor, {}, value_kind::mapping);
      node(event, {}, value_kind::mapping);
      return open(event, true);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
      open_.pop_back();
      return close(event);
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
      return;
    }
  }

  void dispute(diagnostic_code code, const yaml_event_t& event) {
    if (out_.disputed.size() == problems_max) return;
    out_.disputed.push_back({code, static_cast<std::uint32_t>(event.start_mark.line) + first_line_,
                             lines_.column(event.start_mark)});
  }

  void decorations(const yaml_event_t& event, const yaml_char_t* anchor, const yaml_char_t* tag) {
    if (anchor != nullptr && anchors_.contains(std::string(text_of(anchor))))
      dispute(diagnostic_code::repeated_anchor, event);
    const bool is_text = event.type == YAML_SCALAR_EVENT && text_of(tag) == YAML_STR_TAG;
    if (tag != nullptr && !is_text) dispute(diagnostic_code::foreign_tag, event);
  }

  void anchor(const yaml_char_t* name, std::string_view text, value_kind kind) {
    if (name != nullptr)
      anchors_.insert_or_assign(std::string(text_of(name)), named{std::string(text), kind});
  }

  void alias(const yaml_event_t& event) {
    const auto found = anchors_.find(std::string(text_of(event.data.alias.anchor)));
    if (found == anchors_.end()) {
      problem(diagnostic_code::unknown_alias, event.start_mark);
      return node(event, {}, value_kind::text);
    }
    expanded_ += found->second.text.size();
    if (expanded_ > bytes_max) return stop(diagnostic_code::too_complex, event.start_mark);
    node(event, found->second.text, found->second.kind);
  }

  void scalar(const yaml_event_t& event) {
    const auto& data = event.data.scalar;
    const std::string_view text = text_of(data.value, data.length);
    const std::string_view tag = text_of(data.tag);
    value_kind kind = value_kind::text;
    const bool is_plain = tag.empty() && data.style == YAML_PLAIN_SCALAR_STYLE;
    if (tag.starts_with("tag:yaml.org,") && tag != YAML_STR_TAG)
      kind = tag == YAML_NULL_TAG ? value_kind::null : value_kind::other_scalar;
    else if (is_plain)
      kind = detail::resolve_plain(text);
    const bool is_key = !open_.empty() && open_.back().is_mapping && open_.back().expects_key;
    if (is_key && is_plain && text == "<<") dispute(diagnostic_code::merge_key, event);
    decorations(event, data.anchor, data.tag);
    anchor(data.anchor, text, kind);
    node(event, text, kind);
  }

  /// A node begins: the root, an item, a key or a value.
  void node(const yaml_event_t& event, std::string_view text, value_kind kind) {
    if (open_.empty()) {
      if (kind != value_kind::mapping) problem(diagnostic_code::not_a_mapping, event.start_mark);
      return;
    }
    collection& parent = open_.back();
    if (!parent.is_mapping) return;
    const bool is_scalar =
        kind == value_kind::text || kind == value_kind::other_scalar || kind == value_kind::null;
    if (parent.expects_key && is_scalar && !parent.keys.emplace(text).second)
      problem(diagnostic_code::duplicate_key, event.start_mark);
    if (open_.size() > 1) return;
    if (parent.expects_key) {
      const std::size_t begin = lines_.offset(event.start_mark);
      out_.entries.push_back(
          {.key = std::string(text),
           .line = static_cast<std::uint32_t>(event.start_mark.line) + first_line_,
           .column = lines_.column(event.start_mark),
           .begin = begin});
    } else {
      out_.entries.back().value = text;
      out_.entries.back().kind = kind;
    }
  }

  void open(const yaml_event_t& event, bool is_mapping) {
    if (open_.size() == depth_max) return stop(diagnostic_code::too_complex, event.start_mark);
    open_.push_back({is_mapping, is_mapping, {}});
  }

  /// A node ends; in a mapping keys and values take turns.
  void close(const yaml_event_t& event) {
    if (open_.empty() || !open_.back().is_mapping) return;
    if (open_.size() == 1 && !open_.back().expects_key)
      out_.entries.back().end = end_of(event.end_mark);
    open_.back().expects_key = !open_.back().expects_key;
  }

  /// Block scalars and collections end where the next token begins; a value where its text ends.
  std::size_t end_of(const yaml_mark_t& mark) {
    std::size_t end = lines_.offset(mark);
    const std::size_t begin = out_.entries.back().begin;
    while (end > begin && std::strchr(" \t\r\n", block_[end - 1]) != nullptr)
      --end;
    return end;
  }

  std::string_view block_;
  std::uint32_t first_line_;
  line_table lines_;
  yaml_parser_t parser_{};
  bool has_parser_ = false;
  bool done_ = false;
  unsigned documents_ = 0;
  std::vector<collection> open_;
  std::unordered_map<std::string, named> anchors_;
  std::size_t expanded_ = 0; ///< bytes of texts that aliases stand for
  document out_;
};

document parse_with_libyaml(std::string_view block, std::uint32_t first_line) {
  if (block.size() > bytes_max)
    return {.problems = {{diagnostic_code::too_complex, first_line, 1}}};
  return event_reader(block, first_line).run();
}

} // namespace

full_parser libyaml() noexcept {
  return parse_with_libyaml;
}

} // namespace paddock::frontmatter

#else

namespace paddock::frontmatter {
full_parser libyaml() noexcept {
  return nullptr;
}
} // namespace paddock::frontmatter

#endif
