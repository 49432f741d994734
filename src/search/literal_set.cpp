// SPDX-License-Identifier: MIT
#include "search/literal_set.hpp"

#include "sys/processor.hpp"

#include <paddock/base/detail/ascii.hpp>

#include <gsl/assert>

#include <algorithm>
#include <bit>
#include <utility>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace paddock {
namespace {

constexpr std::size_t buckets = 8;
constexpr std::size_t no_place = std::string_view::npos;

using detail::ascii_lower;
using detail::ascii_upper;

/// How often a byte is met in source code, roughly: the commonest have the highest number.
constexpr unsigned frequency(char c) {
  constexpr std::string_view common =
      " etrainosdlcpu_mfh\ngb,();v=.*-y0x/k>w1\t2q\"z&{}:3j[]468#5<79|!+'@%$?\\^~`";
  const std::size_t rank = common.find(ascii_lower(c));
  const unsigned letter = rank == no_place ? 10 : static_cast<unsigned>(200 - 2 * rank);
  return c >= 'A' && c <= 'Z' ? letter / 3 : letter;
}

/// Where the two rarest bytes of a text are. Precondition: it has two.
std::array<std::size_t, 2> rarest_pair(std::string_view text) {
  std::array<std::size_t, 2> best{0, 1};
  const auto rarer = [text](std::size_t a, std::size_t b) {
    return frequency(text[a]) < frequency(text[b]);
  };
  if (rarer(1, 0)) std::swap(best[0], best[1]);
  for (std::size_t at = 2; at < text.size(); ++at)
    if (rarer(at, best[0]))
      best = {at, best[0]};
    else if (rarer(at, best[1]))
      best[1] = at;
  return best;
}

/// Where the rarest bytes of a text begin.
std::size_t rarest(std::string_view text, std::size_t size) {
  std::size_t best = 0;
  unsigned least = ~0u;
  for (std::size_t at = 0; at + size <= text.size(); ++at) {
    unsigned sum = 0;
    for (std::size_t i = 0; i < size; ++i)
      sum += frequency(text[at + i]);
    if (sum < least) {
      least = sum;
      best = at;
    }
  }
  return best;
}

} // namespace

literal_set::literal_set(std::vector<std::string> literals, letters case_of_letters,
                         search_instructions use)
    : letters_(case_of_letters) {
  Expects(!literals.empty() && literals.size() <= literals_max);
  for (std::string& text : literals) {
    Expects(!text.empty());
    const std::size_t offset = rarest(text, std::min(text.size(), window));
    if (letters_ == letters::folded) std::ranges::transform(text, text.begin(), ascii_lower);
    literals_.push_back({std::move(text), offset});
  }
  for (std::size_t i = 0; i < literals_.size(); ++i)
    add(i % buckets, literals_[i]);
  if (literals_.size() == 1 && letters_ == letters::exact && literals_[0].text.size() >= 2)
    pair_ = rarest_pair(literals_[0].text);
  use_instructions(use);
}

literal_set::literal_set(const std::vector<byte_class>& places, search_instructions use)
    : places_(places.size()) {
  Expects(!places.empty() && places.size() <= places_max);
  for (std::size_t place = 0; place < window; ++place) {
    if (place >= places.size()) admit_any(place, 1);
    for (std::size_t byte = 0; place < places.size() && byte < places[place].size(); ++byte)
      if (places[place][byte]) admit(place, static_cast<unsigned char>(byte), 1);
  }
  use_instructions(use);
}

void literal_set::use_instructions(search_instructions use) {
#ifdef __x86_64__
  static const bool has_wide = sys::has_avx2();
  wide_ = use == search_instructions::automatic && has_wide;
#else
  static_cast<void>(use);
#endif
}

void literal_set::admit(std::size_t place, unsigned char byte, std::uint8_t buckets) {
  buckets_of_[place][byte] |= buckets;
  halves_[place].low[byte & 0xF] |= buckets;
  halves_[place].high[byte >> 4] |= buckets;
}

void literal_set::admit_any(std::size_t place, std::uint8_t buckets) {
  for (std::size_t byte = 0; byte < buckets_of_[place].size(); ++byte)
    admit(place, static_cast<unsigned char>(byte), buckets);
}

void literal_set::add(std::size_t bucket, const literal& each) {
  const auto bit = static_cast<std::uint8_t>(1u << bucket);
  for (std::size_t place = 0; place < window; ++place) {
    if (place >= each.text.size()) { // a text shorter than the window: anything may follow
      admit_any(place, bit);
      continue;
    }
    const char c = each.text[each.offset + place];
    admit(place, static_cast<unsigned char>(c), bit);
    if (letters_ == letters::folded) admit(place, static_cast<unsigned char>(ascii_upper(c)), bit);
  }
}

