// SPDX-License-Identifier: MIT
#pragma once

// Answers DNS questions (RFC 1035) without asking anybody: an allowed name gets an address from the
// table, any other does not exist. Names are looked up only for connections, so no question leaves
// this machine and DNS is no tunnel.

#include "egress/name_table.hpp"

#include <paddock/exec/host_list.hpp>

#include <string>
#include <string_view>

namespace paddock::egress {

struct dns_answer {
  std::string bytes{};   ///< empty: the question deserves none
  std::string refused{}; ///< the name that does not exist for commands; empty: none
};

[[nodiscard]] dns_answer answer_question(std::string_view question, const host_list& hosts,
                                         name_table& names);

} // namespace paddock::egress
