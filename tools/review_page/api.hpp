// SPDX-License-Identifier: MIT
#pragma once

// What the page's script can ask for: the history of the workspace as JSON under /api, and the way
// back.

#include "page/page.hpp"
#include "two_sides.hpp"

#include <vector>

namespace paddock::review_page {

[[nodiscard]] std::vector<page::operation> operations(reviewed of);

} // namespace paddock::review_page
