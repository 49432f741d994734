// SPDX-License-Identifier: MIT
#pragma once

// Finds the next of several short texts in a large one.
//
// Of one text the two bytes that are rarest in source code are looked for, 64 places at a time. Of
// several it is the three bytes together that are, 32 places at a time (the idea is Hyperscan's
// Teddy: shuffles look up, for each byte's halves, which texts it could belong to); what is found
// is then compared. Where a processor has no such instructions the same tables are looked up byte
// by byte.

#include "search/needed_bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// Whether letters count as written. Folded: ASCII letters match both cases.
enum class letters : std::uint8_t { exact, folded };

/// Which instructions are used; tests try each.
enum class search_instructions : std::uint8_t { automatic, portable };

class literal_set {
public:
  static constexpr std::size_t literals_max = 64;
  static constexpr std::size_t places_max = 3;

  /// Precondition: 1 to literals_max texts, none of them empty.
  literal_set(std::vector<std::string> literals, letters case_of_letters,
              search_instructions use = search_instructions::automatic);
  /// Any bytes of these classes side by side. Precondition: 1 to places_max of them.
  explicit literal_set(const std::vector<byte_class>& places,
                       search_instructions use = search_instructions::automatic);

  /// Where one of the texts begins, at `from` or behind; npos: nowhere. Of all such places it is
  /// one in the first line that has any.
  [[nodiscard]] std::size_t find(std::string_view text, std::size_t from) const noexcept;

private:
  static constexpr std::size_t window = places_max; // bytes looked for
  struct literal {
    std::string text;       ///< in lower case when folded
    std::size_t offset = 0; ///< of the window
  };
  struct half_tables {
    alignas(16) std::array<std::uint8_t, 16> low{}, high{};
  };

  void admit(std::size_t place, unsigned char byte, std::uint8_t buckets);
  void admit_any(std::size_t place, std::uint8_t buckets);
  void add(std::size_t bucket, const literal& each);
  void use_instructions(search_instructions use);
  [[nodiscard]] std::size_t verify(std::string_view text, std::size_t from, std::size_t at,
                                   unsigned buckets) const noexcept;
  [[nodiscard]] std::size_t find_portably(std::string_view text, std::size_t from,
                                          std::size_t at) const noexcept;
#ifdef __x86_64__
  [[nodiscard]] std::size_t find_by_avx2(std::string_view text, std::size_t from) const noexcept;
  [[nodiscard]] std::size_t find_one_by_avx2(std::string_view text,
                                             std::size_t from) const noexcept;
#endif

  std::vector<literal> literals_;   ///< none: the bytes themselves are what is looked for
  std::size_t places_ = places_max; ///< then, how many of them
  letters letters_ = letters::exact;
  /// Of a single text that counts as written and has two bytes: where its rarest ones are.
  std::optional<std::array<std::size_t, 2>> pair_;
  bool wide_ = false;                                              ///< AVX2 is there
  std::array<std::array<std::uint8_t, 256>, window> buckets_of_{}; ///< by place and byte
  std::array<half_tables, window> halves_{};
};

} // namespace paddock
