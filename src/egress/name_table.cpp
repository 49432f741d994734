// SPDX-License-Identifier: MIT
#include "egress/name_table.hpp"

namespace paddock::egress {
namespace {

constexpr std::uint32_t first_address = (198U << 24U) + (18U << 16U) + 1;
/// Names below a wildcard are as many as a command likes; nobody needs that many.
constexpr std::size_t names_max = 20'000;

} // namespace

std::uint32_t name_table::address_of(const std::string& name) {
  if (const auto known = addresses_.find(name); known != addresses_.end()) return known->second;
  if (names_.size() >= names_max) return 0;
  const auto address = first_address + static_cast<std::uint32_t>(names_.size());
  names_.push_back(addresses_.emplace(name, address).first->first);
  return address;
}

std::string_view name_table::name_of(std::uint32_t address) const {
  const std::uint32_t at = address - first_address;
  return at < names_.size() ? names_[at] : std::string_view();
}

} // namespace paddock::egress
