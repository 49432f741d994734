// SPDX-License-Identifier: MIT
#pragma once

// How a refusal of a memory budget is told from others of its codes.

#include <paddock/base/error.hpp>

#include <string_view>

namespace paddock {

inline constexpr const char* memory_budget_operation = "memory budget";

/// Whether the budget for memory refused: it is too small, or others hold it.
[[nodiscard]] inline bool refused_memory(const error& e) noexcept {
  return std::string_view(e.operation) == memory_budget_operation;
}

} // namespace paddock
