// SPDX-License-Identifier: MIT
#pragma once

// What confines a command, step by step, and which layers a set of steps amounts to. The helper
// program takes the steps and decides by this header whether a required layer is missing; the
// library makes its report by the same header. Included by a program without the C++ library.

#include <paddock/exec/detail/confinement_layers.hpp>

#include <cstdint>

namespace paddock::confine {

// X(enumerator, what it is called in a report)
#define PADDOCK_CONFINEMENT_STEPS(X)                                                               \
  X(namespaces, "namespaces")                                                                      \
  X(paths, "path")                                                                                 \
  X(private_root, "mount namespace")                                                               \
  X(session_scratch, "scratch of the session")                                                     \
  X(masks, "mask")                                                                                 \
  X(locked_masks, "lock of the masks")                                                             \
  X(pid_namespace, "PID namespace")                                                                \
  X(network_namespace, "network namespace")                                                        \
  X(loopback, "loopback of its own")                                                               \
  X(ipc_namespace, "IPC namespace")                                                                \
  X(landlock_paths, "Landlock")                                                                    \
  X(landlock_sockets, "Landlock")                                                                  \
  X(landlock_signals, "Landlock and subreaper")                                                    \
  X(signal_broker, "broker of signals and subreaper")                                              \
  X(control_group, "control group")                                                                \
  X(attributes, "filter of attribute calls")                                                       \
  X(attribute_broker, "broker of attributes")                                                      \
  X(seccomp, "seccomp filter")                                                                     \
  X(no_new_privileges, "no new privileges")                                                        \
  X(capabilities, "no capabilities")                                                               \
  X(bounds, "resource limits")                                                                     \
  X(tree_bounds, "control group of the tree")

enum class step : std::uint8_t {
#define X(name, text) name,
  PADDOCK_CONFINEMENT_STEPS(X)
#undef X
};

inline constexpr const char* step_texts[] = {
#define X(name, text) text,
    PADDOCK_CONFINEMENT_STEPS(X)
#undef X
};
inline constexpr unsigned step_count = sizeof step_texts / sizeof *step_texts;

/// What became of each step.
struct enforcement {
  static constexpr std::int32_t not_tried = -1;
  static constexpr std::int32_t done = 0;

  std::int32_t results[step_count]; ///< not_tried, done, or the errno of the failure
  /// Where the step `paths` failed: which of the policy's read paths and after them write paths.
  std::uint32_t unreachable;

  void clear() {
    for (std::int32_t& result : results)
      result = not_tried;
    unreachable = 0;
  }
  [[nodiscard]] bool has(step which) const { return results[static_cast<unsigned>(which)] == done; }
  void set(step which, std::int32_t result) { results[static_cast<unsigned>(which)] = result; }
};

/// The layers by their places in the table, as paddock::confinement_layer has them.
enum layer : std::uint8_t {
#define X(name, wire, usual, text) name,
  PADDOCK_CONFINEMENT_LAYERS(X)
#undef X
      layer_count
};

/// Which steps make up a layer. It is applied when one step of `any` (if there are some), all of
/// `all` and all of `conditions`, which enforce nothing themselves, are done; `also` strengthens
/// it.
struct layer_rule {
  std::uint32_t any;
  std::uint32_t all;
  std::uint32_t also;
  std::uint32_t conditions;
  std::uint32_t otherwise; ///< all needed where `strongest` is not done
  step strongest;          ///< the step of `any` without which something is left open…
  const char* opening;     ///< …namely this; null: nothing
};

constexpr std::uint32_t bit(step which) {
  return std::uint32_t{1} << static_cast<unsigned>(which);
}

inline constexpr layer_rule layer_rules[layer_count] = {
    {bit(step::private_root) | bit(step::landlock_paths), 0,
     bit(step::session_scratch) | bit(step::attribute_broker), bit(step::paths),
     bit(step::attributes), step::private_root,
     "names and attributes of files outside can be seen"},
    {bit(step::network_namespace) | bit(step::seccomp), 0,
     bit(step::loopback) | bit(step::landlock_sockets), 0, 0, step::seccomp,
     "sockets can be made that lead nowhere"},
    {bit(step::pid_namespace) | bit(step::landlock_signals) | bit(step::signal_broker), 0,
     bit(step::control_group), 0, 0, step::pid_namespace, nullptr},
    {0, bit(step::masks) | bit(step::locked_masks), 0, 0, 0, step::masks, nullptr},
    {0, bit(step::ipc_namespace), 0, 0, 0, step::ipc_namespace, nullptr},
    {0, bit(step::no_new_privileges) | bit(step::capabilities) | bit(step::seccomp), 0, 0, 0,
     step::seccomp, nullptr},
    {0, bit(step::bounds), bit(step::tree_bounds), 0, 0, step::bounds, nullptr},
};

constexpr std::uint32_t steps_done(const enforcement& taken) {
  std::uint32_t bits = 0;
  for (unsigned i = 0; i < step_count; ++i)
    if (taken.results[i] == enforcement::done) bits |= std::uint32_t{1} << i;
  return bits;
}

/// All of these, whichever of `any` is done.
constexpr std::uint32_t needed_for(const layer_rule& rule, std::uint32_t bits) {
  const bool strongest_done = (bits & bit(rule.strongest)) != 0;
  return rule.all | rule.conditions | (strongest_done ? 0 : rule.otherwise);
}

constexpr bool is_applied(layer which, const enforcement& taken) {
  const layer_rule& rule = layer_rules[which];
  const std::uint32_t bits = steps_done(taken);
  const std::uint32_t needed = needed_for(rule, bits);
  return (rule.any == 0 || (bits & rule.any) != 0) && (bits & needed) == needed;
}

/// The steps that the layer would be stronger with, or is missing for want of.
constexpr std::uint32_t lacking_of(layer which, const enforcement& taken) {
  const layer_rule& rule = layer_rules[which];
  const std::uint32_t bits = steps_done(taken);
  const std::uint32_t unmet = needed_for(rule, bits) & ~bits;
  const bool one_is_enough = unmet != 0 && (rule.any & bits) != 0;
  return unmet | (one_is_enough ? 0 : rule.any & ~bits);
}

} // namespace paddock::confine
