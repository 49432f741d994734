// SPDX-License-Identifier: MIT

// What is no regular file, and what lies on another file system.

#include "corpus.hpp"
#include "support/process/process.hpp"

#include <sys/ioctl.h>
#include <sys/sysmacros.h>

namespace paddock::test::corpus {
namespace {

using enum action;
using enum error_code;

/// Refused without waiting for a peer and without being touched.
std::vector<attempt> never_opened(const std::string& path) {
  return join({all({read, write, append, edit}, path, refused(not_regular)),
               all({list, enter, remove_directory, remove_tree}, path, refused(not_a_directory)),
               all({inspect}, path, gives(path))});
}

void make_node(scene& s, const char* name, mode_t mode, dev_t device = 0) {
  const std::string path = s.ws() + '/' + name;
  // The mode of mknod is cut by the umask.
  if (::mknod(path.c_str(), mode | 0666, device) != 0 || ::chmod(path.c_str(), 0666) != 0)
    s.lacking = "making a device needs privilege";
}

/// The workspace has somebody's terminal in it, and the caller has none.
void arrange_terminal(scene& s) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || ::grantpt(master) != 0 || ::unlockpt(master) != 0) {
    s.lacking = "no pseudo terminals";
    return;
  }
  const char* name = ::ptsname(master);
  if (::chmod(name, 0666) != 0 || !bind_mount(name, s.ws() + "/tty"))
    s.lacking = "a terminal cannot be mounted";
  EXPECT_GE(::setsid(), 0);
}

bool has_a_terminal() {
  const file_descriptor mine(::open("/dev/tty", O_RDWR | O_CLOEXEC));
  return static_cast<bool>(mine);
}

std::vector<row> nodes() {
  return {
      {.id = "P31",
       .name = "fifo_to_read",
       .build = [](scene& s) { make_node(s, "fifo", S_IFIFO); },
       // More of them than any pool of workers is likely to have.
       .attempts =
           join({all({read, read, read, read, read, edit, append}, "fifo", refused(not_regular)),
                 all({read}, "f", gives("inside"))}),
       .through = reach::over_the_pipe},
      {.id = "P32",
       .name = "fifo_to_write",
       .build =
           [](scene& s) {
             make_node(s, "fifo", S_IFIFO);
             s.tree().link("ws/l", "fifo");
           },
       .attempts =
           join({never_opened("fifo"), all({read, write, append}, "l", refused(not_regular)),
                 all({remove_file}, "fifo", gives("fifo"))})},
      {.id = "P33",
       .name = "socket",
       .build = [](scene& s) { make_node(s, "socket", S_IFSOCK); },
       .attempts = never_opened("socket")},
      {.id = "P34",
       .name = "device",
       .build =
           [](scene& s) {
             make_node(s, "zero", S_IFCHR, makedev(1, 5));
             make_node(s, "full", S_IFCHR, makedev(1, 7));
             make_node(s, "block", S_IFBLK, makedev(7, 200));
           },
       .attempts = join({never_opened("zero"), never_opened("full"), never_opened("block")}),
       .need = needs::privilege},
      {.id = "P35",
       .name = "terminal",
       .build = [](scene& s) { s.tree().file("ws/tty"); },
       .arrange = arrange_terminal,
       .attempts = never_opened("tty"),
       .check =
           [](session& s) {
             if (s.how.interface == interface::program) return; // it has a session of its own
             EXPECT_FALSE(has_a_terminal()) << "an operation took the terminal";
             const file_descriptor naive(
                 ::open((s.at.ws() + "/tty").c_str(), O_RDONLY | O_NONBLOCK));
             EXPECT_TRUE(naive);
             EXPECT_TRUE(has_a_terminal()) << "there was none to be taken";
           },
       .need = needs::mounts},
      {.id = "P36",
       .name = "directory_as_a_file",
       .attempts =
           join({all({read, write, append, edit, remove_file}, "a", refused(is_a_directory)),
                 all({write, append, edit, remove_file}, "a/b/", refused(is_a_directory))})},
  };
}

void mount_procfs(scene& s) {
  if (::mount("proc", (s.ws() + "/p").c_str(), "proc", 0, nullptr) != 0)
    s.lacking = "procfs cannot be mounted";
}

void mount_volume(scene& s) {
  if (!bind_mount(s.tree() / "volume", s.ws() + "/e")) s.lacking = "bind mounts are refused";
}

void make_volume(scene& s) {
  s.tree().directory("volume/sub");
  s.tree().directory("ws/e");
  s.tree().file("volume/data", inside_mark);
  s.tree().file("volume/sub/data", inside_mark);
  s.tree().link("volume/back", "../f");
  s.tree().link("volume/absolute", "/etc/passwd");
  s.tree().link("ws/through", "e/data");
}

