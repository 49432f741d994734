// SPDX-License-Identifier: MIT
#pragma once

// Numbers and texts as records and the store of a history have them: little-endian, or seven bits
// to a byte. Pure. A reader that meets an end too early gives zeros from then on and says so.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace paddock {

inline void put_fixed(std::string& to, std::uint64_t value, unsigned bytes) {
  std::array<char, 8> raw;
  for (unsigned i = 0; i < raw.size(); ++i)
    raw[i] = static_cast<char>(static_cast<unsigned char>(value >> (8U * i)));
  to.append(raw.data(), bytes);
}
inline void put_u8(std::string& to, std::uint8_t value) {
  put_fixed(to, value, 1);
}
inline void put_u32(std::string& to, std::uint32_t value) {
  put_fixed(to, value, 4);
}
inline void put_u64(std::string& to, std::uint64_t value) {
  put_fixed(to, value, 8);
}
inline void put_number(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7U)
    put_u8(to, static_cast<std::uint8_t>(value | 0x80));
  put_u8(to, static_cast<std::uint8_t>(value));
}
inline void put_text(std::string& to, std::string_view text) {
  put_number(to, text.size());
  to += text;
}

class byte_reader {
public:
  explicit byte_reader(std::string_view bytes) noexcept : left_(bytes) {}

  std::uint64_t fixed(unsigned bytes) noexcept {
    if (left_.size() < bytes) {
      fail();
      return 0;
    }
    std::uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(left_[i])} << (8U * i);
    left_.remove_prefix(bytes);
    return value;
  }
  std::uint8_t u8() noexcept { return static_cast<std::uint8_t>(fixed(1)); }
  std::uint32_t u32() noexcept { return static_cast<std::uint32_t>(fixed(4)); }
  std::uint64_t u64() noexcept { return fixed(8); }
  std::uint64_t number() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t byte = u8();
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if ((byte & 0x80U) == 0) return value;
    }
    fail();
    return 0;
  }
  std::string_view text() noexcept {
    const std::uint64_t size = number();
    if (size > left_.size()) {
      fail();
      return {};
    }
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(size);
    return bytes;
  }
  [[nodiscard]] bool is_good() const noexcept { return good_; }
  [[nodiscard]] bool at_end() const noexcept { return left_.empty(); }
  [[nodiscard]] std::size_t left() const noexcept { return left_.size(); }
  void fail() noexcept {
    good_ = false;
    left_ = {};
  }

private:
  std::string_view left_;
  bool good_ = true;
};

} // namespace paddock
