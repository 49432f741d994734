// SPDX-License-Identifier: MIT
#include "organiser.hpp"

#include "common/output.hpp"
#include "common/terminal.hpp"
#include "mcp_request.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <initializer_list>
#include <utility>

namespace paddock::cli {
namespace {

struct folder_rule {
  std::string_view type; ///< a MIME type, or with '*' at the end the beginning of one
  std::string_view folder;
};

/// The first row that fits counts.
constexpr std::array rules{
    folder_rule{"image/*", "images"},
    folder_rule{"application/pdf", "documents"},
    folder_rule{"application/epub+zip", "documents"},
    folder_rule{"application/msword", "documents"},
    folder_rule{"application/rtf", "documents"},
    folder_rule{"application/vnd.ms-*", "documents"},
    folder_rule{"application/vnd.oasis.opendocument.*", "documents"},
    folder_rule{"application/vnd.openxmlformats-officedocument.*", "documents"},
    folder_rule{"text/plain", "documents"},
    folder_rule{"text/markdown", "documents"},
    folder_rule{"text/x-rst", "documents"},
    folder_rule{"text/x-asciidoc", "documents"},
    folder_rule{"text/x-org", "documents"},
    folder_rule{"text/html", "documents"},
    folder_rule{"application/json", "data"},
    folder_rule{"application/x-ndjson", "data"},
    folder_rule{"application/yaml", "data"},
    folder_rule{"application/toml", "data"},
    folder_rule{"application/vnd.sqlite3", "data"},
    folder_rule{"application/vnd.apache.*", "data"},
    folder_rule{"text/csv", "data"},
    folder_rule{"text/tab-separated-values", "data"},
    folder_rule{"text/xml", "data"},
    folder_rule{"text/x-ini", "data"},
    folder_rule{"application/sql", "code"},
    folder_rule{"text/*", "code"},
};

/// {"name":"value", …}
std::string object(std::initializer_list<std::pair<std::string_view, std::string_view>> members) {
  mcp::json_writer out;
  out.begin_object();
  for (const auto& [name, value] : members)
    out.member(name, value);
  out.end_object();
  return out.take();
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string last_component(std::string_view path) {
  return std::string(path.substr(path.rfind('/') + 1));
}

} // namespace

std::string_view folder_for(std::string_view mime_type) {
  for (const auto& rule : rules) {
    const bool prefix = rule.type.ends_with('*');
    const auto wanted = rule.type.substr(0, rule.type.size() - (prefix ? 1 : 0));
    if (prefix ? mime_type.starts_with(wanted) : mime_type == wanted) return rule.folder;
  }
  return "other";
}

bool organiser::run() {
  std::vector<std::string> directories;
  if (!greet() || !list(".", &directories)) return false;
  for (const auto& directory : directories)
    if (!list(directory, nullptr)) return false;
  if (!look_at_files()) return false;
  plan();
  return write_todos() && make_folders() && move_files() && finish();
}

// --- the steps -----------------------------------------------------------------------------------

bool organiser::greet() {
  const bool good = server_.tools()->size() > 0;
  const std::string told = "protocol " + server_.server().revision + ", " +
                           counted(server_.tools()->size(), "tool", "tools");
  ++calls_;
  show("connect", "", told, (server_.times().handshake_us + server_.times().tools_us) * 1000, good);
  return good;
}

bool organiser::list(const std::string& directory, std::vector<std::string>* subdirectories) {
  const auto summarise = [](mcp::json_view result) {
    return counted(result["items"].size(), "entry", "entries");
  };
  if (!call("listDirectory", object({{"path", directory}}), directory, summarise)) return false;
  const std::string prefix = directory == "." ? "" : directory + "/";
  result_["items"].for_each_element([&](mcp::json_view item) {
    const std::string name(item["name"].string().value_or(""));
    const auto type = item["type"].string();
    if (prefix.empty()) names_.push_back(name);
    if (type == "file") files_.push_back({.path = prefix + name, .folder = {}, .destination = {}});
    if (type == "directory" && subdirectories != nullptr) subdirectories->push_back(name);
  });
  return true;
}

bool organiser::look_at_files() {
  const auto summarise = [](mcp::json_view result) {
    return std::string(result["mimeType"].string().value_or("")) + ", " +
           std::string(result["sizeFormatted"].string().value_or(""));
  };
  for (auto& each : files_) {
    if (!call("getFileInfo", object({{"path", each.path}}), each.path, summarise)) return false;
    each.folder = folder_for(result_["mimeType"].string().value_or(""));
  }
  return true;
}

/// Directories get names that nothing in the workspace has, so no move can meet an existing file.
void organiser::plan() {
  for (auto& each : files_) {
    std::string& name = folders_[each.folder];
    for (int number = 1; name.empty() || std::ranges::find(names_, name) != names_.end(); ++number)
      name = number == 1 ? each.folder : each.folder + "-" + std::to_string(number);
    each.folder = name;
    each.destination = name + "/" + each.path;
  }
}

bool organiser::write_todos() {
  mcp::json_writer out;
  out.begin_object().key("newTodos").begin_array();
  for (const auto& [kind, name] : folders_)
    out.string("Create " + name + "/");
  out.string("Move files to the directories of their types");
  out.end_array().end_object();
  return call("todo", out.str(), counted(folders_.size() + 1, "new task", "new tasks"),
              [](mcp::json_view result) {
                return counted(result["todos"].size(), "task on the list", "tasks on the list");
              });
}

bool organiser::make_folders() {
  const auto summarise = [](mcp::json_view result) {
    return ".../" + last_component(result["path"].string().value_or(""));
  };
  return std::ranges::all_of(folders_, [&](const auto& each) {
    return call("createDirectory", object({{"path", each.second}}), each.second, summarise);
  });
}

bool organiser::move_files() {
  return std::ranges::all_of(files_, [&](const file& each) {
    return call("moveFile", object({{"source", each.path}, {"destination", each.destination}}),
                each.path, [&](mcp::json_view) { return "-> " + each.folder + "/"; });
  });
}

bool organiser::finish() {
  mcp::json_writer out;
  out.begin_object().key("completedTodos").begin_array();
  for (std::size_t id = 0; id <= folders_.size(); ++id)
    out.unsigned_integer(id);
  out.end_array().end_object();
  const bool noted =
      call("todo", out.str(), counted(folders_.size() + 1, "task", "tasks") + " completed",
           [](mcp::json_view result) {
             return counted(result["todos"].size(), "task on the list", "tasks on the list");
           });
  if (!noted) return false;
  const auto as_it_is = [](mcp::json_view result) { return result.text(); };
  if (!call("attemptCompletion", "{}", "", as_it_is)) return false;
  completed_ = result_.is(mcp::json_kind::object) && result_.size() == 0;
  return true;
}

// --- calls ---------------------------------------------------------------------------------------

bool organiser::call(std::string_view tool, const std::string& arguments, std::string_view shown,
                     const summary& summarise) {
  ++calls_;
  const auto begin = std::chrono::steady_clock::now();
  const auto reply = server_.call_tool(tool, arguments);
  const auto spent = std::chrono::steady_clock::now() - begin;
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count();
  if (!reply) {
    show(tool, shown, explain(reply.error()), ns, false);
    return false;
  }
  const tool_response response = read_tool_result(reply->json);
  const auto parsed = document_.parse(response.json);
  if (response.failed || !parsed) {
    show(tool, shown, response.json.empty() ? response.problem : response.json, ns, false);
    return false;
  }
  result_ = *parsed;
  show(tool, shown, summarise(result_), ns, true);
  return true;
}

void organiser::show(std::string_view tool, std::string_view arguments, std::string_view outcome,
                     std::int64_t ns, bool good) const {
  constexpr std::size_t outcome_width = 30;
  const std::string told = good ? column(outcome, outcome_width) : fit(outcome, 1000);
  print_words("%s  %s %s %s %s\n", column(std::to_string(calls_), 4, align::right).c_str(),
              styled(column(tool, 17), style::bold).c_str(), column(arguments, 34).c_str(),
              styled(told, good ? style::plain : style::bad).c_str(),
              styled(column(duration(ns), 8, align::right), style::dim).c_str());
}

} // namespace paddock::cli