std::vector<attempt> refused_on_one_file_system(const std::string& path) {
  std::vector<attempt> attempts;
  for (const auto what : {read, write, append, edit, inspect, enter})
    attempts.push_back(
        {.what = what, .path = path, .want = refused(crosses_mount), .mounted = mounts::refuse});
  return attempts;
}

std::vector<row> mounted() {
  return {
      {.id = "P17",
       .name = "magic_links",
       .directories = {"p"},
       .arrange = mount_procfs,
       .attempts = join({every_following("p/self/root/etc/passwd", magic_link),
                         every_following("p/self/cwd/f", magic_link),
                         all({read, inspect, list, enter}, "p/self/fd/0", refused(magic_link)),
                         all({read, inspect, list, enter}, "p/self/exe", refused(magic_link)),
                         all({write, append, edit}, "p/self/exe", refused(crosses_mount))}),
       .need = needs::mounts},
      {.id = "P18",
       .name = "procfs",
       .directories = {"p"},
       .links = {{"l", "p/self/status"}},
       .arrange = mount_procfs,
       .attempts = join({all({read, inspect}, "p/self/status", refused(crosses_mount)),
                         all({write, append, edit}, "p/self/comm", refused(crosses_mount)),
                         all({read, inspect}, "l", refused(crosses_mount)),
                         all({list, enter}, "p/self", refused(crosses_mount)),
                         all({remove_tree, remove_directory}, "p", refused(read_only)),
                         refused_on_one_file_system("p/self/comm")}),
       .need = needs::mounts},
      {.id = "P19",
       .name = "mounted_volume", // whoever runs the machine has put it there
       .build = make_volume,
       .arrange = mount_volume,
       .attempts = join(
           {all({read}, "e/data", gives("inside")), all({read}, "through", gives("inside")),
            all({read}, "e/../f", gives("inside")), all({write}, "e/new", gives("e/new")),
            all({read}, "e/back", gives("inside")), every_following("e/absolute", absolute_symlink),
            every_following("e/../../out/secret", escapes_root),
            refused_on_one_file_system("e/data"), refused_on_one_file_system("through"),
            refused_on_one_file_system("e/new2")}),
       .check =
           [](session& s) {
             EXPECT_EQ("new", s.at.tree().content("volume/new"));
             EXPECT_FALSE(s.at.tree().exists("volume/new2"));
           },
       .need = needs::mounts},
      {.id = "P58",
       .name = "move_across_mounts",
       .build = make_volume,
       .arrange = mount_volume,
       .attempts = {{.what = move, .path = "f", .want = refused(crosses_mount), .other = "e/f"},
                    {.what = move, .path = "e/data", .want = refused(crosses_mount), .other = "d"},
                    {.what = move, .path = "a", .want = refused(crosses_mount), .other = "e/a"},
                    {.what = move, .path = "e", .want = refused(crosses_mount), .other = "d"}},
       .check =
           [](session& s) { // nor copied
             EXPECT_EQ("inside", s.at.tree().content("ws/f"));
             EXPECT_FALSE(s.at.tree().exists("volume/f"));
             EXPECT_FALSE(s.at.tree().exists("ws/d"));
           },
       .need = needs::mounts},
      {.id = "P66",
       .name = "mount_inside_a_removed_tree",
       .build =
           [](scene& s) {
             make_volume(s);
             s.tree().directory("ws/d/inner");
             s.tree().file("ws/d/file");
           },
       .arrange =
           [](scene& s) {
             mount_volume(s);
             if (!bind_mount(s.tree() / "volume", s.ws() + "/d/inner") ||
                 !bind_mount(s.tree() / "volume/data", s.ws() + "/d/file"))
               s.lacking = "bind mounts are refused";
           },
       .attempts = join({all({remove_tree, remove_directory}, "e", refused(crosses_mount)),
                         all({remove_tree}, "d/inner", refused(crosses_mount)),
                         all({remove_tree}, "d", refused(crosses_mount)),
                         all({remove_tree}, "e/sub", gives("e/sub"))}), // all on one side
       .check =
           [](session& s) {
             EXPECT_EQ("inside", s.at.tree().content("volume/data"));
             EXPECT_TRUE(s.at.tree().exists("ws/d/inner/data"));
           },
       .need = needs::mounts},
  };
}

} // namespace

std::vector<row> special_file_rows() {
  auto rows = nodes();
  for (auto& r : mounted())
    rows.push_back(std::move(r));
  return rows;
}

} // namespace paddock::test::corpus
