// SPDX-License-Identifier: MIT

#include "session.hpp"

#include "performers.hpp"

namespace paddock::test::corpus {

std::string name_of(const combination& c) {
  constexpr const char* kernels[] = {"openat2", "forced_walker", "openat2_missing",
                                     "openat2_filtered"};
  constexpr const char* users[] = {"root", "ordinary"};
  constexpr const char* interfaces[] = {"library", "adapter", "coding", "program", "apply"};
  return std::string(kernels[static_cast<int>(c.kernel)]) + '/' + users[static_cast<int>(c.user)] +
         '/' + interfaces[static_cast<int>(c.interface)];
}

std::string_view name_of(action what) {
  constexpr std::string_view names[] = {
      "read",        "read_part", "write",          "append",      "edit",
      "inspect",     "list",      "make_directory", "remove_file", "remove_directory",
      "remove_tree", "move",      "enter"};
  return names[static_cast<int>(what)];
}

scene::scene() {
  tree().directory("ws/a/b");
  tree().directory("ws/.perstack");
  for (const char* name : {"ws/f", "ws/a/f", "ws/a/b/g"})
    tree().file(name, inside_mark);
  tree().file("ws/.perstack/cfg", reserved_mark);
  tree().file("out/" + std::string(outside_mark), ""); // a name that no listing may show
}

std::string scene::spelled(std::string path) const {
  for (const auto& [mark, text] : {std::pair("@W", ws()), std::pair("@T", tree().path())})
    if (const auto at = path.find(mark); at != std::string::npos) path.replace(at, 2, text);
  return path;
}

session::session(scene& of, const combination& with, const std::string& workspace)
    : at(of), how(with) {
  const bool forced = how.kernel == back_end::forced_walker;
  const auto open = [&](mounts mounted) -> std::shared_ptr<const root> {
    auto opened =
        root::open(workspace, {.resolver = forced ? resolver::walker : resolver::automatic,
                               .mounts = mounted});
    if (opened) return std::make_shared<const root>(*std::move(opened));
    ADD_FAILURE() << workspace << ": " << wire_name(opened.error().code);
    std::abort();
  };
  root_ = open(mounts::enter);
  confined_to_one_file_system_ = open(mounts::refuse);
  // A case that met another back end than its name says would prove nothing.
  EXPECT_EQ(root_->resolver(),
            how.kernel == back_end::openat2 ? resolver::openat2 : resolver::walker);
  if (how.interface == interface::program || how.interface == interface::apply) {
    at.lacking = program_is_lacking();
    if (!at.lacking.empty()) return;
  }
  performer_ = another();
}

std::unique_ptr<performer> session::another() const {
  if (how.interface != interface::program) return another_on(root_);
  const bool forced = how.kernel == back_end::forced_walker;
  return through_program(root_->path(), forced ? resolver::walker : resolver::automatic);
}

std::unique_ptr<performer> session::another_on(std::shared_ptr<const root> workspace) const {
  workspaces both{std::move(workspace), confined_to_one_file_system_};
  if (how.interface == interface::library) return through_library(std::move(both));
  if (how.interface == interface::apply) {
    const std::string path(both.whole->path()); // before it is moved away
    return through_apply(path, std::move(both));
  }
  return through_adapter(std::move(both), how.interface == interface::coding ? mcp::toolset::coding
                                                                             : mcp::toolset::base);
}

std::string session::outcome(const request& asked) {
  const auto code = perform(asked).code;
  return code ? std::string(wire_name(*code)) : "ok";
}

} // namespace paddock::test::corpus
