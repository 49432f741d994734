// SPDX-License-Identifier: MIT
#pragma once

// Addresses for names, out of 198.18.0.0/15, which no network uses (RFC 2544). When there are very
// many, the oldest name gives its address to the newest.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace paddock::egress {

class name_table {
public:
  /// The address of the name, as a number.
  [[nodiscard]] std::uint32_t address_of(const std::string& name);
  /// Empty: the address has no name.
  [[nodiscard]] std::string_view name_of(std::uint32_t address) const;

private:
  std::unordered_map<std::string, std::uint32_t> addresses_;
  std::vector<std::string> names_; ///< by address
  std::size_t next_ = 0;           ///< the place of the next name
};

} // namespace paddock::egress
