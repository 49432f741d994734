// SPDX-License-Identifier: MIT

// One attempt to get out, per name. Exit code 0: it worked; 1: it was denied; 2: the attempt makes
// no sense here; 3: unknown name. Arguments: NAME OUTSIDE PARENT, where OUTSIDE is a directory that
// belongs to somebody else (with a file "secret", a socket "socket" and another file "victim"),
// beside it visible/file, and PARENT a process outside. The working directory is the workspace. The
// port of the environment is one of 127.0.0.1 at which somebody outside takes TCP and UDP; its
// terminal is somebody else's, and its terminals the device of the file system of that.

#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <net/if.h>
#include <netinet/in.h>
#include <string>
#include <thread>

namespace {

std::string outside;
pid_t parent;

/// A file beside OUTSIDE that may be read.
std::string visible() {
  return outside.substr(0, outside.rfind('/')) + "/visible/file";
}

bool opens(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
  if (fd >= 0) ::close(fd);
  return fd >= 0;
}

std::string of_parent(const char* entry) {
  return "/proc/" + std::to_string(parent) + "/" + entry;
}

/// Not one of the same name in a place of its own.
bool opens_of_another(const char* path, int flags) {
  const char* device = std::getenv("PADDOCK_TEST_TERMINALS");
  const int fd = ::open(path, flags | O_NOCTTY | O_CLOEXEC);
  struct stat status{};
  return fd >= 0 && ::fstat(fd, &status) == 0 && device != nullptr &&
         std::to_string(status.st_dev) == device;
}

bool reads(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char byte;
  return fd >= 0 && ::read(fd, &byte, 1) == 1;
}

bool sends_to(int family, const sockaddr* to, socklen_t size, int type) {
  const int fd = ::socket(family, type | SOCK_CLOEXEC, 0);
  return fd >= 0 && ::connect(fd, to, size) == 0;
}

bool connects_unix(const std::string& path) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, path.data(), std::min(path.size(), sizeof to.sun_path));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  return sends_to(AF_UNIX, reinterpret_cast<const sockaddr*>(&to), size, SOCK_STREAM);
}

sockaddr_in this_machine() {
  const char* port = std::getenv("PADDOCK_TEST_PORT");
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port != nullptr ? std::atoi(port) : 9));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return to;
}

bool connects_tcp() {
  const sockaddr_in to = this_machine();
  return sends_to(AF_INET, reinterpret_cast<const sockaddr*>(&to), sizeof to, SOCK_STREAM);
}

/// The second one fails where nobody has taken the first.
bool sends_datagram() {
  const sockaddr_in to = this_machine();
  const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return fd >= 0 && ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 &&
         ::send(fd, "x", 1, 0) == 1 && ::send(fd, "x", 1, 0) == 1;
}

