// SPDX-License-Identifier: MIT
#pragma once

// The names of CLI11 that headers use. Parsing CLI11 takes the compiler two seconds, so only the
// sources that define options include all of it.

namespace CLI {
class App;
class Option;
} // namespace CLI
