// SPDX-License-Identifier: MIT
#include "precompiled/tests.hpp"
#include "sys/shared_library.hpp"

#include <link.h>

// A library that others load when they need it: it may not be there, or come later.

namespace paddock::sys {
namespace {

#define MATHS(X) X(, cos) X(, cosh)
struct maths {
  double (*cos)(double) = nullptr;
  double (*cosh)(double) = nullptr;
  bool are_there = false;
};

class LoadedFunctions : public ::testing::Test {
protected:
  void SetUp() override {
    void* const library = ::dlopen("libm.so.6", RTLD_NOW);
    ASSERT_NE(library, nullptr);
    link_map* loaded = nullptr;
    ASSERT_EQ(::dlinfo(library, RTLD_DI_LINKMAP, &loaded), 0);
    there_ = std::filesystem::canonical(loaded->l_name);
    std::string pattern = ::testing::TempDir() + "paddock-library-XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    library_ = folder_ / "lib.so";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const maths& get() {
    return functions_.get(library_.c_str(), [](const shared_library& library, maths& found) {
      return true MATHS(PADDOCK_FIND_FUNCTION);
    });
  }

  std::filesystem::path there_, folder_, library_;
  loaded_functions<maths> functions_;
};

TEST_F(LoadedFunctions, AreLookedForAgainUntilTheyAreThere) {
  EXPECT_FALSE(get().are_there);
  EXPECT_FALSE(get().are_there);
  std::filesystem::create_symlink(there_, library_);
  ASSERT_TRUE(get().are_there);
  EXPECT_EQ(get().cos(0), 1);
}

TEST_F(LoadedFunctions, AreKeptOnceTheyAreThere) {
  std::filesystem::create_symlink(there_, library_);
  const maths& first = get();
  ASSERT_TRUE(first.are_there);
  std::filesystem::remove(library_);
  EXPECT_EQ(&get(), &first);
  EXPECT_EQ(get().cosh(0), 1);
}

TEST_F(LoadedFunctions, AreNotThereWithoutOneOfThem) {
  std::filesystem::create_symlink(there_, library_);
  const auto find = [](const shared_library& library, maths& found) {
    void (*other)() = nullptr;
    return library.find(found.cos, "cos") && library.find(other, "no_such_function_of_maths");
  };
  const maths& found = functions_.get(library_.c_str(), find);
  EXPECT_FALSE(found.are_there);
  EXPECT_EQ(found.cos, nullptr);
  EXPECT_TRUE(get().are_there); // the control: the library has what is asked for now
}

TEST_F(LoadedFunctions, AreNotThereInWhatIsNoLibrary) {
  std::filesystem::copy_file("/proc/self/maps", library_);
  EXPECT_FALSE(get().are_there);
}

} // namespace
} // namespace paddock::sys
