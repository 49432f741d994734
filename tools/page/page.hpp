// SPDX-License-Identifier: MIT
#pragma once

// What makes a page for people: its files, and what its script can ask for under /api. How it is
// served, and to whom, is the same for all of them (application.hpp).

#include "http/server/access.hpp"
#include "http/server/pooled_application.hpp"

#include <paddock/base/error.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paddock::page {

/// A file of a page as it is in the program; embed.py makes a page's table of them.
struct asset {
  std::string_view name; ///< the file's name
  std::string_view content_type;
  std::string_view bytes;
};

/// One request, with its target taken apart.
struct call {
  const http::request& request;
  std::string_view query;

  [[nodiscard]] std::string parameter(std::string_view name) const {
    return http::query_parameter(query, name);
  }
};

/// What can be asked for. On several threads at once.
struct operation {
  std::string_view path;
  std::string_view method;
  std::function<http::answer(const call&)> run;
};

struct definition {
  std::string_view command; ///< that serves it: "paddock skills ui"
  std::span<const asset> assets;
  std::vector<operation> operations;
  std::size_t body_bytes_max = std::size_t{1024} * 1024; ///< of a request
  /// Where images may come from, as Content-Security-Policy says it.
  std::string_view image_sources = "'self'";
};

/// An answer in JSON.
[[nodiscard]] http::answer say(std::string json, int status = 200);
/// A failure: {"error", "message"}, with "field" for an invalid argument.
[[nodiscard]] http::answer say(const error& failure);
/// A failure as a sentence of the page's own.
[[nodiscard]] http::answer refuse(const error& failure, std::string_view message);
[[nodiscard]] int status_of(error_code code);
/// What it is and what helps, as one sentence.
[[nodiscard]] std::string sentence(error_code code);

} // namespace paddock::page
