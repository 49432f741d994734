// SPDX-License-Identifier: MIT
#pragma once

// The ways to ask for an operation.

#include "session.hpp"

#include <paddock/mcp/workspace_tools.hpp>

#include <memory>
#include <string>

namespace paddock::test::corpus {

/// The workspace with mounts entered, and the same one confined to its file system.
struct workspaces {
  std::shared_ptr<const root> whole;
  std::shared_ptr<const root> one_file_system;

  [[nodiscard]] const std::shared_ptr<const root>& on(mounts mounted) const {
    return mounted == mounts::enter ? whole : one_file_system;
  }
};

std::unique_ptr<performer> through_library(workspaces of);
std::unique_ptr<performer> through_adapter(workspaces of, mcp::toolset tools);
/// Why the programs cannot be run by this user, or nothing.
std::string program_is_lacking();
/// `workspace` as the program is to open it.
std::unique_ptr<performer> through_apply(const std::string& workspace, workspaces of);
std::unique_ptr<performer> through_program(const std::string& workspace, resolver how);

} // namespace paddock::test::corpus
