// SPDX-License-Identifier: MIT

// The table of denied system calls, judged by the kernel: a confined command makes a call of each
// number, and of each other ABI that the kernel has.

#include "exec/protocol/denied_calls.hpp"
#include "support/process/command_fixture.hpp"

#include <gmock/gmock.h>

#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <sstream>

namespace paddock::test {
namespace {

namespace filter = confine::filter;
using filter::check;

constexpr int allowed = EXFULL, without_arguments = 0, with_all_bits = 1, tried = 1024;

/// How a call ends that the table has, where the command has namespaces of its own.
bool is_denied(check when, int bits, bool traces) {
  switch (when) {
  case check::always:
  case check::socket:
  case check::socket_pair:
    return true;
  case check::tracing:
    return !traces;
  case check::new_namespace:
  case check::creat:
  case check::chmod:
  case check::chmodat:
  case check::open:
  case check::openat:
  case check::mknod:
  case check::mknodat:
  case check::rename:
    return bits == with_all_bits;
  case check::other_process:
  case check::others_priority:
  case check::others_io:
  case check::device_request:
  case check::new_personality:
  case check::attribute:
  case check::fcntl:
  case check::truncate:
  case check::signal:
    return false;
  }
  return false;
}

class SystemCalls : public command_fixture {
protected:
  [[nodiscard]] command_outcome probe(long first, const confinement_policy& policy) const {
    command asked = make({PADDOCK_TEST_CALL_PROBE, std::to_string(first)});
    asked.confinement = policy;
    asked.confinement.read_paths = {PADDOCK_TEST_CALL_PROBE};
    auto r = run(asked);
    EXPECT_THAT(r, IsOk());
    EXPECT_EQ(r->exit_code, 0) << r->err.text();
    return std::move(*r);
  }

  void expect_table(const confinement_policy& policy) const {
    std::map<long, const filter::denied_call*> table;
    constexpr bool x86_64 = confine::filter_arch::native == confine::filter_arch::x86_64;
    for (const filter::denied_call& each : filter::denied_calls)
      table.emplace(x86_64 ? each.number.x86_64 : each.number.aarch64, &each);
    std::istringstream lines(std::string(probe(0, policy).out.text()));
    for (long number = 0; number < tried; ++number) {
      const auto found = table.find(number);
      const bool is_x32 = x86_64 && number >= 512 && number < 548;
      for (const int bits : {without_arguments, with_all_bits}) {
        int told = 0;
        ASSERT_TRUE(lines >> told);
        int expected = is_x32 ? ENOSYS : allowed;
        if (found != table.end() && is_denied(found->second->when, bits, policy.tracing))
          expected = found->second->error;
        EXPECT_EQ(told, expected) << number << (bits != 0 ? " with all bits set" : "");
      }
    }
  }

  /// How a 32-bit program ends that calls exit(42), and can do nothing else.
  [[nodiscard]] command_outcome run_32_bits(const confinement_policy& policy) const {
#if defined(__x86_64__)
    constexpr char machine = 3;
    const std::string code("\xb8\1\0\0\0\xbb\x2a\0\0\0\xcd\x80", 12);
#else
    constexpr char machine = 40;
    const std::string code("\x01\x70\xa0\xe3\x2a\x00\xa0\xe3\x00\x00\x00\xef", 12);
#endif
    std::string program("\x7f"
                        "ELF\1\1\1\0\0\0\0\0\0\0\0\0"          // 32 bits, little-endian
                        "\2\0M\0\1\0\0\0\x54\0\1\0\x34\0\0\0"  // a program, its entry, its segments
                        "\0\0\0\0\0\0\0\5\x34\0\x20\0\1\0\0\0" // EABI 5
                        "\0\0\0\0"                             // no sections
                        "\1\0\0\0\0\0\0\0\0\0\1\0\0\0\1\0"     // loaded from 0 at 0x10000
                        "\x60\0\0\0\x60\0\0\0\5\0\0\0\0\0\1\0", // 96 bytes, to read and run
                        84);
    program[18] = machine;
    tree_.file("program", program + code);
    ::chmod((tree_ / "program").c_str(), 0755);
    command asked = make({"./program"});
    asked.confinement = policy;
    auto r = run(asked);
    EXPECT_THAT(r, IsOk());
    return std::move(*r);
  }

  [[nodiscard]] static bool is_complete() {
    const auto report = probe_confinement({}, PADDOCK_TEST_HELPER);
    return report && report->complete();
  }
};

TEST_F(SystemCalls, OfEachNumberAreDeniedAsTheTableSays) {
  if (!is_complete()) GTEST_SKIP() << "a layer is unavailable";
  expect_table({});
}

TEST_F(SystemCalls, OfADebuggerAreDeniedAsTheTableSays) {
  if (!is_complete()) GTEST_SKIP() << "a layer is unavailable";
  confinement_policy policy;
  policy.tracing = true;
  expect_table(policy);
}

TEST_F(SystemCalls, AreNotDeniedByTheProbe) {
  const std::string all(probe(0, confinement_policy::host()).out.text());
  std::istringstream lines(all);
  for (int told = 0; lines >> told;)
    EXPECT_EQ(told, allowed);
}

#if defined(__x86_64__)
TEST_F(SystemCalls, OfTheSecondAbiDoNotExist) {
  if (!is_complete()) GTEST_SKIP() << "a layer is unavailable";
  std::istringstream lines(std::string(probe(0x4000'0000, {}).out.text()));
  for (int told = 0; lines >> told;)
    EXPECT_EQ(told, ENOSYS);
}
#endif

TEST_F(SystemCalls, Of32BitsEndTheCommand) {
  if (run_32_bits(confinement_policy::host()).exit_code != 42)
    GTEST_SKIP() << "this machine runs no 32-bit programs";
  if (!is_complete()) GTEST_SKIP() << "a layer is unavailable";
  const command_outcome ended = run_32_bits({});
  EXPECT_EQ(ended.signal, SIGSYS) << ended.exit_code.value_or(-1);
}

} // namespace
} // namespace paddock::test
