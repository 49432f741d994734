// SPDX-License-Identifier: MIT
#ifndef PADDOCK_TEST_PRECOMPILED_TESTS
#define PADDOCK_TEST_PRECOMPILED_TESTS

// What most tests include. (gcc warns of `#pragma once` in a header that is compiled by itself.)

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#endif
