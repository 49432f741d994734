// SPDX-License-Identifier: MIT
#pragma once

// What the page's script can ask for: the skill store as JSON under /api.

#include "page/page.hpp"

#include <paddock/skill/store.hpp>

#include <memory>
#include <vector>

namespace paddock::skills_page {

[[nodiscard]] std::vector<page::operation> operations(std::shared_ptr<const skill_store> store);

} // namespace paddock::skills_page
