// SPDX-License-Identifier: MIT
#pragma once

/// Other texts for the two fields of a file, with the rest of it as it was. Part of
/// frontmatter.hpp.

#include <paddock/frontmatter/detail/read.hpp>
#include <paddock/frontmatter/detail/write.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace paddock::frontmatter::detail {

/// Where a field is in the block, without its last line break.
struct field_span {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool present = false;
};

/// Three ways, each rougher than the one before; the caller checks that the result reads back.
class field_replacer {
public:
  field_replacer(std::string_view file, found_block found, std::string_view name,
                 std::string_view description)
      : file_(file), found_(found), name_(name), description_(description) {
    collapse(name_);
    collapse(description_);
    append_name(new_name_, name);
    append_description(new_description_, description);
    const std::size_t first_break = file.find('\n');
    if (first_break != std::string_view::npos && first_break > 0 && file[first_break - 1] == '\r')
      line_break_ = "\r\n";
  }

  /// As reading will give them back.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& description() const noexcept { return description_; }

  /// Exactly the two values, where a parser found them.
  [[nodiscard]] std::string by_entries(const std::vector<entry>& entries,
                                       const reading& old) const {
    const auto span_of = [&entries](std::string_view key) -> field_span {
      for (const entry& e : entries)
        if (e.key == key) return {e.begin, e.end, true};
      return {};
    };
    return replaced(span_of("name"), span_of("description"), old);
  }

  /// Whole lines, where the repair finds them.
  [[nodiscard]] std::string by_lines(const reading& old) const {
    const auto span_of = [this](std::string_view key) -> field_span {
      std::string_view lines = find_field(block(), key).text;
      if (lines.empty()) return {};
      const std::size_t begin = offset_of(lines);
      lines.remove_suffix(lines.ends_with("\r\n") ? 2 : 1);
      return {begin, begin + lines.size(), true};
    };
    return replaced(span_of("name"), span_of("description"), old);
  }

  /// Both before everything else in the block: of equal keys the first counts.
  [[nodiscard]] std::string in_front() const {
    std::string out(file_.substr(0, found_.begin));
    out.append(new_name_).append(line_break_).append(new_description_).append(line_break_);
    // Without this an indented line would go on with the description.
    if (!block().empty() && is_blank(block().front())) out.append("#").append(line_break_);
    return out.append(file_.substr(found_.begin));
  }

  /// A block of their own before a file that has none.
  [[nodiscard]] std::string with_new_block() const {
    const std::size_t mark = file_.starts_with(utf8_mark) ? utf8_mark.size() : 0;
    std::string out(file_.substr(0, mark));
    out.append("---").append(line_break_);
    out.append(new_name_).append(line_break_).append(new_description_).append(line_break_);
    out.append("---").append(line_break_);
    return out.append(file_.substr(mark));
  }

private:
  [[nodiscard]] std::string_view block() const noexcept {
    return file_.substr(found_.begin, found_.size);
  }
  [[nodiscard]] std::size_t offset_of(std::string_view part) const noexcept {
    return static_cast<std::size_t>(part.data() - block().data());
  }

  [[nodiscard]] std::string replaced(field_span name, field_span description,
                                     const reading& old) const {
    struct edit {
      field_span where;
      std::string text;
    };
    std::vector<edit> edits;
    if (!name.present)
      edits.push_back({name, new_name_ + line_break_});
    else if (old.name.text != name_)
      edits.push_back({name, new_name_});
    if (!description.present)
      edits.push_back({behind_line(name), new_description_ + line_break_});
    else if (old.description.text != description_)
      edits.push_back({description, new_description_});
    if (edits.size() == 2 && edits[1].where.begin < edits[0].where.begin)
      std::swap(edits[0], edits[1]);
    std::string out(file_.substr(0, found_.begin));
    std::size_t copied = 0;
    for (const edit& e : edits) {
      out.append(block().substr(copied, e.where.begin - copied));
      out.append(e.text);
      copied = e.where.end;
    }
    return out.append(file_.substr(found_.begin + copied));
  }

  /// The beginning of the line behind a field; the block's when there is no such field.
  [[nodiscard]] field_span behind_line(field_span field) const noexcept {
    if (!field.present) return {};
    const std::size_t line_break = block().find('\n', field.end);
    const std::size_t behind =
        line_break == std::string_view::npos ? block().size() : line_break + 1;
    return {behind, behind, false};
  }

  std::string_view file_;
  found_block found_;
  std::string name_;
  std::string description_;
  std::string new_name_;
  std::string new_description_;
  std::string line_break_ = "\n";
};

} // namespace paddock::frontmatter::detail
