// SPDX-License-Identifier: MIT

// What keeps the commands of a server from running or from writing: one trial, by which healthCheck
// and exec go, in the words that they share with --check and doctor.

#include "exec/confinement_policy.hpp"
#include "mcp/tools/command_request.hpp"
#include "mcp/tools/exec_report.hpp"
#include "mcp/tools/tools.hpp"
#include "sys/process.hpp"
#include "sys/syscall.hpp"

#include <paddock/exec/command.hpp>
#include <paddock/mcp/workspace_tools.hpp>

#include <fcntl.h>

#include <algorithm>
#include <system_error>

namespace paddock::mcp {
namespace {

/// Whether only --require-confinement asks for what is missing.
bool is_required_by_option_alone(const confinement_report& report) {
  const confinement_policy usual;
  return std::ranges::none_of(report.layers, [&](const layer_report& row) {
    return row.wanted == demand::required && !row.applied &&
           usual.wanted(row.layer) == demand::required;
  });
}

/// The user who owns the workspace, where commands of root without its privileges cannot write it.
std::optional<std::uint32_t> owner_in_the_way(const root& root, const confinement_report& report) {
  constexpr std::uint32_t others_write = 0002;
  const layer_report& layer = report.of(confinement_layer::privileges);
  if (sys::effective_uid() != 0 || layer.mechanism.find("no capabilities") == std::string::npos)
    return std::nullopt;
  const auto found = root.open_beneath(".", access::inspect);
  if (!found || found->status.uid == 0 || (found->status.mode & others_write) != 0)
    return std::nullopt;
  return found->status.uid;
}

} // namespace

std::string remedy_of(const confinement_report& report) {
  std::string remedy = report.remedies();
  if (!remedy.empty()) remedy += "; or ";
  if (is_required_by_option_alone(report))
    return remedy +
           "start the server without --require-confinement (these layers are then told as missing)";
  return remedy + "start the server with --exec best-effort (as confined as this system allows) or "
                  "--exec host (not confined)";
}

command_trouble trouble_of(const root& root, const std::string& helper,
                           const result<confinement_report>& tried) {
  if (!tried && helper.empty() && !find_command_helper())
    return {.text = missing_helper_text(), .refused = true};
  if (!tried) {
    std::string why = "are refused: the trial failed: " + std::string(text(tried.error().code));
    if (tried.error().os_errno != 0)
      why += " (" + std::generic_category().message(tried.error().os_errno) + ")";
    return {.text = why + "; paddock doctor says more", .refused = true};
  }
  if (!tried->satisfied())
    return {.text = "are refused:" + tried->unmet() + "; " + remedy_of(*tried), .refused = true};
  if (const auto owner = owner_in_the_way(root, *tried))
    return {.text = "cannot write the workspace: it belongs to user " + std::to_string(*owner) +
                    ", and they run as root without its privileges; run the server as user " +
                    std::to_string(*owner)};
  if (const auto may = sys::faccessat(AT_FDCWD, root.path().c_str(), W_OK); !may)
    return {.text = "cannot write the workspace: " + std::string(text(may.error().code)) +
                    "; make it writable for this user, or serve with --read-only"};
  return {};
}

std::optional<confinement_trial> confinement_verdict(workspace_state& state, call& c) {
  const confinement_policy& policy = state.options.confinement;
  if (state.options.exec == exec_mode::off || state.options.access == workspace_access::read_only)
    return std::nullopt;
  const auto is_there = [](const std::string& path) {
    return sys::faccessat(AT_FDCWD, path.c_str(), F_OK).has_value();
  };
  const bool all_there = std::ranges::all_of(policy.read_paths, is_there) &&
                         std::ranges::all_of(policy.write_paths, is_there);
  const std::lock_guard guard(state.confinement_mutex);
  if (!state.confinement || all_there != state.paths_there) {
    c.may_block();
    auto found = probe_confinement(policy, state.options.exec_helper, state.root->descriptor());
    if (!found) {
      state.confinement.reset(); // the next one tries again
      auto trouble = trouble_of(*state.root, state.options.exec_helper, found);
      return confinement_trial{confine::describe_unknown(policy, trouble.text), trouble, false};
    }
    state.paths_there = all_there;
    state.confinement = *std::move(found);
  }
  return confinement_trial{*state.confinement,
                           trouble_of(*state.root, state.options.exec_helper, *state.confinement)};
}

std::optional<tool_result> refuse_unconfined(workspace_state& state, call& c) {
  const confinement_policy& policy = state.options.confinement;
  const bool is_required = std::ranges::any_of(confinement_layers, [&](confinement_layer layer) {
    return policy.wanted(layer) == demand::required;
  });
  if (!is_required) return std::nullopt;
  const auto trial = confinement_verdict(state, c);
  if (!trial || !trial->was_made || trial->report.satisfied()) return std::nullopt;
  return not_confined(trial->report);
}

void note_confinement(workspace_state& state, const confinement_report& met) {
  const std::lock_guard guard(state.confinement_mutex);
  if (!state.confinement) return;
  for (const layer_report& layer : met.layers)
    if (layer.applied != state.confinement->of(layer.layer).applied) {
      state.confinement.reset();
      return;
    }
}

} // namespace paddock::mcp
