// SPDX-License-Identifier: MIT
#pragma once

// gMock matchers and printers for result<T>: IsOk(), IsError(code), IsError(code, matcher of the
// detail), HoldsValue(matcher).

#include "precompiled/tests.hpp"

#include <paddock/base/detailed_error.hpp>
#include <paddock/base/result.hpp>

#include <ostream>

namespace paddock {

inline void PrintTo(error_code code, std::ostream* out) {
  *out << wire_name(code);
}
inline void PrintTo(const error& e, std::ostream* out) {
  *out << wire_name(e.code) << " (errno " << e.os_errno << ", " << e.operation << ")";
}
inline void PrintTo(const detailed_error& e, std::ostream* out) {
  PrintTo(static_cast<const error&>(e), out);
  *out << ": " << e.detail;
}
template <class T, class E> void PrintTo(const result<T, E>& r, std::ostream* out) {
  if (!r)
    PrintTo(r.error(), out);
  else if constexpr (std::is_void_v<T>)
    *out << "ok";
  else
    *out << "ok: " << testing::PrintToString(*r);
}

namespace test {

MATCHER(IsOk, "") {
  if (!arg) *result_listener << testing::PrintToString(arg.error());
  return arg.has_value();
}

MATCHER_P(IsError, code, std::string("is the error ") + std::string(wire_name(code))) {
  if (arg) return false;
  *result_listener << testing::PrintToString(arg.error());
  return arg.error().code == code;
}

MATCHER_P2(IsError, code, detail, std::string("is the error ") + std::string(wire_name(code))) {
  if (arg) return false;
  *result_listener << testing::PrintToString(arg.error());
  return arg.error().code == code && testing::Matches(detail)(arg.error().detail);
}

MATCHER_P(HoldsValue, inner, "") {
  if (!arg) {
    *result_listener << wire_name(arg.error().code);
    return false;
  }
  return testing::ExplainMatchResult(inner, *arg, result_listener);
}

} // namespace test
} // namespace paddock
