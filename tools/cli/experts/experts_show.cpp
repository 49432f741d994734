// SPDX-License-Identifier: MIT
#include "common/output.hpp"
#include "common/terminal.hpp"
#include "experts.hpp"

#include <algorithm>
#include <iterator>

namespace paddock::cli {
namespace {

using namespace skill_manager;

constexpr std::size_t name_width = 24;
constexpr std::size_t type_width = 12;
constexpr std::size_t shown_width = 80;

std::string joined(const std::vector<std::string>& all, std::string_view between) {
  std::string text;
  for (const std::string& each : all)
    text.append(text.empty() ? "" : between).append(each);
  return text;
}

struct skill_line {
  skill_type type;
  std::string name;
  std::string target;
};

skill_line line_of(const skill_entry& entry) {
  if (std::holds_alternative<base_entry>(entry.kind))
    return {skill_type::base, entry.name, "in this process"};
  if (const auto* program = std::get_if<stdio_entry>(&entry.kind))
    return {skill_type::mcp, entry.name, joined(program->argv, " ")};
  if (const auto* remote = std::get_if<http_entry>(&entry.kind))
    return {skill_type::mcp, entry.name, remote->url};
  std::vector<std::string> tools;
  for (const auto& tool : std::get<interactive_entry>(entry.kind).tools)
    tools.push_back(tool.name);
  return {skill_type::interactive, entry.name, joined(tools, ", ")};
}

/// In the order in which they are started.
std::vector<skill_line> lines_of(const expert& e) {
  std::vector<skill_line> all;
  if (!has_base(e))
    all.push_back({skill_type::base, std::string(base_skill_package), "in this process"});
  for (const skill_entry& entry : e.skills)
    all.push_back(line_of(entry));
  for (const std::string& name : e.delegates)
    all.push_back({skill_type::delegate, name, "another expert"});
  std::vector<skill_line> lines;
  for (const skill_type type : skill_types)
    std::ranges::copy_if(all, std::back_inserter(lines),
                         [&](const skill_line& line) { return line.type == type; });
  return lines;
}

void write_expert(mcp::json_writer& out, const expert& e) {
  out.begin_object().member("name", e.name).member("version", e.version);
  out.member("description", e.description).key("skills").begin_array();
  for (const skill_line& line : lines_of(e))
    out.begin_object()
        .member("name", line.name)
        .member("type", name_of(line.type))
        .member("target", line.target)
        .end_object();
  out.end_array().end_object();
}

} // namespace

void show_experts(const config& from, const std::vector<const expert*>& experts, shown_as form) {
  if (form == shown_as::json) {
    mcp::json_writer out;
    out.begin_object().member("config", from.file).key("experts").begin_array();
    for (const expert* e : experts)
      write_expert(out, *e);
    out.end_array().end_object();
    print_json_line(out.str());
    return;
  }
  for (const expert* e : experts) {
    std::string about = e->version;
    if (!e->description.empty()) about += (about.empty() ? "" : " ") + e->description;
    print_words("%s%s%s\n", styled(e->name, style::bold).c_str(), about.empty() ? "" : " ",
                fit(about, shown_width).c_str());
    for (const skill_line& line : lines_of(*e))
      print_words("  %s %s %s\n", column(name_of(line.type), type_width).c_str(),
                  column(line.name, name_width).c_str(), fit(line.target, shown_width).c_str());
  }
}

void show_tools(const std::string& expert, const std::vector<tool_definition>& tools,
                mcp::json_writer* json) {
  if (json == nullptr) print_words("%s\n", styled(fit(expert, 255), style::bold).c_str());
  for (const tool_definition& tool : tools) {
    if (json == nullptr) {
      print_words("  %s %s %s %s\n", column(tool.name, name_width).c_str(),
                  column(tool.skill, name_width).c_str(),
                  column(name_of(tool.type), type_width).c_str(),
                  fit(tool.description, shown_width).c_str());
      continue;
    }
    json->begin_object().member("expert", expert).member("tool", tool.name);
    json->member("skill", tool.skill).member("type", name_of(tool.type));
    json->member("description", tool.description);
    json->key("inputSchema").raw(tool.input_schema.empty() ? "{}" : tool.input_schema);
    json->end_object();
  }
}

void show_reply(const tool_reply& reply, shown_as form) {
  if (form == shown_as::json) {
    print_json_line(reply.result);
    return;
  }
  mcp::json_document content;
  if (!content.parse(reply.content)) return;
  content.root().for_each_element([](mcp::json_view block) {
    if (const auto text = block["text"].string())
      print_words("%.*s\n", static_cast<int>(text->size()), text->data());
    else
      print_words("[%s %s]\n", fit(block["type"].string().value_or("?"), shown_width).c_str(),
                  fit(block["mimeType"].string().value_or(""), shown_width).c_str());
  });
}

void show_answer(const interactive_call& call, const std::string& answer, shown_as form) {
  if (form == shown_as::text) {
    print_words("%s\n", answer.c_str());
    return;
  }
  mcp::json_writer out;
  out.begin_object().member("skill", call.skill).member("tool", call.tool);
  out.key("arguments").raw(call.arguments).member("answer", answer).end_object();
  print_json_line(out.str());
}

void show_delegate(const delegate_call& call, shown_as form) {
  if (form == shown_as::text) {
    print_words("would start the expert %s with the query: %s\n", call.expert.c_str(),
                call.query.c_str());
    return;
  }
  mcp::json_writer out;
  out.begin_object().member("expert", call.expert).member("tool", call.tool);
  out.member("query", call.query).end_object();
  print_json_line(out.str());
}

} // namespace paddock::cli
