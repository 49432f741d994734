// SPDX-License-Identifier: MIT
#pragma once

// What the page sends to be imported: one line of JSON, an array of {"path", "size"}, and behind it
// the bytes of these files in this order. Form data would say the same, but not without names that
// are escaped differently by every browser and a search for boundaries through all of the bytes.

#include <paddock/base/result.hpp>
#include <paddock/skill/store.hpp>

#include <string_view>
#include <vector>

namespace paddock::skills_page {

/// The files refer to `body`. Errors: invalid_argument; `operation` says what is wrong.
[[nodiscard]] result<std::vector<uploaded_file>> read_upload(std::string_view body);

} // namespace paddock::skills_page
