// SPDX-License-Identifier: MIT
#pragma once

/// What a command may touch: a policy goes in, a report of what the kernel really enforces comes
/// out.
///
/// By default a command changes nothing outside its workspace and its own scratch space: a /tmp,
/// /dev/shm and home directory that exist only while it runs, or longer (see hold_scratch). It
/// reads nothing but the workspace and the installed programs, reaches no network but a loopback of
/// its own, sees no hidden entries and changes no protected ones. Nothing it starts outlives it.
///
/// A layer that is `required` and cannot be had makes `run` refuse before the program starts; a
/// layer that is `best_effort` and cannot be had is listed as missing. Nothing is ever weaker in
/// silence: `layer_report::missing` also says what a layer that was applied leaves open here.
///
/// Not guaranteed: protection from a bug in the kernel; a bound on the disk space of the workspace;
/// secrecy of what the workspace itself holds. Hard links inside the workspace to files outside it
/// are those files. Where a command has a loopback it can connect to a socket file that another
/// program keeps in the workspace. A bound on processes does not hold for root.
///
/// Thread-safety: plain values; `probe_confinement` may be called from any thread.

#include <paddock/base/result.hpp>
#include <paddock/exec/detail/confinement_layers.hpp>
#include <paddock/exec/host_list.hpp>
#include <paddock/exec/network_event.hpp>
#include <paddock/path/protected_names.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace paddock {

/// How much the caller wants a layer.
enum class demand : std::uint8_t {
  off,         ///< not wanted; the command has what this process has
  best_effort, ///< applied where it can be; the report says when it was not
  required,    ///< without it the command does not run
};

