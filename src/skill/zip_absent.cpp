// SPDX-License-Identifier: MIT

// Zip archives in a build without libzip.

#include "skill/source.hpp"

namespace paddock {
namespace {

class absent_reader final : public skill_source_reader {
public:
  result<std::vector<source_entry>> entries(const import_context& in) override {
    return in.refuse(import_refusal::no_zip_support);
  }
  result<void> read(const source_entry&, const import_context& in, const sink&) override {
    return in.refuse(import_refusal::no_zip_support);
  }
};

} // namespace

std::unique_ptr<skill_source_reader> zip_source(std::string_view) {
  return std::make_unique<absent_reader>();
}

} // namespace paddock
