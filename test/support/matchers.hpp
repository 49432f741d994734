// SPDX-License-Identifier: MIT
#pragma once

// gMock matchers and printers for result<T>: IsOk(), IsError(code), HoldsValue(matcher).

#include <paddock/base/result.hpp>

#include <gmock/gmock.h>

#include <ostream>

namespace paddock {

inline void PrintTo(error_code code, std::ostream* out) {
  *out << wire_name(code);
}
inline void PrintTo(const error& e, std::ostream* out) {
  *out << wire_name(e.code) << " (errno " << e.os_errno << ", " << e.operation << ")";
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
  if (!arg) {
    *result_listener << wire_name(arg.error().code) << ", errno " << arg.error().os_errno << ", "
                     << arg.error().operation;
    return false;
  }
  return true;
}

MATCHER_P(IsError, code, std::string("is the error ") + std::string(wire_name(code))) {
  if (arg) return false;
  *result_listener << wire_name(arg.error().code) << ", errno " << arg.error().os_errno << ", "
                   << arg.error().operation;
  return arg.error().code == code;
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
