// SPDX-License-Identifier: MIT
#include "operations.hpp"

#include <paddock/exec/command.hpp>

namespace paddock::test {
namespace {

/// A command reads a file in its working directory, which is found as the exec tool finds it.
result<void> run_in(const victim& v, confinement_policy confinement) {
  const auto at = v.r().open_beneath(v.path, access::inspect);
  if (!at) return at.error();
  if (at->status.kind != entry_kind::directory)
    return error{error_code::not_a_directory, 0, "look"};
  const auto ran = run({.argv = {"/bin/cat", marker_name},
                        .environment = {"PATH=/usr/bin:/bin"},
                        .working_directory = at->fd.get(),
                        .confinement = std::move(confinement),
                        .workspace = v.r().descriptor(),
                        .helper = PADDOCK_TEST_HELPER});
  if (!ran) return static_cast<const error&>(ran.error());
  expect_inside(ran->out.head);
  if (ran->exit_code != 0) return error{error_code::command_failed, 0, "run"};
  EXPECT_EQ(ran->out.head, "INSIDE");
  return {};
}

constexpr operation command_rows[] = {
    {"command_on_host", [](const victim& v) { return run_in(v, confinement_policy::host()); }, 10},
    {"command_confined",
     [](const victim& v) { return run_in(v, confinement_policy::best_effort()); }, 20},
};

} // namespace

std::span<const operation> operations_with_commands() {
  return command_rows;
}

} // namespace paddock::test
