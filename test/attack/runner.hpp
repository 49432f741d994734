// SPDX-License-Identifier: MIT
#pragma once

// Runs one row in one combination.

#include "corpus.hpp"

#include <string>

namespace paddock::test::corpus {

/// Fails the test for whatever is not as the row says. Returns what this machine lacks for the
/// case, or nothing.
std::string run_case(const row& r, const combination& how);

/// Holds an answer against what an attempt must come to; nothing outside and nothing reserved may
/// be in it, unless the attempt says so.
void judge(const attempt& a, const answer& got, const session& s);

} // namespace paddock::test::corpus
