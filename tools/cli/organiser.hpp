// SPDX-License-Identifier: MIT
#pragma once

// The file organiser of the demonstration: what an agent does that was asked to put a directory in
// order by type of file. It knows the workspace only through the tools.

#include <paddock/mcp/client.hpp>
#include <paddock/mcp/json.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::cli {

/// The directory for files of this type: images, documents, code, data or other.
[[nodiscard]] std::string_view folder_for(std::string_view mime_type);

class organiser {
public:
  /// `server` must live as long.
  explicit organiser(mcp::client& server) : server_(server) {}

  /// The whole work, each call shown on standard output. False when a call failed, which has been
  /// shown too.
  [[nodiscard]] bool run();

  struct file {
    std::string path; ///< as the tools spell it
    std::string folder;
    std::string destination;
  };
  [[nodiscard]] const std::vector<file>& files() const { return files_; }
  /// Whether the last call, attemptCompletion, found nothing left to do.
  [[nodiscard]] bool completed() const { return completed_; }
  [[nodiscard]] std::int64_t calls() const { return calls_; }

private:
  /// Tells the result in a few words.
  using summary = std::function<std::string(mcp::json_view)>;

  bool greet();
  bool list(const std::string& directory, std::vector<std::string>* subdirectories);
  bool look_at_files();
  void plan();
  bool write_todos();
  bool make_folders();
  bool move_files();
  bool finish();

  /// Calls a tool, shows the call, and keeps its result in `result_`.
  bool call(std::string_view tool, const std::string& arguments, std::string_view shown,
            const summary& summarise);
  void show(std::string_view tool, std::string_view arguments, std::string_view outcome,
            std::int64_t ns, bool good) const;

  mcp::client& server_;
  mcp::json_document document_;
  mcp::json_view result_;          ///< of the last call
  std::vector<std::string> names_; ///< entries of the workspace itself
  std::vector<file> files_;
  std::map<std::string, std::string> folders_; ///< from the kind of file to the directory's name
  std::int64_t calls_ = 0;
  bool completed_ = false;
};

} // namespace paddock::cli
