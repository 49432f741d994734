// SPDX-License-Identifier: MIT

// A whole SKILL.md. What the scanner proves libyaml must read the same, every answer must be
// consistent with itself, and replaced fields must read back.

#include "support/text/slow_text.hpp"

#include <paddock/frontmatter/frontmatter_yaml.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace {

namespace fm = paddock::frontmatter;

void require(bool condition) {
  if (!condition) std::abort();
}

void require_consistent(const fm::fields& read) {
  const bool has_error =
      std::any_of(read.diagnostics.begin(), read.diagnostics.end(),
                  [](const fm::diagnostic& d) { return fm::level(d.code) == fm::severity::error; });
  require(has_error != read.loaded());
  if (!read.loaded()) return;
  for (const std::string_view text : {read.name, read.description}) {
    require(!text.empty() && paddock::detail::is_valid_utf8(text));
    require(text.front() != ' ' && text.back() != ' ');
    require(text.find("  ") == std::string_view::npos && text.find('\n') == std::string_view::npos);
  }
}

/// The scanner's answer is the full parser's.
void require_agreement(std::string_view block) {
  fm::detail::entry_sink sink;
  if (!fm::detail::scanner<fm::detail::entry_sink>(block, sink).run()) return;
  if (fm::libyaml() == nullptr) return;
  const fm::document whole = fm::libyaml()(block, 2);
  require(whole.problems.empty() && whole.entries.size() == sink.entries.size());
  for (std::size_t i = 0; i < whole.entries.size(); ++i) {
    const fm::entry& a = whole.entries[i];
    const fm::entry& b = sink.entries[i];
    require(a.key == b.key && a.value == b.value && a.kind == b.kind);
    require(a.line == b.line && a.column == b.column && a.begin == b.begin);
  }
}

/// The texts are those of the full parser with their white space collapsed, byte for byte.
void require_texts(std::string_view block, const fm::fields& read) {
  const bool by_yaml = read.from == fm::origin::fast || read.from == fm::origin::full;
  if (!by_yaml || fm::libyaml() == nullptr) return;
  const fm::document whole = fm::libyaml()(block, 2);
  for (const auto& [key, text] : {std::pair<std::string_view, std::string_view>{"name", read.name},
                                  {"description", read.description}}) {
    const auto entry = std::find_if(whole.entries.begin(), whole.entries.end(),
                                    [wanted = key](const fm::entry& e) { return e.key == wanted; });
    require(entry != whole.entries.end() && paddock::slow::collapsed(entry->value) == text);
  }
}

void require_read_back(std::string_view file, const fm::fields& before) {
  const std::string replaced = fm::replace_fields(file, "new-name", "new: text", fm::libyaml());
  if (!before.loaded()) return;
  const fm::fields after = fm::parse(replaced, fm::extent::whole_file, {.full = fm::libyaml()});
  require(after.name == "new-name" && after.description == "new: text");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const fm::fields read = fm::parse(file, fm::extent::whole_file, {.full = fm::libyaml()});
  require_consistent(read);
  require_consistent(fm::parse(file, fm::extent::whole_file));
  const fm::fields strict = fm::parse(file, fm::extent::whole_file,
                                      {.policy = fm::policy::strict, .full = fm::libyaml()});
  require_consistent(strict);
  require(!strict.loaded() || (strict.name == read.name && strict.from == read.from));

  const fm::detail::found_block found = fm::detail::find_block(file, true);
  if (found.state == fm::detail::fence_state::found) {
    require_agreement(file.substr(found.begin, found.size));
    require_texts(file.substr(found.begin, found.size), read);
  }
  if (!fm::needs_more(file) && size < fm::bytes_max) {
    const fm::fields prefix = fm::parse(file, fm::extent::prefix, {.full = fm::libyaml()});
    require(prefix.from == read.from && prefix.description == read.description);
  }
  require(read.loaded() || !fm::validate(file, "", fm::libyaml()).empty());
  if (size < fm::bytes_max - 100) require_read_back(file, read);

  if (paddock::detail::is_valid_utf8(file)) {
    const std::string written = fm::write(file, file);
    if (written.size() < fm::bytes_max)
      require_agreement(std::string_view(written).substr(4, written.size() - 8));
  }
  return 0;
}
