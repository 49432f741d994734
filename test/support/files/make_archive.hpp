// SPDX-License-Identifier: MIT
#pragma once

// A zip archive made by libzip, for tests that are built with it.

#include "precompiled/tests.hpp"

#include <zip.h>

namespace paddock::test {

/// An archive with these files, each a path and its content.
inline void make_archive(const std::string& path,
                         const std::vector<std::pair<const char*, std::string_view>>& files) {
  zip_t* archive = ::zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  ASSERT_NE(archive, nullptr);
  for (const auto& [name, bytes] : files) {
    zip_source_t* source = ::zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
    ASSERT_GE(::zip_file_add(archive, name, source, ZIP_FL_ENC_UTF_8), 0);
  }
  ASSERT_EQ(0, ::zip_close(archive));
}

} // namespace paddock::test
