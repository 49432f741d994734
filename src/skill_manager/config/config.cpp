// SPDX-License-Identifier: MIT
#include "skill_manager/config/entry.hpp"
#include "skill_manager/config/keys.hpp"

#include <paddock/path/lexical_path.hpp>
#include <paddock/skill_manager/config.hpp>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <tuple>
#include <utility>

namespace paddock::skill_manager {
namespace {

constexpr std::size_t name_bytes_max = 255;
constexpr std::size_t instruction_bytes_max = std::size_t{20} * 1024;
constexpr std::size_t description_bytes_max = std::size_t{2} * 1024;
constexpr std::string_view server_keys[] = {"mcpServers", "servers", "context_servers",
                                            "mcp_servers"};

bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// A lower-case letter or digit, then these, hyphens and underscores.
bool is_plain_name(std::string_view name) {
  return !name.empty() && is_lower_or_digit(name.front()) && std::ranges::all_of(name, [](char c) {
    return is_lower_or_digit(c) || c == '-' || c == '_';
  });
}

/// "name", or "@scope/name".
bool is_expert_name(std::string_view name) {
  if (name.size() > name_bytes_max) return false;
  if (!name.starts_with('@')) return is_plain_name(name);
  const std::size_t slash = name.find('/');
  return slash != std::string_view::npos && is_plain_name(name.substr(1, slash - 1)) &&
         is_plain_name(name.substr(slash + 1));
}

void check_length(const checked_table& table, std::string_view key, std::size_t bytes_max) {
  if (table.string(key).size() > bytes_max)
    table.complain(key, "has at most " + std::to_string(bytes_max) + " bytes");
}

class config_reader {
public:
  config_reader(std::string_view file, std::vector<config_problem>& problems)
      : problems_(file, problems, made_.warnings), faults_(file, faulty_, made_.warnings) {
    made_.file = file;
  }

  config read(const config_node& given) {
    const config_node root = is_bare_list(given) ? as_list(given) : given;
    std::vector<config_problem> foreign;
    problem_list of_others(made_.file, foreign, made_.warnings);
    const checked_table top(root, section::file, "", is_foreign(root) ? of_others : problems_);
    for (config_problem& each : foreign)
      report_foreign(each);
    base_command_ = top.strings("perstackBaseSkillCommand");
    made_.settings = top.settings();
    for (const config_member& member : top.table("experts").members)
      read_expert(member);
    bool has_servers = false;
    for (const std::string_view key : server_keys)
      if (top.has(key)) {
        read_servers(top, key, has_servers);
        has_servers = true;
      }
    if (!top.has("experts") && !has_servers && problems_.empty())
      problems_.add(0, "", "has neither experts nor mcpServers");
    report_faulty_servers();
    check_delegates();
    return std::move(made_);
  }

private:
  /// Whether the file is another program's, whose settings are none of ours.
  static bool is_foreign(const config_node& root) {
    const auto has = [&](std::string_view key) { return root.find(key) != nullptr; };
    return !has("experts") && std::ranges::any_of(server_keys, has);
  }
  void report_foreign(config_problem& each) {
    const bool is_list = std::ranges::find(server_keys, each.key) != std::end(server_keys);
    if (is_list)
      problems_.add(each.line, std::move(each.key), std::move(each.message));
    else
      problems_.warn(each.line, std::move(each.key), each.message + " (it is ignored)");
  }

  /// Some programs write servers without a list around them.
  static bool is_bare_list(const config_node& root) {
    const auto is_server = [](const config_member& member) {
      return std::ranges::any_of(
          std::initializer_list<std::string_view>{"command", "url"},
          [&](std::string_view key) { return member.value.find(key) != nullptr; });
    };
    const auto has = [&](std::string_view key) { return root.find(key) != nullptr; };
    return !has("experts") && std::ranges::none_of(server_keys, has) &&
           std::ranges::any_of(root.members, is_server);
  }
  static config_node as_list(config_node servers) {
    config_node list{.kind = node_kind::table, .line = servers.line};
    list.members.push_back({std::string(server_keys[0]), servers.line, std::move(servers)});
    return list;
  }

  void read_expert(const config_member& member) {
    const std::string path = path_of("experts", member.key);
    if (!is_expert_name(member.key))
      problems_.add(member.line, path,
                    "is no name of an expert: use a-z, 0-9, - and _, and @scope/ before it");
    if (made_.find(member.key) != nullptr) problems_.add(member.line, path, "is given twice");
    if (member.value.kind != node_kind::table)
      return problems_.add(member.line, path, "must be a table");
    const checked_table table(member.value, section::expert, path, problems_);
    check_length(table, "instruction", instruction_bytes_max);
    check_length(table, "description", description_bytes_max);
    expert e{.name = member.key,
             .version = table.string("version"),
             .description = table.string("description"),
             .instruction = table.string("instruction"),
             .line = member.line,
             .skills = {},
             .delegates = table.strings("delegates"),
             .settings = table.settings()};
    for (const config_member& skill : table.table("skills").members)
      add_skill(e, skill, path_of(path + ".skills", skill.key),
                [&](const config_member& from, const std::string& at) {
                  if (from.value.kind == node_kind::table)
                    return read_skill(from, at, base_command_, problems_);
                  problems_.add(from.line, at, "must be a table");
                  return std::optional<skill_entry>();
                });
    delegate_lines_.push_back(table.line_of("delegates"));
    made_.experts.push_back(std::move(e));
  }

