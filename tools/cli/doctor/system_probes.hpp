// SPDX-License-Identifier: MIT
#pragma once

// What a Linux system may or may not offer, as a table of probes. Each one tries the real thing
// and leaves nothing behind.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace paddock::cli {

struct finding {
  bool found = false;
  std::string detail; ///< a version, a value, a path, or why not; may be empty
};

/// Whether Paddock can do its work without the feature.
enum class need : std::uint8_t { optional, required };

struct probe {
  std::string_view name;
  std::string_view purpose;    ///< what Paddock uses it for
  std::string_view without_it; ///< what follows when it is missing
  need wanted = need::optional;
  finding (*look)(const std::string& workspace) = nullptr;
};

[[nodiscard]] std::span<const probe> system_probes();

/// "Linux 6.1.0 x86_64".
[[nodiscard]] std::string system_name();

} // namespace paddock::cli
