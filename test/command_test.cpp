#include <paddock/command.hpp>
#include <gtest/gtest.h>
#include <fcntl.h>
TEST(Command, Smoke) {
  int fd = open("/tmp", O_PATH|O_DIRECTORY|O_CLOEXEC);
  auto r = paddock::run({.argv={"sh","-c","echo hi; pwd; exit 3"}, .environment={"PATH=/usr/bin:/bin"}, .working_directory=fd, .helper=PADDOCK_TEST_HELPER});
  ASSERT_TRUE(r) << r.error().operation << r.error().os_errno;
  EXPECT_EQ(r->out.head, "hi\n/tmp\n");
  EXPECT_EQ(r->exit_code, 3);
}