std::size_t literal_set::verify(std::string_view text, std::size_t from, std::size_t at,
                                unsigned candidates) const noexcept {
  if (literals_.empty()) { // halves admit more than the bytes that are meant
    if (text.size() - at < places_) return no_place;
    for (std::size_t place = 0; place < places_; ++place)
      candidates &= buckets_of_[place][static_cast<unsigned char>(text[at + place])];
    return candidates != 0 ? at : no_place;
  }
  for (; candidates != 0; candidates &= candidates - 1) {
    const auto bucket = static_cast<std::size_t>(std::countr_zero(candidates));
    for (std::size_t i = bucket; i < literals_.size(); i += buckets) {
      const literal& each = literals_[i];
      if (at < from + each.offset) continue;
      const std::size_t begin = at - each.offset;
      if (text.size() - begin < each.text.size()) continue;
      const std::string_view found = text.substr(begin, each.text.size());
      const bool same = letters_ == letters::exact
                            ? found == each.text
                            : std::ranges::equal(found, each.text, {}, ascii_lower);
      if (same) return begin;
    }
  }
  return no_place;
}

std::size_t literal_set::find_portably(std::string_view text, std::size_t from,
                                       std::size_t at) const noexcept {
  const auto byte = [text](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  for (; at < text.size(); ++at) {
    const unsigned first = buckets_of_[0][byte(at)];
    if (first == 0) continue;
    const unsigned found = first & buckets_of_[1][byte(at + 1)] & buckets_of_[2][byte(at + 2)];
    if (found == 0) continue;
    if (const std::size_t begin = verify(text, from, at, found); begin != no_place) return begin;
  }
  return no_place;
}

#ifdef __x86_64__
namespace {

__attribute__((target("avx2"), always_inline)) inline __m256i
table_of(const std::array<std::uint8_t, 16>& of) {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(of.data())));
}

} // namespace

__attribute__((target("avx2"))) std::size_t
literal_set::find_by_avx2(std::string_view text, std::size_t from) const noexcept {
  constexpr std::size_t width = 32;
  const __m256i low[window] = {table_of(halves_[0].low), table_of(halves_[1].low),
                               table_of(halves_[2].low)};
  const __m256i high[window] = {table_of(halves_[0].high), table_of(halves_[1].high),
                                table_of(halves_[2].high)};
  const __m256i half = _mm256_set1_epi8(0xF);
  std::size_t at = from;
  for (; at + width + window - 1 <= text.size(); at += width) {
    __m256i candidates = _mm256_set1_epi8(-1);
    for (std::size_t place = 0; place < window; ++place) {
      const __m256i bytes =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + at + place));
      const __m256i by_low = _mm256_shuffle_epi8(low[place], _mm256_and_si256(bytes, half));
      const __m256i by_high =
          _mm256_shuffle_epi8(high[place], _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half));
      candidates = _mm256_and_si256(candidates, _mm256_and_si256(by_low, by_high));
    }
    const __m256i none = _mm256_cmpeq_epi8(candidates, _mm256_setzero_si256());
    auto places = ~static_cast<std::uint32_t>(_mm256_movemask_epi8(none));
    if (places == 0) continue;
    alignas(32) std::array<std::uint8_t, width> of_place;
    _mm256_store_si256(reinterpret_cast<__m256i*>(of_place.data()), candidates);
    for (; places != 0; places &= places - 1) {
      const auto place = static_cast<std::size_t>(std::countr_zero(places));
      const std::size_t begin = verify(text, from, at + place, of_place[place]);
      if (begin != no_place) return begin;
    }
  }
  return find_portably(text, from, at);
}

__attribute__((target("avx2"))) std::size_t
literal_set::find_one_by_avx2(std::string_view text, std::size_t from) const noexcept {
  constexpr std::size_t width = 32;
  const std::string& wanted = literals_[0].text;
  const auto [first, second] = *pair_;
  const __m256i is_first = _mm256_set1_epi8(wanted[first]);
  const __m256i is_second = _mm256_set1_epi8(wanted[second]);
  const auto places = [&](std::size_t at) __attribute__((target("avx2"), always_inline)) {
    const auto bytes_at = [&](std::size_t place) __attribute__((target("avx2"), always_inline)) {
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + place));
    };
    return _mm256_and_si256(_mm256_cmpeq_epi8(bytes_at(at + first), is_first),
                            _mm256_cmpeq_epi8(bytes_at(at + second), is_second));
  };
  std::size_t at = from;
  for (; at + 2 * width + wanted.size() - 1 <= text.size(); at += 2 * width) {
    const __m256i low = places(at), high = places(at + width);
    const __m256i any = _mm256_or_si256(low, high);
    if (_mm256_testz_si256(any, any) != 0) continue;
    std::uint64_t found = static_cast<std::uint32_t>(_mm256_movemask_epi8(high));
    found = found << width | static_cast<std::uint32_t>(_mm256_movemask_epi8(low));
    for (; found != 0; found &= found - 1) {
      const std::size_t begin = at + static_cast<std::size_t>(std::countr_zero(found));
      if (text.compare(begin, wanted.size(), wanted) == 0) return begin;
    }
  }
  return find_portably(text, from, at + literals_[0].offset);
}
#endif

std::size_t literal_set::find(std::string_view text, std::size_t from) const noexcept {
#ifdef __x86_64__
  if (wide_) return pair_ ? find_one_by_avx2(text, from) : find_by_avx2(text, from);
#endif
  return find_portably(text, from, from);
}

} // namespace paddock
