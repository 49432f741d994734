// SPDX-License-Identifier: MIT
#pragma once

// Addresses that stand for names, out of 198.18.0.0/15, which is no network's own (RFC 2544). A
// name keeps its address for as long as this lives.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace paddock::egress {

class name_table {
public:
  /// The address of the name as a number; 0: there are no more.
  [[nodiscard]] std::uint32_t address_of(const std::string& name);
  /// Empty: it stands for none.
  [[nodiscard]] std::string_view name_of(std::uint32_t address) const;

private:
  std::unordered_map<std::string, std::uint32_t> addresses_;
  std::vector<std::string_view> names_; ///< keys of the former
};

} // namespace paddock::egress
