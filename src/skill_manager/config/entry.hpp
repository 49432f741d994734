// SPDX-License-Identifier: MIT
#pragma once

// One skill of an expert, and one server of an mcpServers table.

#include "skill_manager/config/keys.hpp"

#include <optional>
#include <string>
#include <vector>

namespace paddock::skill_manager {

/// Nothing when it cannot be read, or is not to be used; whatever is wrong is reported. With a
/// `base_command` the Base Skill is that program.
[[nodiscard]] std::optional<skill_entry> read_skill(const config_member& from,
                                                    const std::string& path,
                                                    const std::vector<std::string>& base_command,
                                                    problem_list& problems);
[[nodiscard]] std::optional<skill_entry>
read_server(const config_member& from, const std::string& path, problem_list& problems);

/// Whether the URL says by itself that a server on this machine is meant.
[[nodiscard]] bool names_this_machine(std::string_view url);
/// Whether it may be asked; `addresses` any also allows http.
[[nodiscard]] bool is_usable_url(std::string_view url, mcp::address_policy addresses);

} // namespace paddock::skill_manager
