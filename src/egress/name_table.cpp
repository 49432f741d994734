// SPDX-License-Identifier: MIT
#include "egress/name_table.hpp"

namespace paddock::egress {
namespace {

constexpr std::uint32_t first_address = (198U << 24U) + (18U << 16U) + 1;
/// A command can ask for any number of names below a wildcard.
constexpr std::size_t names_max = 20'000;

} // namespace

std::uint32_t name_table::address_of(const std::string& name) {
  if (const auto known = addresses_.find(name); known != addresses_.end()) return known->second;
  if (next_ == names_max) next_ = 0;
  if (next_ == names_.size()) names_.emplace_back();
  addresses_.erase(names_[next_]);
  names_[next_] = name;
  const auto address = first_address + static_cast<std::uint32_t>(next_++);
  addresses_.emplace(name, address);
  return address;
}

std::string_view name_table::name_of(std::uint32_t address) const {
  const std::uint32_t at = address - first_address;
  return at < names_.size() ? std::string_view(names_[at]) : std::string_view();
}

} // namespace paddock::egress
