// SPDX-License-Identifier: MIT
#include "fix.hpp"

#include "common/output.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>

extern char** environ;

namespace paddock::cli {
namespace {

enum class concerns : std::uint8_t { everyone, ordinary_users };
struct setting {
  std::string_view name, refused, wanted; ///< `wanted` is empty where a profile is the answer
  concerns whom;
};
constexpr std::array settings{
    setting{"user.max_user_namespaces", "0", "15000", concerns::everyone},
    setting{"kernel.unprivileged_userns_clone", "0", "1", concerns::ordinary_users},
    setting{"kernel.apparmor_restrict_unprivileged_userns", "1", "", concerns::ordinary_users}};

std::string file_of(std::string_view name) {
  std::string path(name);
  std::ranges::replace(path, '.', '/');
  return "/proc/sys/" + path;
}

bool refuses(const setting& each) {
  if (each.whom == concerns::ordinary_users && ::geteuid() == 0) return false;
  std::string value;
  return std::ifstream(file_of(each.name)) >> value && value == each.refused;
}

std::string set_it(const setting& each) {
  const std::string name(each.name), value(each.wanted);
  return "echo '" + name + " = " + value + "' >/etc/sysctl.d/60-paddock.conf\necho " + value +
         " >" + file_of(name) + '\n';
}

/// For the programs beside this one; empty where their path has other characters than a shell and
/// AppArmor take as they are. As src/packaging/apparmor-profile has it.
std::string load_profile() {
  std::error_code unknown;
  const std::string place =
      std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path().string();
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-";
  if (unknown || place.size() < 2 || place.find_first_not_of(plain) != std::string::npos) return {};
  std::string name = place.substr(1) + ".paddock";
  std::ranges::replace(name, '/', '.');
  return "cat >/etc/apparmor.d/" + name + " <<'END'\nabi <abi/4.0>,\nprofile " + name + " " +
         place + "/paddock{,-mcp} flags=(unconfined) {\n  userns,\n}\nEND\n" +
         "apparmor_parser --replace /etc/apparmor.d/" + name + '\n';
}

bool a_person_agrees() {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) return false;
  print_words("\nRun these commands%s now? [y/N] ", ::geteuid() == 0 ? "" : " with sudo");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

bool run_as_root(const std::string& script) {
  std::string text = script;
  std::array<char, 5> sudo{"sudo"};
  std::array<char, 3> shell{"sh"}, stop{"-e"}, command{"-c"};
  std::array<char*, 6> words{sudo.data(), shell.data(), stop.data(), command.data(), text.data()};
  char** const argv = words.data() + (::geteuid() == 0 ? 1 : 0);
  pid_t child = 0;
  int status = 1;
  return ::posix_spawnp(&child, argv[0], nullptr, nullptr, argv, environ) == 0 &&
         ::waitpid(child, &status, 0) == child && status == 0;
}

} // namespace

fix_outcome fix_namespaces() {
  const auto* const found = std::ranges::find_if(settings, refuses);
  if (found == settings.end()) return fix_outcome::nothing_known;
  print_words("This system blocks user namespaces for this user: %s = %s.\n",
              std::string(found->name).c_str(), std::string(found->refused).c_str());
  const std::string script = found->wanted.empty() ? load_profile() : set_it(*found);
  if (script.empty()) {
    print_words("The path of these programs has special characters: install them elsewhere.\n");
    return fix_outcome::not_made;
  }
  print_words("As root, these commands allow them%s:\n\n%s",
              found->wanted.empty() ? ", to whatever program is at this path" : "", script.c_str());
  if (!a_person_agrees()) return fix_outcome::not_made;
  if (run_as_root(script)) return fix_outcome::made;
  print_words("The commands failed.\n");
  return fix_outcome::not_made;
}

} // namespace paddock::cli
