// SPDX-License-Identifier: MIT
#pragma once

// What the page's requests do: the page's own files, and the skill store as JSON under /api.

#include "server.hpp"

#include <paddock/skill/store.hpp>

#include <memory>

namespace paddock::skills_page {

/// Makes `to` answer the page's requests, for as long as it lives.
void add_page(server& to);
void add_api(server& to, std::shared_ptr<const skill_store> store);

} // namespace paddock::skills_page
