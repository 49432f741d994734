// SPDX-License-Identifier: MIT
#include "egress/dns_stub.hpp"

#include <array>
#include <cstdint>
#include <optional>

namespace paddock::egress {
namespace {

constexpr std::size_t head_bytes = 12;
constexpr std::size_t label_bytes_max = 63;
constexpr std::size_t name_bytes_max = 255;
constexpr unsigned type_a = 1;
constexpr unsigned type_aaaa = 28;
constexpr unsigned class_internet = 1;
constexpr std::uint32_t seconds_to_live = 60;
constexpr std::uint32_t own_address = (127U << 24U) + 1;

enum class code : unsigned { none = 0, format = 1, no_such_name = 3, not_done = 4 };

unsigned number_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]) * 256U + static_cast<unsigned char>(bytes[at + 1]);
}

struct question {
  std::string name; ///< with dots between its labels, as it was written
  unsigned type = 0;
  unsigned of_class = 0;
  std::size_t end = 0; ///< where it ends in the message
};

std::optional<question> read_question(std::string_view message) {
  question asked;
  std::size_t at = head_bytes;
  while (at < message.size() && message[at] != 0) {
    const std::size_t size = static_cast<unsigned char>(message[at]);
    if (size > label_bytes_max || at + 1 + size >= message.size()) return std::nullopt;
    if (!asked.name.empty()) asked.name += '.';
    const std::string_view label = message.substr(at + 1, size);
    // A dot in a label would read as two.
    asked.name.append(label.find('.') == std::string_view::npos ? label : "?");
    at += 1 + size;
    if (asked.name.size() > name_bytes_max) return std::nullopt;
  }
  if (at + 5 > message.size()) return std::nullopt;
  asked.type = number_at(message, at + 1);
  asked.of_class = number_at(message, at + 3);
  asked.end = at + 5;
  return asked;
}

/// The head and the question again, with a code: complete, or without its records.
std::string head_of(std::string_view message, const question* asked, code how, unsigned records) {
  std::string out(message.substr(0, asked == nullptr ? head_bytes : asked->end));
  // QR and RA are set, opcode and RD are echoed.
  out[2] = static_cast<char>((static_cast<unsigned char>(out[2]) & 0x79U) | 0x80U);
  out[3] = static_cast<char>(0x80U | static_cast<unsigned>(how));
  const std::array<unsigned, 4> counts{asked == nullptr ? 0U : 1U, records, 0, 0};
  for (std::size_t i = 0; i < counts.size(); ++i) {
    out[4 + 2 * i] = 0;
    out[5 + 2 * i] = static_cast<char>(counts[i]);
  }
  return out;
}

void append_number(std::string& out, std::uint32_t value, unsigned bytes) {
  while (bytes-- > 0)
    out += static_cast<char>(value >> (8U * bytes) & 0xffU);
}

std::string with_address(std::string_view message, const question& asked, std::uint32_t address) {
  std::string out = head_of(message, &asked, code::none, 1);
  append_number(out, 0xc000U + head_bytes, 2); // the name of the question
  append_number(out, type_a, 2);
  append_number(out, class_internet, 2);
  append_number(out, seconds_to_live, 4);
  append_number(out, 4, 2);
  append_number(out, address, 4);
  return out;
}

bool is_own(std::string_view name) {
  return name == "localhost" || name.ends_with(".localhost"); // RFC 6761
}

} // namespace

dns_answer answer_question(std::string_view message, const host_list& hosts, name_table& names) {
  constexpr unsigned answers_and_opcode = 0xf8;
  if (message.size() < head_bytes) return {};
  const unsigned flags = static_cast<unsigned char>(message[2]);
  if ((flags & 0x80U) != 0) return {}; // an answer
  if ((flags & answers_and_opcode) != 0) return {head_of(message, nullptr, code::not_done, 0)};
  const auto asked = number_at(message, 4) == 1 ? read_question(message) : std::nullopt;
  if (!asked) return {head_of(message, nullptr, code::format, 0)};
  const auto name = folded_host_name(asked->name);
  const bool is_for_address = asked->type == type_a || asked->type == type_aaaa;
  if (asked->of_class != class_internet || !name || (!is_own(*name) && !hosts.knows(*name)))
    return {head_of(message, &*asked, code::no_such_name, 0), is_for_address ? asked->name : ""};
  if (asked->type != type_a) return {head_of(message, &*asked, code::none, 0)};
  return {with_address(message, *asked, is_own(*name) ? own_address : names.address_of(*name))};
}

} // namespace paddock::egress
