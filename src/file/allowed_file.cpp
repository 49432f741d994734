// SPDX-License-Identifier: MIT
#include <paddock/base/detail/ascii.hpp>
#include <paddock/base/detail/utf8.hpp>
#include <paddock/file/allowed_file.hpp>
#include <paddock/path/lexical_path.hpp>

#include <algorithm>
#include <utility>

namespace paddock {
namespace {

bool is_allowed(std::string_view path, const std::vector<std::string>& extensions) {
  const std::string_view given = extension(path);
  return !given.empty() && std::ranges::any_of(extensions, [&](const std::string& allowed) {
    return detail::equal_ignoring_ascii_case(given, allowed);
  });
}

} // namespace

result<std::string> read_allowed_file(const root& root, std::string_view path,
                                      const allowed_file_options& options) {
  const error refused{error_code::unsupported_type, 0, "extension"};
  if (!is_allowed(path, options.extensions)) return refused;
  auto file = read_file(root, path, {.bytes_max = options.bytes_max, .bounds = options.bounds});
  if (!file) return file.error();
  // A link with an allowed name may lead to a file with another.
  if (!is_allowed(file->path, options.extensions)) return refused;
  const bool binary = file->bytes.find('\0') != std::string::npos;
  if (binary || !detail::is_valid_utf8(file->bytes)) return error{error_code::not_text, 0, "utf8"};
  return std::move(file->bytes);
}

} // namespace paddock
