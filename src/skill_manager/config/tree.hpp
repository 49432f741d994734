// SPDX-License-Identifier: MIT
#pragma once

// A configuration as a tree of values that know their lines, whatever format it was written in.

#include <paddock/base/result.hpp>
#include <paddock/skill_manager/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::skill_manager {

enum class node_kind : std::uint8_t { boolean, integer, number, string, array, table, other };

struct config_member;

struct config_node {
  node_kind kind = node_kind::other;
  unsigned line = 0;
  bool boolean = false;
  std::int64_t integer = 0;
  double number = 0;
  std::string text;
  std::vector<config_node> elements;
  std::vector<config_member> members; ///< in the order of their lines

  [[nodiscard]] const config_node* find(std::string_view key) const noexcept;
  [[nodiscard]] std::string json() const;
};

struct config_member {
  std::string key;
  unsigned line = 0;
  config_node value;
};

/// Errors: invalid_argument, unsupported; `problem` then says what and where.
[[nodiscard]] result<config_node> parse_toml(std::string_view text, config_problem& problem);
[[nodiscard]] result<config_node> parse_json(std::string_view text, config_problem& problem);

} // namespace paddock::skill_manager
