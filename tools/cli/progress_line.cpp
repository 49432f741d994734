// SPDX-License-Identifier: MIT
#include "progress_line.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace paddock::cli {
namespace {

constexpr std::chrono::seconds silence{2};

/// A terminal that can take a line back.
bool is_wanted() {
  const char* const kind = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) != 0 && kind != nullptr && std::string_view(kind) != "dumb";
}

} // namespace

progress_line::progress_line(std::string_view program) : program_(program), wanted_(is_wanted()) {}

void progress_line::make_room(std::string_view output) {
  erase();
  if (!output.empty()) at_line_start_ = output.back() == '\n';
  silent_since_ = clock::now();
}

void progress_line::tick() {
  if (!wanted_ || !at_line_start_) return;
  const auto now = clock::now();
  if (now - silent_since_ < silence) return;
  const auto runs = std::chrono::duration_cast<std::chrono::seconds>(now - began_);
  if (runs == shown_) return;
  shown_ = runs;
  std::fprintf(stderr, "\r\x1b[K%.*s: running for %lld s; Ctrl-C ends it",
               static_cast<int>(program_.size()), program_.data(),
               static_cast<long long>(runs.count()));
  std::fflush(stderr);
}

void progress_line::erase() {
  if (shown_.count() == 0) return;
  shown_ = std::chrono::seconds(0);
  std::fputs("\r\x1b[K", stderr);
  std::fflush(stderr);
}

} // namespace paddock::cli
