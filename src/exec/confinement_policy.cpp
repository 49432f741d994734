// SPDX-License-Identifier: MIT
#include "exec/confinement_policy.hpp"

#include "exec/protocol/exec_protocol.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <system_error>

namespace paddock::confine {
namespace {

// The helper has no C++ library, so it knows the layers from a list of its own: the same names in
// the same order.
static_assert(layer_count == std::size(confinement_layers));
#define PADDOCK_ENTRY(name, wire, usual, text, advice)                                             \
  static_assert(static_cast<unsigned>(confine::name) ==                                            \
                static_cast<unsigned>(confinement_layer::name));
PADDOCK_CONFINEMENT_LAYERS(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
static_assert(sizeof(sys::exec_policy::wanted) >= layer_count);

constexpr error unusable{error_code::invalid_argument, 0, "policy"};

bool has_nul(const std::string& text) {
  return text.find('\0') != std::string::npos;
}

/// Absolute and without anything that means another path: ".", "..", "//", a slash at the end.
bool is_plain_path(const std::string& path) {
  if (path.size() < 2 || path[0] != '/' || has_nul(path)) return false;
  std::string_view rest(path);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view component = rest.substr(0, rest.find('/'));
    if (component.empty() || component == "." || component == "..") return false;
    rest.remove_prefix(component.size());
  }
  return true;
}

void append(std::string& bytes, std::span<const std::string> strings) {
  for (const std::string& text : strings)
    bytes.append(text.c_str(), text.size() + 1);
}

/// The names of the steps among `bits` that were taken, each once.
std::string names_of(std::uint32_t bits) {
  std::string names;
  for (unsigned i = 0; i < step_count; ++i) {
    if ((bits >> i & 1U) == 0 || names.ends_with(step_texts[i])) continue;
    if (!names.empty()) names += ", ";
    names += step_texts[i];
  }
  return names;
}

/// The path that the helper could not make visible, if it was one.
std::string unreachable_of(const confinement_policy& policy, const enforcement& taken) {
  std::size_t index = taken.unreachable;
  if (index < policy.read_paths.size()) return policy.read_paths[index];
  index -= policy.read_paths.size();
  return index < policy.write_paths.size() ? policy.write_paths[index] : std::string();
}

std::string failure_of(step which, const confinement_policy& policy, const enforcement& taken) {
  const std::int32_t result = taken.results[static_cast<unsigned>(which)];
  std::string why = step_texts[static_cast<unsigned>(which)];
  if (which == step::paths) why.append(" ").append(unreachable_of(policy, taken));
  why += ": ";
  why += result == enforcement::not_tried ? "not tried" : std::generic_category().message(result);
  return why;
}

/// Why the layer is not, or not fully, there.
std::string missing_of(layer which, const confinement_policy& policy, const enforcement& taken) {
  const layer_rule& rule = layer_rules[which];
  const bool applied = is_applied(which, taken);
  if (applied && (taken.has(rule.strongest) || rule.opening == nullptr)) return {};
  const std::uint32_t lacking = lacking_of(which, taken);
  std::string missing;
  for (unsigned i = 0; i < step_count; ++i) {
    if ((lacking >> i & 1U) == 0) continue;
    if (!missing.empty()) missing += "; ";
    missing += failure_of(static_cast<step>(i), policy, taken);
  }
  if (applied) missing = std::string(rule.opening) + " (" + missing + ")";
  return missing;
}

} // namespace

result<std::string> encode(const confinement_policy& policy, const entries_to_protect& entries) {
  if (!std::ranges::all_of(policy.read_paths, is_plain_path) ||
      !std::ranges::all_of(policy.write_paths, is_plain_path) ||
      !std::ranges::all_of(policy.protected_names, is_valid) ||
      !std::ranges::all_of(policy.read_only_paths, is_plain_path) || has_nul(policy.search_path) ||
      has_nul(policy.home))
    return unusable;
  std::string strings;
  append(strings, policy.read_paths);
  append(strings, policy.write_paths);
  for (const auto& [how, path, rule] : entries.list)
    (strings += static_cast<char>(how)).append(path.c_str(), path.size() + 1);
  append(strings, std::array{policy.search_path, policy.home});
  if (strings.size() > sys::exec_policy_bytes_max - sizeof(sys::exec_policy)) return unusable;
  sys::exec_policy fixed{.bytes = static_cast<std::uint32_t>(sizeof fixed + strings.size()),
                         .read_paths = static_cast<std::uint32_t>(policy.read_paths.size()),
                         .write_paths = static_cast<std::uint32_t>(policy.write_paths.size()),
                         .protected_entries = static_cast<std::uint32_t>(entries.list.size()),
                         .wanted = {},
                         .memory_bytes = policy.bounds.memory_bytes,
                         .processes = policy.bounds.processes,
                         .file_size_bytes = policy.bounds.file_size_bytes,
                         .cpu_seconds = policy.bounds.cpu_seconds};
  for (const confinement_layer which : confinement_layers)
    fixed.wanted[static_cast<std::size_t>(which)] = static_cast<std::uint8_t>(policy.wanted(which));
  std::string bytes(reinterpret_cast<const char*>(&fixed), sizeof fixed);
  return bytes + strings;
}

confinement_report describe(const confinement_policy& policy, const enforcement& taken) {
  confinement_report report;
  for (layer_report& row : report.layers) {
    row.wanted = policy.wanted(row.layer);
    if (row.wanted == demand::off) continue;
    const auto which = static_cast<layer>(row.layer);
    const layer_rule& rule = layer_rules[which];
    row.applied = is_applied(which, taken);
    if (row.applied)
      row.mechanism =
          names_of((rule.any | rule.all | rule.also | rule.otherwise) & steps_done(taken));
    row.missing = missing_of(which, policy, taken);
  }
  return report;
}

confinement_report describe_unknown(const confinement_policy& policy, std::string_view reason) {
  confinement_report report;
  for (layer_report& row : report.layers) {
    row.wanted = policy.wanted(row.layer);
    if (row.wanted != demand::off) row.missing = reason;
  }
  return report;
}

} // namespace paddock::confine
