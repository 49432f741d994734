// SPDX-License-Identifier: MIT
// The same steps with result and with std::expected have to end the same. Compiled as C++23, where
// the compiler has it; the rest of the toolkit is C++20.
#include "precompiled/tests.hpp"

#include <paddock/base/detailed_error.hpp>
#include <paddock/base/result.hpp>

#if __has_include(<expected>)
#include <expected>
#endif

#if !defined(__cpp_lib_expected)
TEST(ExpectedTwin, BehavesAsStdExpected) {
  GTEST_SKIP() << "no std::expected here";
}
#else

namespace {

using paddock::detailed_error;
using paddock::error;
using paddock::error_code;

/// Copies and moves of it throw when told to.
struct fragile {
  static inline bool throws = false;
  int number = 0;
  fragile(int n) : number(n) {}
  fragile(const fragile& other) : number(other.number) { strike(); }
  fragile(fragile&& other) noexcept(false) : number(other.number) { strike(); }
  fragile& operator=(const fragile& other) {
    strike();
    number = other.number;
    return *this;
  }
  static void strike() {
    if (throws) throw 1;
  }
};

int number_of(int i) {
  return i;
}
int number_of(const std::string& s) {
  return std::stoi(s);
}
int number_of(const fragile& f) {
  return f.number;
}

template <class T> T value_from(int n) {
  if constexpr (std::is_same_v<T, std::string>)
    return std::to_string(n);
  else
    return T(n);
}

/// How each of the two writes an error.
struct ours {
  template <class T> using of = paddock::result<T, detailed_error>;
  static detailed_error failed(std::string why) {
    return {error{error_code::io, 0, "twin"}, std::move(why)};
  }
};
struct theirs {
  template <class T> using of = std::expected<T, detailed_error>;
  static std::unexpected<detailed_error> failed(std::string why) {
    return std::unexpected(ours::failed(std::move(why)));
  }
};

template <class R> std::string state_of(const R& r) {
  return r.has_value() ? "value " + std::to_string(number_of(*r)) : "error " + r.error().detail;
}

/// Runs one step a byte of `plan` on two results, and notes the state after each.
template <class Side, class T> std::vector<std::string> run(const std::string& plan) {
  using held = typename Side::template of<T>;
  held a = value_from<T>(1);
  held b = Side::failed("b");
  std::vector<std::string> states;
  int step = 10;
  for (const char c : plan) {
    ++step;
    try {
      switch (c) {
      case 'a':
        a = b;
        break;
      case 'b':
        b = a;
        break;
      case 'm':
        a = std::move(b);
        b = value_from<T>(step);
        break;
      case 's':
        a = *&a;
        break;
      case 'v':
        a = value_from<T>(step);
        break;
      case 'e':
        a = Side::failed(std::to_string(step));
        break;
      case 'w':
        b = value_from<T>(step);
        break;
      case 'f':
        b = Side::failed(std::to_string(step));
        break;
      case 't':
        fragile::throws = true;
        a = b;
        break;
      case 'c': {
        held copy(b);
        a = copy;
        break;
      }
#if __cpp_lib_expected >= 202211L
      case 'n':
        a = b.and_then([&](const T& t) -> held { return value_from<T>(number_of(t) + 1); });
        break;
#endif
      case 'u':
        states.push_back(std::to_string(number_of(b.value_or(value_from<T>(step)))));
        break;
      default:
        break;
      }
    } catch (int) {
      states.emplace_back("threw");
    }
    fragile::throws = false;
    states.push_back(state_of(a) + ", " + state_of(b));
  }
  return states;
}

constexpr std::string_view steps = "abmsvewftcnu";

/// All plans of three steps, and some long ones.
template <class T> void compare() {
  std::size_t threw = 0;
  for (const char x : steps)
    for (const char y : steps)
      for (const char z : steps) {
        const std::string plan{x, y, z, x, z, y, y, x};
        const auto mine = run<ours, T>(plan);
        ASSERT_EQ(mine, (run<theirs, T>(plan))) << plan;
        for (const std::string& state : mine)
          threw += state == "threw";
      }
  EXPECT_EQ(threw > 0, (std::is_same_v<T, fragile>));
}

TEST(ExpectedTwin, BehavesAsStdExpected) {
  compare<int>();
  compare<std::string>();
  compare<fragile>();
}

TEST(ExpectedTwin, OfNothing) {
  for (const bool good : {true, false}) {
    const paddock::result<void> mine =
        good ? paddock::result<void>() : error{error_code::io, 0, "twin"};
    const std::expected<void, error> theirs =
        good ? std::expected<void, error>() : std::unexpected(error{error_code::io, 0, "twin"});
    EXPECT_EQ(mine.has_value(), theirs.has_value());
    EXPECT_EQ(std::is_trivially_copy_constructible_v<decltype(mine)>,
              std::is_trivially_copy_constructible_v<decltype(theirs)>);
  }
}

} // namespace
#endif
