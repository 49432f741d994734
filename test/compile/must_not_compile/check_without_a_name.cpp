// SPDX-License-Identifier: MIT
// What is asked of a content lives as long as the operation that asks.
// expect: could not convert|no viable conversion|no matching|no known conversion|cannot bind
#include <paddock/file/file.hpp>

paddock::result<std::string> f(const paddock::root& root) {
  const auto is_empty = [](std::string_view content) { return content.empty(); };
#ifdef BAD
  const paddock::remove_file_options options{
      .only_if = [](std::string_view content) { return content.empty(); }};
  is_empty("");
#else
  const paddock::remove_file_options options{.only_if = is_empty};
#endif
  return remove_file(root, "f", options);
}
