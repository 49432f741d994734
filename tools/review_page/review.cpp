// SPDX-License-Identifier: MIT
#include "review.hpp"

#include "api.hpp"
#include "page/application.hpp"

#include <span>
#include <utility>

namespace paddock::review_page {

[[nodiscard]] std::span<const page::asset> assets() noexcept; // made by embed.py

int serve_review(reviewed of, std::uint16_t port) {
  return page::serve({.command = "paddock review",
                      .assets = assets(),
                      .operations = operations(std::move(of)),
                      .image_sources = "'self' blob:"},
                     port);
}

} // namespace paddock::review_page
