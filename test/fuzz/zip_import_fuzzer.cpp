// SPDX-License-Identifier: MIT

// Archives of arbitrary bytes: what is planned from them, and what reading them gives. Nothing is
// written. The limits are small, so that a short input can reach them.

#include "skill/import_policy.hpp"
#include "skill/source.hpp"

#include <paddock/base/detail/utf8.hpp>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <string_view>

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

/// What every planned path promises to whoever writes it.
void check_path(std::string_view path, const paddock::import_limits& limits) {
  require(!path.empty() && path.front() != '/' && path.back() != '/');
  require(path.size() <= limits.path_bytes_max);
  require(paddock::detail::is_valid_utf8(path));
  require(path.find('\0') == path.npos && path.find('\\') == path.npos);
  const std::string framed = "/" + std::string(path) + "/";
  for (const char* part : {"//", "/./", "/../", "/.git/", "/__MACOSX/"})
    require(framed.find(part) == framed.npos);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace paddock;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const import_options options{.limits = {.entries_max = 50,
                                          .file_bytes_max = 20'000,
                                          .total_bytes_max = 50'000,
                                          .ratio_max = 50,
                                          .ratio_bytes_min = 5'000,
                                          .path_bytes_max = 200,
                                          .depth_max = 6}};
  import_report report;
  const import_context in{options, report};
  const auto source = zip_source(bytes);
  auto entries = source->entries(in);
  if (!entries) {
    require(report.refusal != import_refusal::none);
    return 0;
  }
  const auto plan = plan_import(*std::move(entries), in);
  if (!plan) {
    require(report.refusal != import_refusal::none);
    return 0;
  }
  std::set<std::string> names;
  bool has_skill = false;
  for (const auto& directory : plan->directories) {
    check_path(directory, options.limits);
    require(names.insert(directory).second);
  }
  for (const auto& file : plan->files) {
    check_path(file.path, options.limits);
    require(names.insert(file.path).second);
    has_skill = has_skill || file.path == "SKILL.md";
    const auto slash = file.path.rfind('/');
    require(slash == std::string::npos || names.count(file.path.substr(0, slash)) == 1);
    std::uint64_t read = 0;
    const auto done = source->read(file, in, [&](std::string_view piece) -> result<void> {
      read += piece.size();
      return {};
    });
    require(read <= file.size && file.size <= options.limits.file_bytes_max);
    require(!done || read == file.size);
  }
  require(has_skill);
  return 0;
}
