// SPDX-License-Identifier: MIT
#pragma once

/// What a command is confined by, for the library and for the helper program, which has no C++
/// library: nothing is included here. Part of confinement.hpp.

// The one table of the layers.
// X(enumerator, wire name, demand by default, what it does)
// clang-format off
#define PADDOCK_CONFINEMENT_LAYERS(X)                                                                                              \
  X(file_system,       "file_system", required,    "reads only the workspace and installed programs, writes only the workspace and scratch space") \
  X(network,           "network",     required,    "reaches no network but a loopback of its own, and no socket of another program")\
  X(kill,              "kill",        required,    "nothing that the command started outlives it")                                 \
  X(protected_entries, "protected",   best_effort, "hidden entries of the workspace are out of reach, protected ones read-only")   \
  X(ipc,               "ipc",         best_effort, "shares no memory, message queue or semaphore with other programs")             \
  X(privileges,        "privileges",  best_effort, "holds and gains no privileges; system calls that attack the kernel are denied") \
  X(limits,            "limits",      best_effort, "is bounded in memory, processes, file size and processor time, and dumps no core")
// clang-format on