bool sends_fast_open() {
  const sockaddr_in to = this_machine();
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  return fd >= 0 &&
         ::sendto(fd, "x", 1, MSG_FASTOPEN, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 1;
}

/// A server and a client of the command itself.
bool has_loopback() {
  sockaddr_in here{};
  here.sin_family = AF_INET;
  here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof here;
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  return server >= 0 && ::bind(server, reinterpret_cast<const sockaddr*>(&here), size) == 0 &&
         ::listen(server, 1) == 0 &&
         ::getsockname(server, reinterpret_cast<sockaddr*>(&here), &size) == 0 &&
         sends_to(AF_INET, reinterpret_cast<const sockaddr*>(&here), sizeof here, SOCK_STREAM);
}

/// By netlink: switches an interface on that is on already, which takes the right to change it.
bool changes_interface() {
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return false;
  struct {
    nlmsghdr header;
    ifinfomsg link;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_NEWLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  request.link.ifi_index = 1; // the loopback, always
  request.link.ifi_flags = request.link.ifi_change = IFF_UP;
  if (::send(fd, &request, sizeof request, 0) != sizeof request) return false;
  struct {
    nlmsghdr header;
    nlmsgerr answer;
  } told{};
  return ::recv(fd, &told, sizeof told, MSG_TRUNC) > 0 && told.header.nlmsg_type == NLMSG_ERROR &&
         told.answer.error == 0;
}

/// The network that a process outside has.
bool enters_network() {
  const int other = ::open(of_parent("ns/net").c_str(), O_RDONLY | O_CLOEXEC);
  return other >= 0 && ::setns(other, CLONE_NEWNET) == 0;
}

bool makes_ring() {
  char parameters[120] = {};
  return ::syscall(SYS_io_uring_setup, 1, parameters) >= 0;
}

bool reads_memory(pid_t of) {
  char byte;
  iovec here{&byte, 1};
  iovec there{reinterpret_cast<void*>(0x400000), 1};
  return ::process_vm_readv(of, &here, 1, &there, 1, 0) == 1 || errno == EFAULT;
}

bool traces(pid_t process) {
  return ::ptrace(PTRACE_SEIZE, process, nullptr, nullptr) == 0;
}

bool traces_its_child() {
  const pid_t child = ::fork();
  if (child == 0)
    for (;;)
      ::pause();
  const bool traced = traces(child) && reads_memory(child);
  ::kill(child, SIGKILL);
  return traced;
}

bool links_and_reads() {
  ::unlink("link");
  return ::symlink((outside + "/secret").c_str(), "link") == 0 && reads("link");
}

/// The socket is listed with the network that it is in.
bool sees_sockets() {
  std::ifstream in("/proc/net/unix");
  for (std::string line; std::getline(in, line);)
    if (line.find(outside) != std::string::npos) return true;
  return false;
}

bool takes_descriptor() {
  const auto other = static_cast<int>(::syscall(SYS_pidfd_open, parent, 0));
  return other >= 0 && ::syscall(SYS_pidfd_getfd, other, 0, 0) >= 0;
}

bool forks(int count) {
  bool all = true;
  for (int i = 0; i < count && all; ++i) {
    const pid_t child = ::fork();
    if (child == 0)
      for (;;)
        ::pause();
    all = child > 0;
  }
  return all;
}

bool takes_memory(std::size_t size) {
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory != MAP_FAILED;
}

bool writes(std::size_t size) {
  const int fd = ::open("large", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  return fd >= 0 && ::pwrite(fd, "x", 1, static_cast<off_t>(size)) == 1;
}

/// As OpenMP does: by the number of the thread, not by 0.
bool schedules_its_threads() {
  bool done = false;
  std::thread([&] {
    cpu_set_t now;
    done = ::pthread_getaffinity_np(::pthread_self(), sizeof now, &now) == 0 &&
           ::pthread_setaffinity_np(::pthread_self(), sizeof now, &now) == 0;
  }).join();
  return done;
}

bool uses_scratch() {
  const char* directory = std::getenv("TMPDIR");
  std::string name = std::string(directory != nullptr ? directory : "/tmp") + "/scratch-XXXXXX";
  const int fd = ::mkstemp(name.data());
  return fd >= 0 && ::unlink(name.c_str()) == 0;
}

/// FS_IOC_SETFLAGS with what is there already; where the file system has no flags, an extended
/// attribute by descriptor stands for it.
bool changes_flags() {
  const int fd = ::open(visible().c_str(), O_RDONLY | O_CLOEXEC);
  if (::fsetxattr(fd, "user.y", "y", 1, 0) == 0) return true;
  long flags = 0;
  constexpr unsigned long get_flags = 0x80086601;
  constexpr unsigned long set_flags = 0x40086602;
  return ::ioctl(fd, get_flags, &flags) == 0 && ::ioctl(fd, set_flags, &flags) == 0;
}

/// Whether the request gets to the file system, which most have no such for. That of btrfs makes a
/// snapshot, in which nothing is covered.
bool gets_through(unsigned long request) {
  static char argument[4096];
  const int fd = ::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return ::ioctl(fd, request, argument) == 0 || errno != EPERM;
}

bool has_set_id_bit(const char* name) {
  struct stat status{};
  return ::stat(name, &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0;
}

bool becomes_set_id(void (*make)(const char*)) {
  ::umask(0);
  make("set-id");
  return has_set_id_bit("set-id");
}

bool links_set_id_temporary() {
  const int fd = ::open(".", O_TMPFILE | O_WRONLY, 04755);
  const std::string name = "/proc/self/fd/" + std::to_string(fd);
  return ::linkat(AT_FDCWD, name.c_str(), AT_FDCWD, "set-id", AT_SYMLINK_FOLLOW) == 0 &&
         has_set_id_bit("set-id");
}

bool opens_set_id_in_the_new_way() {
  const unsigned long how[3] = {O_WRONLY | O_CREAT, 04755, 0};
  return ::syscall(437, AT_FDCWD, "set-id", how, sizeof how) >= 0 && has_set_id_bit("set-id");
}

struct attempt {
  const char* name;
  bool (*works)();
};

// clang-format off
const attempt attempts[] = {
    {"E01-read", [] { return reads(outside + "/secret"); }},
    {"E02-create", [] { return opens(outside + "/created", O_WRONLY | O_CREAT); }},
    {"E02-truncate", [] { return ::truncate((outside + "/victim").c_str(), 0) == 0; }},
    {"E02-rename", [] { return ::rename((outside + "/victim").c_str(), (outside + "/renamed").c_str()) == 0; }},
    {"E02-unlink", [] { return ::unlink((outside + "/victim").c_str()) == 0; }},
    {"E02-move-in", [] { return ::rename((outside + "/victim").c_str(), "moved") == 0; }},
    {"E03-hard-link", [] { return ::link((outside + "/victim").c_str(), "linked") == 0; }},
    {"E04-symlink", links_and_reads},
    {"E05-chmod", [] { return ::chmod((outside + "/victim").c_str(), 0777) == 0; }},
    {"E05-utimes", [] { return ::utimensat(AT_FDCWD, (outside + "/victim").c_str(), nullptr, 0) == 0; }},
    {"E05-chown", [] { return ::chown((outside + "/victim").c_str(), ::geteuid(), ::getegid()) == 0; }},
    {"E05-fchmod", [] { return ::fchmod(::open(visible().c_str(), O_RDONLY | O_CLOEXEC), 0777) == 0; }},
    {"E05-futimens", [] { return ::futimens(::open(visible().c_str(), O_RDONLY | O_CLOEXEC), nullptr) == 0; }},
    {"E05-flags", changes_flags},
    {"E05-utime", [] { return ::utimes((outside + "/victim").c_str(), nullptr) == 0; }},
    {"E05-xattr", [] { return ::setxattr((outside + "/victim").c_str(), "user.x", "x", 1, 0) == 0; }},
    {"E06-stat", [] { struct stat s{}; return ::stat((outside + "/secret").c_str(), &s) == 0; }},
    {"E07-device", [] { return ::mknod("device", S_IFCHR | 0600, makedev(1, 3)) == 0 && opens("device", O_RDWR); }},
    {"E08-tcp", connects_tcp},
    {"E09-fast-open", sends_fast_open},
    {"E10-udp", sends_datagram},
    {"E10-netlink", [] { return ::socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG) >= 0; }},
    {"E10-netlink-change", changes_interface},
    {"E10-network-of-another", enters_network},
    {"E10-vsock", [] { return ::socket(AF_VSOCK, SOCK_STREAM, 0) >= 0 || errno == EAFNOSUPPORT; }},
    {"E10-packet", [] { return ::socket(AF_PACKET, SOCK_RAW, 0) >= 0; }},
    {"E10-raw", [] { return ::socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0; }},
    {"E11-abstract", [] { return connects_unix(std::string(1, '\0') + outside); }},
    {"E12-pathname", [] { return connects_unix(outside + "/socket"); }},
    {"E13-io-uring", makes_ring},
    {"E15-signal", [] { return ::kill(parent, 0) == 0; }},
    {"E15-pidfd", [] { return ::syscall(SYS_pidfd_open, parent, 0) >= 0 && ::kill(parent, 0) == 0; }},
    {"E16-memory", [] { return reads_memory(parent); }},
    {"E16-memory-of-init", [] { return reads_memory(::getppid()); }},
    {"E16-ptrace", [] { return traces(parent); }},
    {"E16-ptrace-init", [] { return traces(::getppid()); }},
    {"E16-descriptor", takes_descriptor},
    {"E17-environ", [] { return reads(of_parent("environ")); }},
    {"E18-memory", [] { return opens(of_parent("mem"), O_RDONLY); }},
    {"E18-root", [] { return reads(of_parent("root") + outside + "/secret"); }},
    {"E19-cmdline", [] { return reads(of_parent("cmdline")); }},
    {"E20-affinity", [] { cpu_set_t all; std::memset(&all, 0xff, sizeof all); return ::sched_setaffinity(parent, sizeof all, &all) == 0; }},
    {"E20-prlimit", [] { rlimit r{}; return ::prlimit(parent, RLIMIT_CORE, nullptr, &r) == 0; }},
    {"E20-priority", [] { return ::setpriority(PRIO_PROCESS, static_cast<id_t>(parent), 19) == 0; }},
    {"E21-read", [] { return reads(".perstack/secret"); }},
    {"E21-write", [] { return opens(".perstack/new", O_WRONLY | O_CREAT); }},
    {"E21-rename", [] { return ::rename(".perstack", "taken") == 0; }},
    {"E22-inherited", [] { return ::fcntl(9, F_GETFD) >= 0; }},
    {"E23-kmsg", [] { return opens("/dev/kmsg", O_RDONLY | O_NONBLOCK) || opens("/proc/sysrq-trigger", O_WRONLY); }},
    {"E23-terminal", [] { return opens("/dev/tty", O_RDWR); }},
    {"E24-unshare", [] { return ::unshare(CLONE_NEWUSER) == 0; }},
    {"E25-chroot", [] { return ::chroot(".") == 0; }},
    {"E26-memfd", [] { return ::memfd_create("x", 0) >= 0; }},
    {"E27-processes", [] { return forks(40); }},
    {"E28-memory", [] { return takes_memory(256UL << 20); }},
    {"E34-file-size", [] { std::signal(SIGXFSZ, SIG_IGN); return writes(4UL << 20); }},
    {"E38-injection", [] { const char c = 'x'; return ::ioctl(STDIN_FILENO, TIOCSTI, &c) == 0 || errno == EFAULT; }},
    {"E39-listener", [] { return ::fcntl(8, F_GETFD) >= 0; }},
    {"E40-message-queue", [] { return ::msgget(static_cast<key_t>(parent), 0) >= 0; }},
    {"E40-semaphore", [] { return ::semget(static_cast<key_t>(parent), 1, 0) >= 0; }},
    {"E40-shared-memory", [] { return ::shmget(static_cast<key_t>(parent), 1, 0) >= 0; }},
    {"E41-chmod", [] { return opens("made", O_WRONLY | O_CREAT) && ::chmod("made", 04755) == 0; }},
    {"E41-chmod-group", [] { return opens("made", O_WRONLY | O_CREAT) && ::chmod("made", 02755) == 0; }},
    {"E41-fchmod", [] { return ::fchmod(::open("made", O_WRONLY | O_CREAT, 0700), 04755) == 0; }},
    {"E41-fchmodat", [] { return opens("made", O_WRONLY | O_CREAT) && ::syscall(SYS_fchmodat, AT_FDCWD, "made", 04755) == 0; }},
    {"E41-fchmodat2", [] { return opens("made", O_WRONLY | O_CREAT) && ::syscall(452, AT_FDCWD, "made", 04755, 0) == 0; }},
    {"E41-open", [] { return becomes_set_id([](const char* name) { (void)::open(name, O_WRONLY | O_CREAT, 04755); }); }},
    {"E41-creat", [] { return becomes_set_id([](const char* name) { (void)::creat(name, 02755); }); }},
    {"E41-temporary", links_set_id_temporary},
    {"E41-openat2", opens_set_id_in_the_new_way},
    {"E41-mknod", [] { return becomes_set_id([](const char* name) { (void)::mknod(name, S_IFREG | 04755, 0); }); }},
    {"E41-mkdir", [] { return becomes_set_id([](const char* name) { (void)::mkdir(name, 06755); }); }},
    {"E42-chmod", [] { return opens("made", O_WRONLY | O_CREAT) && ::chmod("made", 0700) == 0; }},
    {"E42-pipe", [] { return ::mknod("pipe", S_IFIFO | 0600, 0) == 0; }},
    {"E43-whiteout", [] { (void)::mknod("whiteout", S_IFREG | 0600, 0); return ::syscall(SYS_renameat2, AT_FDCWD, "whiteout", AT_FDCWD, "renamed", 4) == 0; }},
    {"E44-lease", [] { const int file = ::open("leased", O_RDONLY | O_CREAT, 0600); return ::fcntl(file, 1024 /* F_SETLEASE */, F_RDLCK) == 0; }},
    {"E44-delegation", [] { const std::uint64_t read_lock = 0; const int file = ::open(".", O_RDONLY | O_DIRECTORY); return ::fcntl(file, 1040 /* F_SETDELEG, Linux 6.19 */, &read_lock) == 0 || errno != EPERM; }},
    {"E45-snapshot", [] { return gets_through(0x5000'9401); }},
    {"E45-snapshot-v2", [] { return gets_through(0x5000'9417); }},
    {"E45-remove-subvolume", [] { return gets_through(0x5000'940f); }},
    {"E45-snapshot-bcachefs", [] { return gets_through(0x4020'bc10); }},
    {"E45-clone-file", [] { return gets_through(0x4004'9409); }},
    {"E46-terminals", [] { return opens_of_another("/dev/pts", O_RDONLY | O_DIRECTORY); }},
    {"E46-terminal-of-another", [] { return opens_of_another(std::getenv("PADDOCK_TEST_TERMINAL"), O_RDWR); }},
    {"E43-node", [] { return ::mknod("node", S_IFCHR | 0600, makedev(0, 0)) == 0; }},
    {"X-loopback", has_loopback},
    {"X-proc-net", sees_sockets},
    {"X-proc-sys", [] { return opens("/proc/sys/kernel/core_pattern", O_WRONLY); }},
    {"X-new-protected", [] { ::rmdir(".perstack"); return ::mkdir(".perstack", 0700) == 0; }},
    {"X-own-threads", schedules_its_threads},
    {"X-trace-own", traces_its_child},
    {"X-workspace", [] { return opens("written", O_WRONLY | O_CREAT) && uses_scratch(); }},
};
// clang-format on

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 3;
  outside = argv[2];
  parent = static_cast<pid_t>(std::atol(argv[3]));
  for (const attempt& each : attempts)
    if (std::strcmp(each.name, argv[1]) == 0) return each.works() ? 0 : 1;
  return 3;
}
