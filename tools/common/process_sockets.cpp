// SPDX-License-Identifier: MIT
#include "process_sockets.hpp"

#include "history_cli.hpp"

#include <paddock/path/lexical_path.hpp>

#include <filesystem>
#include <system_error>

namespace paddock::cli {

std::string process_sockets_directory() {
  const std::string state = default_history_directory();
  return state.empty() ? state : state + "-processes";
}

std::string process_sockets_of(const workspace_cli& from) {
  if (from.tools.tools != mcp::toolset::coding ||
      from.confinement.reach == network_reach::host_network)
    return {};
  std::string directory = process_sockets_directory();
  if (directory.empty() || !reach_of_commands(from, directory).empty()) return {};
  std::error_code failed;
  const auto place = std::filesystem::weakly_canonical(directory, failed);
  const auto workspace = std::filesystem::weakly_canonical(from.workspace, failed);
  if (failed || strip_root_prefix(place.string(), workspace.string())) return {};
  return directory;
}

} // namespace paddock::cli
