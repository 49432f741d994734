// SPDX-License-Identifier: MIT
// An agent of somebody else: a loop that asks a model for an action and carries it out with the
// primitives. The model here is a script; it is told of its mistakes and corrects them.
#include <paddock/exec/command.hpp>
#include <paddock/file/directory.hpp>
#include <paddock/file/file.hpp>

#include <cstdio>
#include <string>
#include <vector>

struct action {
  enum { list, read, write, edit, run, done } what;
  std::string path, text, old_text;
};

static action next_action(std::size_t turn, const std::string& seen) {
  const bool wrote = seen == "notes/plan.md", refused = seen.starts_with("escapes_root: ");
  const std::vector<action> script = {
      {action::write, "notes/plan.md", "1. read\n2. wriet\n", ""},
      {action::read, wrote ? "../plan.md" : "lost", "", ""}, // a mistake
      {action::read, refused ? "notes/plan.md" : "lost", "", ""},
      {action::edit, "notes/plan.md", "write", seen == "1. read\n2. wriet\n" ? "wriet" : "lost"},
      {action::list, "notes", "", ""},
      {action::run, "", seen == "plan.md " ? "cat notes/plan.md" : "false", ""},
      {action::done, "", "", ""},
  };
  return script.at(turn);
}

// What the model is told: the value, or the error and its remedy.
template <class Result, class F> static std::string told(const Result& done, F text_of) {
  if (done) return text_of(*done);
  const auto code = done.error().code;
  return std::string(wire_name(code)).append(": ").append(text(code));
}

static std::string carry_out(const paddock::root& workspace, const action& a) {
  if (a.what == action::write)
    return told(write_file(workspace, a.path, a.text), [](const auto& path) { return path; });
  if (a.what == action::read)
    return told(read_file(workspace, a.path), [](const auto& file) { return file.bytes; });
  if (a.what == action::edit)
    return told(edit_file(workspace, a.path, {a.old_text, a.text}),
                [](const auto& edited) { return edited.path; });
  if (a.what == action::list)
    return told(list_directory(workspace, a.path), [](const auto& listing) {
      std::string names;
      for (const auto& entry : listing.entries)
        names.append(listing.name(entry)).append(" ");
      return names;
    });
  return told(paddock::run({.argv = {"sh", "-c", a.text},
                            .environment = {"PATH=/usr/bin:/bin"},
                            .working_directory = workspace.descriptor(),
                            .workspace = workspace.descriptor()}),
              [](const auto& outcome) { return outcome.out.text(); });
}

int main(int argc, char** argv) {
  const auto workspace = paddock::root::open(argc > 1 ? argv[1] : ".");
  if (!workspace) return 1;
  std::string seen;
  action next = next_action(0, seen);
  for (std::size_t turn = 1; next.what != action::done; next = next_action(turn++, seen))
    seen = carry_out(*workspace, next);
  std::fputs(seen.c_str(), stdout);
}
