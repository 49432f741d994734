// SPDX-License-Identifier: MIT
#pragma once

// What most tests include.

#include "standard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
