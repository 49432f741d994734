// SPDX-License-Identifier: MIT
#ifndef PADDOCK_TEST_PRECOMPILED_TESTS
#define PADDOCK_TEST_PRECOMPILED_TESTS

// What most tests include. (gcc warns of `#pragma once` in a header that is compiled by itself.)

#include "standard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#endif
