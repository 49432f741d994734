// SPDX-License-Identifier: MIT
// A program of somebody else that takes one header, links nothing, and is built without exceptions
// and run-time types.
#include <paddock/frontmatter/frontmatter.hpp>
#include <paddock/version.hpp>

#include <cstdio>
#include <string>

#if defined(__cpp_exceptions) || defined(__cpp_rtti)
#error "this consumer is built with -fno-exceptions -fno-rtti"
#endif

int main() {
  const auto skill =
      paddock::frontmatter::parse("---\nname: pdf\ndescription: Reads PDF files.\n---\n",
                                  paddock::frontmatter::extent::whole_file);
  if (!skill.loaded() || skill.name != "pdf") return 1;
  std::printf("%s %s\n", PADDOCK_VERSION,
              paddock::frontmatter::write(skill.name, skill.description).c_str());
}