  void read_servers(const checked_table& top, std::string_view key, bool goes_on) {
    const std::string path(key);
    if (!goes_on && made_.find(default_expert) != nullptr)
      return top.complain(path,
                          "makes the expert \"default\", which the file also has under experts");
    if (!goes_on) {
      made_.experts.push_back({.name = std::string(default_expert), .line = top.line_of(path)});
      delegate_lines_.push_back(0);
    }
    for (const config_member& server : top.table(path).members)
      add_server(made_.experts.back(), server, path_of(path, server.key));
  }

  /// One that has a fault is left out: it may be what confines it.
  void add_server(expert& e, const config_member& from, const std::string& path) {
    if (std::erase_if(e.skills, [&](const skill_entry& s) { return s.name == from.key; }) > 0)
      problems_.warn(from.line, path, "is given twice; the last counts");
    std::vector<config_problem> faults;
    problem_list of_this(made_.file, faults, made_.warnings);
    check_name(from, path, of_this);
    auto skill = read_server(from, path, of_this);
    for (config_problem& fault : faults)
      faults_.add(fault.line, std::move(fault.key), std::move(fault.message));
    if (skill && faults.empty()) e.skills.push_back(*std::move(skill));
  }

  /// Where none is left, all that is wrong is an error.
  void report_faulty_servers() {
    const expert* servers = made_.find(default_expert);
    const bool are_others = servers != nullptr && !servers->skills.empty();
    for (config_problem& fault : faulty_) {
      if (are_others)
        problems_.warn(fault.line, std::move(fault.key),
                       fault.message + " (this server is left out)");
      else
        problems_.add(fault.line, std::move(fault.key), std::move(fault.message));
    }
  }

  static void check_name(const config_member& from, const std::string& path,
                         problem_list& problems) {
    if (from.key.empty() || from.key.size() > name_bytes_max ||
        from.key.find('\0') != std::string::npos)
      problems.add(from.line, path, "a skill's name has 1 to 255 bytes and no NUL");
  }

  template <class Read>
  void add_skill(expert& e, const config_member& from, const std::string& path, Read read) {
    check_name(from, path, problems_);
    if (std::ranges::find(e.skills, from.key, &skill_entry::name) != e.skills.end())
      return problems_.add(from.line, path, "is given twice");
    auto skill = read(from, path);
    if (!skill) return;
    const auto other = std::ranges::find_if(e.skills, is_base);
    if (is_base(*skill) && other != e.skills.end())
      problems_.add(from.line, path,
                    "configures the Base Skill a second time; " + other->name +
                        " does it in line " + std::to_string(other->line));
    e.skills.push_back(*std::move(skill));
  }

  void check_delegates() {
    for (std::size_t i = 0; i < made_.experts.size(); ++i) {
      const expert& e = made_.experts[i];
      const std::string path = path_of("experts", e.name) + ".delegates";
      for (std::size_t d = 0; d < e.delegates.size(); ++d) {
        const std::string& name = e.delegates[d];
        if (made_.find(name) == nullptr)
          problems_.add(delegate_lines_[i], path,
                        "names " + path_of("", name) + ", which is no expert of this file");
        if (std::find(e.delegates.begin(), e.delegates.begin() + static_cast<std::ptrdiff_t>(d),
                      name) != e.delegates.begin() + static_cast<std::ptrdiff_t>(d))
          problems_.add(delegate_lines_[i], path, "names " + path_of("", name) + " twice");
      }
    }
  }

  config made_;
  problem_list problems_;                // refers to made_
  std::vector<config_problem> faulty_;   // what is wrong in servers of other programs
  problem_list faults_;                  // refers to faulty_
  std::vector<unsigned> delegate_lines_; // of each expert
  std::vector<std::string> base_command_;
};

} // namespace

bool is_base(const skill_entry& entry) noexcept {
  const auto* program = std::get_if<stdio_entry>(&entry.kind);
  return std::holds_alternative<base_entry>(entry.kind) ||
         (program != nullptr && program->replaces_base);
}

bool has_base(const expert& of) noexcept {
  return std::ranges::any_of(of.skills, [](const skill_entry& entry) {
    const auto* program = std::get_if<stdio_entry>(&entry.kind);
    const bool is_listed_elsewhere = entry.expands_variables && program != nullptr;
    return is_base(entry) || (is_listed_elsewhere && !program->argv.empty() &&
                              file_name(program->argv.front()) == "paddock-mcp");
  });
}

const expert* config::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(experts, name, &expert::name);
  return found == experts.end() ? nullptr : &*found;
}

std::string config_problem::text() const {
  std::string all = file;
  if (line != 0) all += ":" + std::to_string(line);
  if (!key.empty()) all += ": " + key;
  return all + ": " + message;
}

result<config> parse_config(std::string_view text, config_format format, std::string_view file,
                            std::vector<config_problem>* problems) {
  std::vector<config_problem> own;
  std::vector<config_problem>& found = problems == nullptr ? own : *problems;
  found.clear();
  config_problem problem{.file = std::string(file), .line = 0, .key = {}, .message = {}};
  const auto root =
      format == config_format::json ? parse_json(text, problem) : parse_toml(text, problem);
  if (!root) {
    found.push_back(std::move(problem));
    return root.error();
  }
  constexpr error unusable{error_code::invalid_argument, 0, "configuration"};
  if (root->kind != node_kind::table) {
    problem.line = root->line;
    problem.message = "must be an object";
    found.push_back(std::move(problem));
    return unusable;
  }
  config made = config_reader(file, found).read(*root);
  const auto position = [](const config_problem& p) { return std::tie(p.line, p.key); };
  std::ranges::sort(made.warnings, {}, position);
  if (found.empty()) return made;
  std::ranges::sort(found, {}, position);
  return unusable;
}

} // namespace paddock::skill_manager
