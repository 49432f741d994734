// SPDX-License-Identifier: MIT
#include "exec/confinement_policy.hpp"
#include "sys/syscall.hpp"

#include <paddock/exec/confinement.hpp>

#include <algorithm>

namespace paddock {

std::string_view wire_name(confinement_layer layer) noexcept {
  switch (layer) {
#define X(name, wire, usual, text)                                                                 \
  case confinement_layer::name:                                                                    \
    return wire;
    PADDOCK_CONFINEMENT_LAYERS(X)
#undef X
  }
  return "unknown";
}

std::string_view text(confinement_layer layer) noexcept {
  switch (layer) {
#define X(name, wire, usual, text)                                                                 \
  case confinement_layer::name:                                                                    \
    return text;
    PADDOCK_CONFINEMENT_LAYERS(X)
#undef X
  }
  return "";
}

std::string_view wire_name(network_reach reach) noexcept {
  switch (reach) {
  case network_reach::none:
    return "none";
  case network_reach::loopback:
    return "loopback";
  case network_reach::hosts:
    return "hosts";
  case network_reach::host_network:
    return "host";
  }
  return "unknown";
}

std::string_view wire_name(scratch_life life) noexcept {
  switch (life) {
  case scratch_life::none:
    return "none";
  case scratch_life::call:
    return "call";
  case scratch_life::session:
    return "session";
  }
  return "unknown";
}

std::string shortfall(const layer_report& row) {
  if (row.wanted == demand::off || row.missing.empty()) return {};
  std::string told = (row.applied ? "not held: " : "missing: ") + row.missing;
  return row.remedy.empty() ? told : told + "; " + row.remedy;
}

bool is_of_system(std::string_view path) noexcept {
  const auto lies_in = [&](std::string_view place) {
    return path.starts_with(place) && (path.size() == place.size() || path[place.size()] == '/');
  };
  return path == "/" || path == "/dev" || lies_in("/proc") || lies_in("/sys");
}

std::string process_variable(const char* name) {
  const std::string_view wanted(name);
  for (const char* const* entry = sys::environment(); entry != nullptr && *entry != nullptr;
       ++entry) {
    const std::string_view variable(*entry);
    if (variable.starts_with(wanted) && variable.substr(wanted.size()).starts_with('='))
      return std::string(variable.substr(wanted.size() + 1));
  }
  return {};
}

confinement_policy confinement_policy::host() {
  confinement_policy policy;
  for (const confinement_layer layer : confinement_layers)
    policy.wanted(layer) = demand::off;
  return policy;
}

confinement_policy confinement_policy::best_effort() {
  confinement_policy policy;
  for (const confinement_layer layer : confinement_layers)
    policy.wanted(layer) = demand::best_effort;
  return policy;
}

demand& confinement_policy::wanted(confinement_layer layer) noexcept {
  switch (layer) {
#define X(name, wire, usual, text)                                                                 \
  case confinement_layer::name:                                                                    \
    return name;
    PADDOCK_CONFINEMENT_LAYERS(X)
#undef X
  }
  return file_system;
}

demand confinement_policy::wanted(confinement_layer layer) const noexcept {
  if (layer == confinement_layer::network && reach == network_reach::host_network)
    return demand::off;
  return const_cast<confinement_policy*>(this)->wanted(layer);
}

confinement_report::confinement_report() noexcept {
  for (const confinement_layer layer : confinement_layers)
    of(layer).layer = layer;
}

bool confinement_report::complete() const noexcept {
  return std::ranges::all_of(layers, [](const layer_report& row) {
    return row.wanted == demand::off || (row.applied && row.missing.empty());
  });
}

bool confinement_report::satisfied() const noexcept {
  return std::ranges::all_of(layers, [](const layer_report& row) {
    return row.wanted != demand::required || row.applied;
  });
}

std::string confinement_report::unmet() const {
  const auto is_unmet = [](const layer_report& row) {
    return row.wanted == demand::required && !row.applied;
  };
  const bool has_cause = std::ranges::any_of(layers, [&](const layer_report& row) {
    return is_unmet(row) && row.missing != confine::not_started;
  });
  std::string list;
  for (const layer_report& row : layers)
    if (is_unmet(row) && !(has_cause && row.missing == confine::not_started))
      list.append(" ").append(wire_name(row.layer)).append(" (").append(row.missing).append(")");
  return list;
}

std::string confinement_report::remedies() const {
  std::string list;
  for (const layer_report& row : layers) {
    const bool wanting = row.wanted == demand::required && !row.applied && !row.remedy.empty();
    if (!wanting || list.find(row.remedy) != std::string::npos) continue;
    list.append(list.empty() ? "" : "; ").append(row.remedy);
  }
  return list;
}

} // namespace paddock
