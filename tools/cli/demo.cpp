// SPDX-License-Identifier: MIT

// paddock demo: starts the real server as a client does and lets it put a copy of a directory in
// order by type of file, then looks at the disk itself; lets it delete everything, and undoes that;
// and lets it try to leave.

#include "common/output.hpp"
#include "common/terminal.hpp"
#include "demo_files.hpp"
#include "fence_attacks.hpp"
#include "organiser.hpp"
#include "subcommands.hpp"

#include <paddock/path/lexical_path.hpp>
#include <paddock/version.hpp>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

namespace paddock::cli {
namespace {

constexpr std::string_view demo_command = "paddock demo";

/// The sources of the build that this program stands in; empty when it is installed.
std::string own_sources(std::filesystem::path directory) {
  std::error_code unknown;
  for (int levels = 0; levels < 4; ++levels) {
    directory = directory.parent_path();
    if (std::filesystem::exists(directory / "include/paddock/path/root.hpp", unknown) &&
        std::filesystem::exists(directory / "meson.build", unknown))
      return directory.native();
  }
  return {};
}

/// Fills the temporary directory and says with what; complains and returns nothing when it cannot.
std::optional<std::string> fill(demo_files& files, const std::string& directory,
                                const std::string& sources) {
  if (!directory.empty()) {
    if (files.copy_from(directory)) return "a copy of files from " + directory;
    complain(demo_command, "there is no file in " + directory + " that can be copied");
    return std::nullopt;
  }
  if (!sources.empty() && files.copy_from(sources)) return "a copy of Paddock's own source files";
  files.write_samples();
  return "a few sample files";
}

/// What is wrong on the disk, or nothing: every file has to be at its new place with the content
/// it had, and nowhere else.
std::optional<std::string> difference(const std::map<std::string, fingerprint>& before,
                                      const std::map<std::string, fingerprint>& after,
                                      const std::vector<organiser::file>& moved) {
  if (moved.size() != before.size() || after.size() != before.size())
    return std::to_string(before.size()) + " files before, " + std::to_string(moved.size()) +
           " moved, " + std::to_string(after.size()) + " after";
  for (const auto& each : moved) {
    const auto was = before.find(decode_name(each.path));
    const auto is = after.find(decode_name(each.destination));
    if (was == before.end()) return each.path + " was not there";
    if (is == after.end()) return each.destination + " is missing";
    if (was->second != is->second) return each.destination + " has another content";
  }
  return std::nullopt;
}

void print_moved(const std::vector<organiser::file>& moved) {
  std::map<std::string, std::size_t> per_folder;
  for (const auto& each : moved)
    ++per_folder[each.folder];
  print_words("\nMoved %zu files:", moved.size());
  const char* separator = " ";
  for (const auto& [folder, count] : per_folder) {
    print_words("%s%zu to %s/", separator, count, folder.c_str());
    separator = ", ";
  }
  print_words("\n");
}

/// One line of the verdict.
bool check(bool good, const std::string& claim, const std::string& otherwise) {
  print_words("%s  %s\n",
              styled(good ? "ok    " : "FAILED", good ? style::good : style::bad).c_str(),
              fit(good ? claim : otherwise, 1000).c_str());
  return good;
}

bool verify(const demo_files& files, const std::map<std::string, fingerprint>& before,
            const organiser& work) {
  const auto wrong = difference(before, files.scan(), work.files());
  bool good = check(!wrong, "on the disk every file is at its new place, byte for byte as before",
                    "on the disk: " + wrong.value_or(""));
  good &= check(work.completed(), "attemptCompletion returned {}: nothing is left to do",
                "attemptCompletion still saw tasks");
  return good;
}

result<mcp::client, detailed_error> start(const std::string& server_path,
                                          const std::string& workspace,
                                          const std::vector<std::string>& options) {
  std::vector<std::string> argv{server_path, "--workspace", workspace};
  argv.insert(argv.end(), options.begin(), options.end());
  return mcp::client::connect(
      mcp::stdio_endpoint{.argv = std::move(argv),
                          .environment = {"PATH=/usr/local/bin:/usr/bin:/bin"}},
      {.name = "paddock demo", .version = PADDOCK_VERSION});
}

/// Lets an agent delete the files, and its server's history bring them back.
bool show_undo(const demo_files& files, const std::string& server_path, const organiser& work) {
  const demo_files history;
  auto server =
      start(server_path, files.path(), {"--tools", "coding", "--history", history.path()});
  if (!server) {
    complain(demo_command, explain(server.error()));
    return false;
  }
  print_words(
      "\nAnother agent, whose server keeps a history (--tools coding), deletes them all:\n\n");
  const auto before = files.scan();
  for (const auto& each : work.files())
    (void)server->call_tool(
        "deleteFile",
        mcp::json_writer().begin_object().member("path", each.destination).end_object().str());
  bool good = check(files.scan().empty(), "deleteFile: every file is gone from the disk",
                    "deleteFile left files");
  (void)server->call_tool("restore", "{}");
  good &= check(files.scan() == before, "restore {} brought every file back, byte for byte",
                "restore did not bring every file back");
  return good;
}

int run_demo(const std::string& directory) {
  std::error_code unknown;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::string server_path = (self.parent_path() / "paddock-mcp").native();
  demo_files files;
  if (!files.good()) {
    complain(demo_command, "no temporary directory can be made (see TMPDIR)");
    return failed;
  }
  const auto what = fill(files, directory, own_sources(self.parent_path()));
  if (!what) return usage;
  const auto before = files.scan();
  auto server = start(server_path, files.path(), {});
  if (!server) {
    complain(demo_command, explain(server.error()));
    return failed;
  }
  print_words("Paddock %s puts %s in order by type (%zu files; the originals are not touched).\n",
              PADDOCK_VERSION, fit(*what, 1000).c_str(), before.size());
  print_words("An agent's calls to %s, each a line of JSON through a pipe:\n\n",
              fit(server_path, 1000).c_str());
  organiser work(*server);
  if (!work.run()) {
    complain(demo_command, "call " + std::to_string(work.calls()) + " failed");
    return failed;
  }
  print_moved(work.files());
  bool good = verify(files, before, work);
  good &= show_undo(files, server_path, work);
  return attack_fence(*server, files.path()) && good ? success : failed;
}

} // namespace

subcommand add_demo(CLI::App& app) {
  const auto directory = std::make_shared<std::string>();
  CLI::App* parser =
      app.add_subcommand("demo", "Watch the server sort a copy of a directory's files, "
                                 "undo their loss, and hold against attacks");
  parser->footer(exit_codes_help);
  parser
      ->add_option("directory", *directory,
                   "Copy the files of this directory (default: Paddock's own source files)")
      ->type_name("DIR")
      ->check(
          [](const std::string& given) {
            return std::string(given.empty() ? "is empty; name a directory or leave it out" : "");
          },
          "");
  return {parser, [directory] { return run_demo(*directory); }};
}

} // namespace paddock::cli
