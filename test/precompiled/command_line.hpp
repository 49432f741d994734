// SPDX-License-Identifier: MIT
#pragma once

// What most sources of the programs include.

#include "standard.hpp"

#include <CLI/CLI.hpp>