/// The layers of the table in exec/detail/confinement_layers.hpp.
enum class confinement_layer : std::uint8_t {
#define PADDOCK_ENTRY(name, wire, usual, text) name,
  PADDOCK_CONFINEMENT_LAYERS(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
};

inline constexpr confinement_layer confinement_layers[] = {
#define PADDOCK_ENTRY(name, wire, usual, text) confinement_layer::name,
    PADDOCK_CONFINEMENT_LAYERS(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY
};

/// The stable name of a layer, as it appears in JSON.
[[nodiscard]] std::string_view wire_name(confinement_layer layer) noexcept;
/// What the layer does, as a sentence about the command: no capital, no full stop.
[[nodiscard]] std::string_view text(confinement_layer layer) noexcept;

/// Where the sockets of a command lead.
enum class network_reach : std::uint8_t {
  none, ///< nowhere: it can make none
  /// To an interface that the commands of one workspace have to themselves, for as long as this
  /// process lives: what one of them listens at, those that run beside it and after it reach.
  /// Nothing else does, and nothing else is reached: no service of this machine, none by its
  /// abstract name, no route to be changed. Sockets of other kinds stay denied.
  loopback,
  /// The same loopback, and the hosts of the policy's list by name: paddock-egress answers DNS,
  /// checks each connection and relays it. Needs no variable, certificate or program inside. A
  /// command is refused where this cannot be had, if the layer `network` is required.
  hosts,
  /// Wherever those of this process lead, also to services of this machine; the layer `network` is
  /// off. For all of the Internet without them: `hosts`, with "all" as the list.
  host_network,
};

/// "none", "loopback", "hosts", "host".
[[nodiscard]] std::string_view wire_name(network_reach reach) noexcept;

/// How long what a command leaves in its /tmp, /var/tmp and home directory is there.
enum class scratch_life : std::uint8_t {
  none,    ///< it has none of its own; the layer `file_system` is off or missing
  call,    ///< as long as that command runs
  session, ///< as long as somebody holds the policy's `scratch`
};

/// "none", "call", "session".
[[nodiscard]] std::string_view wire_name(scratch_life life) noexcept;

/// Scratch directories that commands share, see hold_scratch.
class held_scratch;

/// Bounds of the `limits` layer; 0: none. Where a control group can be had (version 2, delegated to
/// this user), memory and processes are those of the command and all that it starts. Elsewhere each
/// bound holds for one process, but `processes`, which counts those of the same user and does not
/// hold for root; the report says so.
struct resource_limits {
  std::uint64_t memory_bytes = 0; ///< heap and other private writable memory (RLIMIT_DATA)
  std::uint64_t processes = 0;
  std::uint64_t file_size_bytes = 0;
  std::uint64_t cpu_seconds = 0;
};

/// A variable of this process's environment; empty: not set.
[[nodiscard]] std::string process_variable(const char* name);

/// Who the author of a commit is where neither the command nor the repository says so.
struct git_author {
  std::string name{};
  std::string email{};
};

/// As git's configuration has it: in /etc/gitconfig, then in ~/.config/git/config (or that of
/// XDG_CONFIG_HOME), then in ~/.gitconfig, the last of which counts. Files that these include are
/// not read. What is not there is empty.
[[nodiscard]] git_author git_author_of(const std::string& home);

struct confinement_policy {
#define PADDOCK_ENTRY(name, wire, usual, text) demand name = demand::usual;
  PADDOCK_CONFINEMENT_LAYERS(PADDOCK_ENTRY)
#undef PADDOCK_ENTRY

  /// What the layer `network` leaves. Where a loopback cannot be had there is none, and the report
  /// says why; it takes the layer `privileges`, too.
  network_reach reach = network_reach::loopback;
  /// For network_reach::hosts.
  host_list hosts{};
  /// HOST:PORT of a proxy with CONNECT, through which paddock-egress connects; empty: directly.
  std::string egress_proxy{};
  /// Called once for each begin, end and refusal of a connection in the workspace, on the thread of
  /// one of the commands that run there. Must not throw.
  std::function<void(const network_event&)> on_network{};

  /// Lets the command trace its own processes, as debuggers and leak checkers do; nothing of those
  /// that confine it, and no other command. Where it has no PID namespace, or `privileges` is
  /// missing, it may not all the same.
  bool tracing = false;
  /// Gives the command a copy of the `.git/config` of each repository, where that is protected. Of
  /// what it changes there, remotes, branches and the user's name are carried over when it has
  /// ended, unless they would run a program; the rest is told (command_outcome::unsaved_settings).
  /// Where it has no root directory of its own, the file is read-only.
  bool git_settings = false;

  /// Absolute paths of files and directories that may be read and run, beside the installed
  /// programs (see search_path). Without one of them, or of the next, the layer file_system is
  /// missing: they have to exist and be in reach of this user, and may not lead through a link that
  /// the command could change. One that lies in the workspace or in a write path adds nothing.
  std::vector<std::string> read_paths{};
  /// Absolute paths that may be changed as well.
  std::vector<std::string> write_paths{};
  /// Absolute paths of directories that the command reads and changes as if they were its own: what
  /// it writes there is gone when it ends, and nobody else sees it. Where an overlay cannot be had
  /// they are read-only. Those that do not exist, are in reach of nobody, or lie in or around the
  /// workspace or in a write path add nothing.
  std::vector<std::string> cache_paths{};
  /// Where programs are installed, in the form of PATH; at first the PATH of this process. The
  /// command sees /usr, /bin, /lib and the like, the part of /etc that programs need, and the
  /// directories named here. Of a directory called bin, sbin or shims it also sees the libraries
  /// of the same installation, beside it. It never sees the home directory or one above the
  /// workspace because of this, nor a directory that it could change or that a link in such a
  /// directory leads to. Entries that are not absolute or do not exist mean nothing. The PATH of
  /// the command has no say in this.
  std::string search_path = process_variable("PATH");
  /// Covered by an empty directory of the command's own; at first the HOME of this process. Not
  /// absolute, or "/": there is none. The HOME of the command has no say in this.
  std::string home = process_variable("HOME");
  /// What commands do not see, or cannot change, by its name. It has to be there when the command
  /// starts; what appears meanwhile at the top, or in a repository's `.git`, is moved aside when
  /// the command has ended (command_outcome::moved_aside). A repository that appears while a
  /// command of this process runs is the command's own, for as long as this process remembers it.
  std::vector<protected_name> protected_names = usual_protected_names();
  /// Absolute paths of files and directories that are read-only where they lie in the workspace or
  /// in a write path, and cannot be moved with what they lie in.
  std::vector<std::string> read_only_paths{};
  resource_limits bounds{};
  /// What hold_scratch returned for this policy; null: each command has its own. /dev/shm is each
  /// command's own always.
  std::shared_ptr<const held_scratch> scratch{};
  /// These values and no file: in the /etc/gitconfig of the command's own root directory, where git
  /// looks last. Nobody at first. A value with a control character counts as none.
  git_author author{};

  /// Every layer off: the command may do what this process may do. It still gains no privileges,
  /// and its whole tree is still ended as well as can be without the kernel's help.
  [[nodiscard]] static confinement_policy host();
  /// Every layer best_effort: runs anywhere, as confined as can be.
  [[nodiscard]] static confinement_policy best_effort();

  /// Whether the layer is required, wanted where it can be had, or off.
  [[nodiscard]] demand wanted(confinement_layer layer) const noexcept;
  /// The same, to be changed.
  [[nodiscard]] demand& wanted(confinement_layer layer) noexcept;
};

/// What became of one layer.
struct layer_report {
  confinement_layer layer{};
  demand wanted = demand::off;
  bool applied = false;
  std::string mechanism; ///< what enforces it: "mount namespace, Landlock"; empty: nothing here can
  std::string missing;   ///< why it could not be applied, or what it leaves open; empty: nothing
  /// What a person can do about just that, in the imperative; empty: the cause is not known.
  std::string remedy;
};

/// What is not held of a layer that was wanted, and its remedy, in the words of every program:
/// "missing: …; …", "not held: …; …". Empty: nothing is missing.
[[nodiscard]] std::string shortfall(const layer_report& row);

/// One entry per layer, in the order of the table.
struct confinement_report {
  confinement_report() noexcept;

  std::array<layer_report, std::size(confinement_layers)> layers;
  network_reach reach = network_reach::none; ///< where sockets of the command lead
  std::string no_loopback; ///< why there is none, though it was wanted, and what can be done
  scratch_life scratch = scratch_life::none;
  std::string no_session; ///< why it is the command's own, though it was to be shared

  /// What became of that layer.
  [[nodiscard]] const layer_report& of(confinement_layer layer) const noexcept {
    return layers[static_cast<std::size_t>(layer)];
  }
  /// The same, to be changed.
  [[nodiscard]] layer_report& of(confinement_layer layer) noexcept {
    return layers[static_cast<std::size_t>(layer)];
  }
  /// Every layer that was wanted is applied and leaves nothing open.
  [[nodiscard]] bool complete() const noexcept;
  /// Every layer that was required is applied.
  [[nodiscard]] bool satisfied() const noexcept;
  /// The required layers that are not applied, each with its reason: " network (reason) kill
  /// (reason)"; empty when satisfied.
  [[nodiscard]] std::string unmet() const;
  /// What a person can do about those, each remedy once: "allow …; choose …"; empty when no cause
  /// is known.
  [[nodiscard]] std::string remedies() const;
};

/// Whether a directory with this path belongs to the system, so that it can be no workspace of
/// confined commands: "/", "/dev", and what lies in /proc and /sys. Elsewhere the layer file_system
/// can be had.
[[nodiscard]] bool is_of_system(std::string_view path) noexcept;

/// A /tmp, /var/tmp and home directory for the commands that run with this policy in this
/// workspace, at the same time and one after the other. Nobody else sees them, commands of another
/// process or workspace neither, and they are gone with the last copy of the pointer or with this
/// process, however it ends. They hold as much as those of one command: half of this machine's
/// memory. Under Landlock alone they are one directory in /tmp, whose size nothing bounds.
///
/// What a command sees below them must be what was there now: a policy that shows other paths, or
/// a program found elsewhere, gets directories of its own, as it does where none can be shared; the
/// report says why. `workspace` is a descriptor, borrowed; `helper` as in command::helper. Never
/// null. Takes a few milliseconds.
[[nodiscard]] std::shared_ptr<const held_scratch>
hold_scratch(const confinement_policy& policy, int workspace, const std::string& helper = {});

/// Tries the policy as it is: every layer that is wanted is really applied to a child, which then
/// attacks it. It tries to read, write and change attributes outside, also by an odd PATH and HOME,
/// to reach this machine by a socket, to see a protected entry, to gain privileges and to leave
/// some behind. A layer that claims to hold and does not is reported as missing. Takes a few
/// milliseconds, changes nothing in the workspace and refuses nothing.
///
/// `workspace` is a descriptor of the directory that the policy is for, borrowed; -1: a throw-away
/// one. `helper` as in command::helper. Errors: those of `run`, and those of making a temporary
/// directory that lies in no path of the policy (unsupported: there is none).
[[nodiscard]] result<confinement_report> probe_confinement(const confinement_policy& policy,
                                                           const std::string& helper = {},
                                                           int workspace = -1);

} // namespace paddock
