// SPDX-License-Identifier: MIT
#include "sys/syscall.hpp"

#include <paddock/exec/confinement.hpp>

#include <algorithm>

namespace paddock {

std::string_view wire_name(confinement_layer layer) noexcept {
  switch (layer) {
#define X(name, wire, usual, text, advice)                                                         \
  case confinement_layer::name:                                                                    \
    return wire;
    PADDOCK_CONFINEMENT_LAYERS(X)
#undef X
  }
  return "unknown";
}

std::string_view text(confinement_layer layer) noexcept {
  switch (layer) {
#define X(name, wire, usual, text, advice)                                                         \
  case confinement_layer::name:                                                                    \
    return text;
    PADDOCK_CONFINEMENT_LAYERS(X)
#undef X
  }
  return "";
}

std::string_view advice(confinement_layer layer) noexcept {
  switch (layer) {
#define X(name, wire, usual, text, advice)                                                         \
  case confinement_layer::name:                                                                    \
    return advice;
    PADDOCK_CONFINEMENT_LAYERS(X)
#undef X
  }
  return "";
}

std::string_view advice(const layer_report& row) noexcept {
  const std::string_view all = advice(row.layer);
  // A system that holds something of it can: what is missing says what to do in the workspace.
  if (constexpr std::string_view allow = "allow user namespaces, ";
      row.layer == confinement_layer::protected_entries && !row.mechanism.empty())
    return all.substr(all.starts_with(allow) ? allow.size() : 0);
  return row.mechanism.find("Landlock") == std::string::npos
             ? all
             : all.substr(0, all.find(", or use a kernel with Landlock"));
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
#define X(name, wire, usual, text, advice)                                                         \
  case confinement_layer::name:                                                                    \
    return name;
    PADDOCK_CONFINEMENT_LAYERS(X)
#undef X
  }
  return file_system;
}

demand confinement_policy::wanted(confinement_layer layer) const noexcept {
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
  std::string list;
  for (const layer_report& layer : layers)
    if (layer.wanted == demand::required && !layer.applied)
      list.append(" ")
          .append(wire_name(layer.layer))
          .append(" (")
          .append(layer.missing)
          .append(")");
  return list;
}

} // namespace paddock
