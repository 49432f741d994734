// SPDX-License-Identifier: MIT
#pragma once

// Writes a program of classic BPF, instruction by instruction; its answers are at the end.

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace paddock::confine::filter {

/// Where a jump goes: to the next instruction, over a few, or to one of the answers, which stand
/// at the end of the program. Until `end` the latter are written as their place in this list.
enum target : std::uint8_t {
  next = 0,
  first_answer = 0xf0,
  allow = 0xf0,
  eperm,
  eacces,
  enosys,
  enotsup,
  kill,
  report
};

inline constexpr std::uint32_t answers[] = {
    SECCOMP_RET_ALLOW,          SECCOMP_RET_ERRNO | EPERM,      SECCOMP_RET_ERRNO | EACCES,
    SECCOMP_RET_ERRNO | ENOSYS, SECCOMP_RET_ERRNO | EOPNOTSUPP, SECCOMP_RET_KILL_PROCESS,
    SECCOMP_RET_USER_NOTIF,
};

constexpr target answer_of(std::uint16_t error) {
  if (error == EOPNOTSUPP) return enotsup;
  return error == EACCES ? eacces : error == ENOSYS ? enosys : eperm;
}

class filter_program {
public:
  constexpr filter_program(sock_filter* out, std::size_t capacity)
      : out_(out), capacity_(capacity) {}

  constexpr void load_architecture() { load(offsetof(seccomp_data, arch)); }
  constexpr void load_number() { load(offsetof(seccomp_data, nr)); }
  /// The low half, for every argument that matters is an int to the kernel (both architectures
  /// are little-endian): what is in the high half must not make a difference.
  constexpr void load_argument(std::size_t index) {
    load(offsetof(seccomp_data, args) + index * sizeof(std::uint64_t));
  }
  constexpr void mask(std::uint32_t bits) { add(BPF_ALU | BPF_AND | BPF_K, bits, next, next); }

  constexpr void if_equal(std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    add(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no);
  }
  constexpr void if_at_least(std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    add(BPF_JMP | BPF_JGE | BPF_K, value, yes, no);
  }
  constexpr void if_any_bit(std::uint32_t bits, std::uint8_t yes, std::uint8_t no) {
    add(BPF_JMP | BPF_JSET | BPF_K, bits, yes, no);
  }

  constexpr std::size_t size() const { return size_; }
  /// Lets the instruction at `from` go to the place reached now when its condition does not hold.
  constexpr void land_otherwise(std::size_t from) {
    if (from < capacity_) out_[from].jf = static_cast<std::uint8_t>(size_ - from - 1);
  }

  /// Adds the answers and lets the jumps find them. The number of instructions, 0 when they do
  /// not fit.
  constexpr std::size_t end() {
    const std::size_t first = size_;
    for (const std::uint32_t answer : answers)
      add(BPF_RET | BPF_K, answer, next, next);
    if (size_ > capacity_) return 0;
    for (std::size_t at = 0; at < first; ++at) {
      out_[at].jt = resolved(out_[at].jt, first - at - 1);
      out_[at].jf = resolved(out_[at].jf, first - at - 1);
    }
    return size_;
  }

private:
  constexpr void load(std::size_t offset) {
    add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset), next, next);
  }
  constexpr void add(int code, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    if (size_ < capacity_) out_[size_] = {static_cast<std::uint16_t>(code), yes, no, value};
    ++size_;
  }
  static constexpr std::uint8_t resolved(std::uint8_t place, std::size_t distance) {
    if (place < first_answer) return place;
    return static_cast<std::uint8_t>(distance + (place - first_answer));
  }

  sock_filter* out_;
  std::size_t capacity_;
  std::size_t size_ = 0;
};

} // namespace paddock::confine::filter
