// SPDX-License-Identifier: MIT
#include "input.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

namespace paddock::cli {

std::optional<std::string> read_input(const std::string& name, std::string& problem) {
  constexpr std::size_t step = std::size_t{64} * 1024;
  std::ifstream file;
  if (name != "-") file.open(name, std::ios::binary);
  std::istream& in = name == "-" ? std::cin : file;
  std::string bytes;
  while (in && bytes.size() <= input_bytes_max) {
    const std::size_t used = bytes.size();
    bytes.resize(used + step);
    in.read(bytes.data() + used, static_cast<std::streamsize>(step));
    bytes.resize(used + static_cast<std::size_t>(in.gcount()));
  }
  std::error_code none;
  if (name != "-" && std::filesystem::is_directory(name, none))
    problem = "is a directory";
  else if (name != "-" && !std::filesystem::exists(name, none) && !none)
    problem = "is not there";
  else if (in.bad() || (bytes.empty() && !in.eof()))
    problem = "cannot be read";
  else if (bytes.size() > input_bytes_max)
    problem = "has more than 64 MiB";
  if (!problem.empty()) return std::nullopt;
  return bytes;
}

} // namespace paddock::cli
