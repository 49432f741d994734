// SPDX-License-Identifier: MIT
#pragma once

#include <paddock/path/root.hpp>
#include <paddock/text/patch.hpp>

#include <cstdint>
#include <span>

namespace paddock::cli {

/// Whether a workspace is as a patch leaves it: the patch could be taken back exactly. Modes are
/// not compared, and nothing is changed.
[[nodiscard]] bool is_applied(const root& workspace, std::span<const file_patch> patch,
                              std::uint64_t file_bytes_max);

} // namespace paddock::cli
