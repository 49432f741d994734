// SPDX-License-Identifier: MIT
// A program of somebody else: it works in a directory of its own and is refused outside.
#include <paddock/file.hpp>
#include <paddock/root.hpp>

#include <cstdio>

int main(int argc, char** argv) {
  const auto workspace = paddock::root::open(argc > 1 ? argv[1] : ".");
  if (!workspace) return 2;

  if (!paddock::write_file(*workspace, "notes/plan.md", "1. read\n2. write\n")) return 3;
  const auto plan = paddock::read_file(*workspace, "notes/plan.md");
  if (!plan || plan->bytes != "1. read\n2. write\n") return 4;

  const auto outside = paddock::read_file(*workspace, "../outside");
  if (outside || outside.error().code != paddock::error_code::escapes_root) return 5;
  std::printf("wrote %s; outside: %s\n", plan->path.c_str(),
              paddock::wire_name(outside.error().code).data());
}
