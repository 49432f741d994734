// SPDX-License-Identifier: MIT
#pragma once

// What the page's requests do: the page's own files, and the skill store as JSON under /api.

#include "http/server/pooled_application.hpp"

#include <paddock/skill/store.hpp>

#include <string>
#include <string_view>

namespace paddock::skills_page {

/// The methods that `path` knows, as the value of Allow has them; empty when nothing is there.
[[nodiscard]] std::string methods_of(std::string_view path, std::string_view page_path);

/// Precondition: the method is one of methods_of(its path).
[[nodiscard]] http::answer answer_to(const http::request& r, std::string_view page_path,
                                     const skill_store& store);

} // namespace paddock::skills_page
