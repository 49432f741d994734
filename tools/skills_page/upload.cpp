// SPDX-License-Identifier: MIT
#include "upload.hpp"

#include <paddock/mcp/json.hpp>

#include <string>

namespace paddock::skills_page {
namespace {

error malformed(const char* what) {
  return {.code = error_code::invalid_argument, .os_errno = 0, .operation = what};
}

} // namespace

result<std::vector<uploaded_file>> read_upload(std::string_view body) {
  const auto end_of_line = body.find('\n');
  if (end_of_line == std::string_view::npos) return malformed("there is no list of files");
  mcp::json_document document;
  const auto list = document.parse(body.substr(0, end_of_line));
  if (!list || !list->is(mcp::json_kind::array)) return malformed("the list of files is not JSON");
  std::string_view rest = body.substr(end_of_line + 1);
  std::vector<uploaded_file> files;
  bool sound = true;
  list->for_each_element([&](mcp::json_view each) {
    const auto path = each["path"].string();
    const auto size = each["size"].integer();
    sound = sound && path && size && *size >= 0 && static_cast<std::size_t>(*size) <= rest.size();
    if (!sound) return;
    const auto bytes = static_cast<std::size_t>(*size);
    files.push_back({.path = std::string(*path), .bytes = rest.substr(0, bytes)});
    rest.remove_prefix(bytes);
  });
  if (!sound || !rest.empty())
    return malformed("the list of files does not fit the bytes behind it");
  return files;
}

} // namespace paddock::skills_page
