// SPDX-License-Identifier: MIT

// A configuration from anywhere, as TOML and as JSON: it is read, or refused with at least one
// problem that says why, on a line that the text has.

#include <paddock/skill_manager/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace {

namespace managers = paddock::skill_manager;

void require(bool good) {
  if (!good) std::abort();
}

void read_as(std::string_view text, managers::config_format format) {
  const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
  std::vector<managers::config_problem> problems;
  const auto made = managers::parse_config(text, format, "file", &problems);
  require(made.has_value() == problems.empty());
  for (const auto& problem : problems) {
    require(!problem.message.empty());
    require(problem.line <= lines);
  }
  if (!made) return;
  for (const auto& expert : made->experts) {
    require(made->find(expert.name) != nullptr);
    for (const auto& skill : expert.skills)
      if (const auto* program = std::get_if<managers::stdio_entry>(&skill.kind))
        require(!program->argv.empty() && !program->argv.front().empty());
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_as(text, managers::config_format::toml);
  read_as(text, managers::config_format::json);
  return 0;
}
