// SPDX-License-Identifier: MIT
#include "protection_cli.hpp"

#include <paddock/base/detail/ascii.hpp>
#include <paddock/base/detail/nearest_name.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <utility>

namespace paddock::cli {
namespace {

/// "NAME", "NAME=hidden" or "NAME=read-only".
std::optional<protected_name> parse_name(const std::string& text) {
  const auto equals = text.rfind('=');
  const std::string mode = equals == std::string::npos ? "read-only" : text.substr(equals + 1);
  protected_name parsed{.name = text.substr(0, equals), .asked = true};
  if (mode == "hidden")
    parsed.mode = protection::hidden;
  else if (mode != "read-only")
    return std::nullopt;
  return is_valid(parsed) ? std::optional(parsed) : std::nullopt;
}

/// Without "./" in front and "/" behind.
std::string plain_form(std::string name) {
  while (name.starts_with("./"))
    name.erase(0, 2);
  while (name.ends_with('/'))
    name.pop_back();
  return name;
}

std::string check_protect(const std::string& text) {
  if (text.find_first_of("*?[,") != std::string::npos)
    return text + " is not one name: patterns and lists mean nothing here; repeat the option";
  if (parse_name(text)) return {};
  if (const std::string plain = plain_form(text); parse_name(plain))
    return text + ": names are relative, without ./ and without / at the end; write " + plain;
  return text + " is not NAME, NAME=hidden or NAME=read-only; a hidden name has no slash";
}

std::string check_unprotect(const protection_cli& given, const std::string& name) {
  for (const std::string& text : given.protect)
    if (const auto other = parse_name(text); other && other->name == name)
      return name + " is given to --protect too; choose one of the two";
  auto names = given.kept;
  if (unprotect(names, name)) return {};
  std::string known;
  std::string within;
  for (const auto& each : names) {
    known.append(" ").append(each.name);
    if (each.name.starts_with(name + "/")) within.append(" ").append(each.name);
    if (each.name == plain_form(name) || detail::equal_ignoring_ascii_case(each.name, name))
      return name + " is not how the list has it; write " + each.name;
  }
  if (name.find(',') != std::string::npos) return name + " is not one name; repeat the option";
  if (!within.empty()) return name + " itself is not protected; in it are:" + within;
  std::vector<std::string> listed;
  for (const auto& each : names)
    listed.push_back(each.name);
  return name + " is not protected" + detail::did_you_mean(name, listed) +
         "; the names are:" + known;
}

} // namespace

std::vector<protected_name> protection_cli::names() const {
  auto names = kept;
  for (const std::string& name : unprotect)
    (void)paddock::unprotect(names, name);
  for (const std::string& text : protect) {
    auto parsed = parse_name(text);
    if (!parsed) continue;
    // Of two modes the stricter one holds, in whatever order they are given.
    const auto there = std::ranges::find(names, parsed->name, &protected_name::name);
    if (there == names.end() || there->mode != protection::hidden)
      paddock::protect(names, *std::move(parsed));
  }
  return names;
}

std::string protection_cli::mistake() const {
  for (const std::string& name : unprotect)
    if (std::string wrong = check_unprotect(*this, name); !wrong.empty())
      return "--unprotect: " + wrong;
  return {};
}

void add_protection_options(CLI::App& app, protection_cli& target) {
  app.add_option("--protect", target.protect,
                 "Protect this name in the workspace from changes, or with =hidden from being seen "
                 "(repeatable)")
      ->allow_extra_args(false)
      ->check(check_protect, "")
      ->type_name("NAME[=hidden|read-only]");
  app.add_option("--unprotect", target.unprotect,
                 "Allow changes of this protected name: .git/hooks, .vscode, .envrc and the like "
                 "(repeatable)")
      ->allow_extra_args(false)
      ->type_name("NAME");
}

} // namespace paddock::cli
