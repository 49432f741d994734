// SPDX-License-Identifier: MIT
#include "exec/helper/loopback_redirect.hpp"

#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <netinet/in.h>

namespace paddock::exec {
namespace {

// Of linux/netfilter.h, which does not go with netinet/in.h.
constexpr std::uint32_t hook_of_local_out = 3;
constexpr std::uint32_t priority_of_dnat = static_cast<std::uint32_t>(-100);
constexpr std::uint32_t priority_of_raw = static_cast<std::uint32_t>(-300);
constexpr std::uint8_t own_network = 127;
constexpr const char* table = "paddock";

std::uint32_t in_network_order(std::uint32_t value) {
  return __builtin_bswap32(value);
}

/// Messages behind each other, with attributes in attributes.
class netlink_batch {
public:
  void begin(unsigned type, unsigned flags, std::uint16_t resource = 0) {
    nlmsghdr head{};
    head.nlmsg_type = static_cast<std::uint16_t>(type);
    head.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
    message_ = size_;
    put(&head, sizeof head);
    const nfgenmsg family{AF_INET, NFNETLINK_V0, __builtin_bswap16(resource)};
    put(&family, sizeof family);
    end(message_);
  }
  std::size_t open(unsigned type) {
    const std::size_t at = size_;
    const nlattr head{0, static_cast<std::uint16_t>(type | NLA_F_NESTED)};
    put(&head, sizeof head);
    return at;
  }
  void close(std::size_t at) {
    const auto length = static_cast<std::uint16_t>(size_ - at);
    std::memcpy(bytes_ + at, &length, sizeof length);
    end(message_);
  }
  void add(unsigned type, const void* value, std::size_t size) {
    const nlattr head{static_cast<std::uint16_t>(sizeof head + size),
                      static_cast<std::uint16_t>(type)};
    put(&head, sizeof head);
    put(value, size);
    end(message_);
  }
  void add(unsigned type, const char* text) { add(type, text, std::strlen(text) + 1); }
  void add(unsigned type, std::uint32_t number) {
    number = in_network_order(number);
    add(type, &number, sizeof number);
  }
  [[nodiscard]] const char* bytes() const { return bytes_; }
  [[nodiscard]] std::size_t size() const { return size_; }

private:
  /// Keeps what follows aligned: what is not written is 0.
  void put(const void* value, std::size_t size) {
    std::memcpy(bytes_ + size_, value, size);
    size_ += NLMSG_ALIGN(size);
  }
  void end(std::size_t at) {
    const auto length = static_cast<std::uint32_t>(size_ - at);
    std::memcpy(bytes_ + at, &length, sizeof length);
  }

  char bytes_[2048] = {}; // the fixed messages of three rules
  std::size_t size_ = 0;
  std::size_t message_ = 0;
};

constexpr unsigned nft(unsigned type) {
  return unsigned{NFNL_SUBSYS_NFTABLES} << 8U | type;
}

/// An expression of a rule: open until the next close().
struct expression {
  expression(netlink_batch& in, const char* name) : to(in), element(in.open(NFTA_LIST_ELEM)) {
    in.add(NFTA_EXPR_NAME, name);
    data = in.open(NFTA_EXPR_DATA);
  }
  ~expression() {
    to.close(data);
    to.close(element);
  }
  expression(const expression&) = delete;
  expression& operator=(const expression&) = delete;

  netlink_batch& to;
  std::size_t element;
  std::size_t data = 0;
};

void compare(netlink_batch& to, unsigned how, std::uint8_t with) {
  const expression compared(to, "cmp");
  to.add(NFTA_CMP_SREG, NFT_REG_1);
  to.add(NFTA_CMP_OP, how);
  const std::size_t value = to.open(NFTA_CMP_DATA);
  to.add(NFTA_DATA_VALUE, &with, sizeof with);
  to.close(value);
}

void compare_protocol(netlink_batch& to, unsigned how) {
  {
    const expression protocol(to, "meta");
    to.add(NFTA_META_DREG, NFT_REG_1);
    to.add(NFTA_META_KEY, NFT_META_L4PROTO);
  }
  compare(to, how, IPPROTO_TCP);
}

void compare_destination(netlink_batch& to, unsigned how) {
  {
    const expression destination(to, "payload");
    to.add(NFTA_PAYLOAD_DREG, NFT_REG_1);
    to.add(NFTA_PAYLOAD_BASE, NFT_PAYLOAD_NETWORK_HEADER);
    to.add(NFTA_PAYLOAD_OFFSET, 16); // of the destination in an IPv4 header
    to.add(NFTA_PAYLOAD_LEN, 1);
  }
  compare(to, how, own_network);
}

void redirect(netlink_batch& to, std::uint16_t port_in_network_order) {
  {
    const expression port(to, "immediate");
    to.add(NFTA_IMMEDIATE_DREG, NFT_REG_1);
    const std::size_t value = to.open(NFTA_IMMEDIATE_DATA);
    to.add(NFTA_DATA_VALUE, &port_in_network_order, sizeof port_in_network_order);
    to.close(value);
  }
  const expression redirected(to, "redir");
  to.add(NFTA_REDIR_REG_PROTO_MIN, NFT_REG_1);
}

void add_chain(netlink_batch& to, const char* chain, const char* type, std::uint32_t priority) {
  to.begin(nft(NFT_MSG_NEWCHAIN), NLM_F_CREATE);
  to.add(NFTA_CHAIN_TABLE, table);
  to.add(NFTA_CHAIN_NAME, chain);
  to.add(NFTA_CHAIN_TYPE, type);
  const std::size_t hook = to.open(NFTA_CHAIN_HOOK);
  to.add(NFTA_HOOK_HOOKNUM, hook_of_local_out);
  to.add(NFTA_HOOK_PRIORITY, priority);
  to.close(hook);
}

template <class Add> void add_rule(netlink_batch& to, const char* chain, unsigned flags, Add add) {
  to.begin(nft(NFT_MSG_NEWRULE), NLM_F_CREATE | NLM_F_APPEND | flags);
  to.add(NFTA_RULE_TABLE, table);
  to.add(NFTA_RULE_CHAIN, chain);
  const std::size_t expressions = to.open(NFTA_RULE_EXPRESSIONS);
  add();
  to.close(expressions);
}

/// In chains of their own, what these do:
///   nft add rule ip paddock raw ip daddr 127.0.0.0/8 notrack
///   nft add rule ip paddock raw meta l4proto != tcp notrack
///   nft add rule ip paddock out meta l4proto tcp ip daddr != 127.0.0.0/8 redirect to :PORT
/// Without the first two, traffic of the commands' own servers fills the kernel's table of
/// connections, and then there is no room for others.
netlink_batch rule_request(std::uint16_t port_in_network_order) {
  constexpr const char* out = "out";
  constexpr const char* raw = "raw";
  netlink_batch to;
  to.begin(NFNL_MSG_BATCH_BEGIN, 0, NFNL_SUBSYS_NFTABLES);
  to.begin(nft(NFT_MSG_NEWTABLE), NLM_F_CREATE);
  to.add(NFTA_TABLE_NAME, table);
  add_chain(to, raw, "filter", priority_of_raw);
  add_rule(to, raw, 0, [&] {
    compare_destination(to, NFT_CMP_EQ);
    const expression untracked(to, "notrack");
  });
  add_rule(to, raw, 0, [&] {
    compare_protocol(to, NFT_CMP_NEQ);
    const expression untracked(to, "notrack");
  });
  add_chain(to, out, "nat", priority_of_dnat);
  add_rule(to, out, NLM_F_ACK, [&] {
    compare_protocol(to, NFT_CMP_EQ);
    compare_destination(to, NFT_CMP_NEQ);
    redirect(to, port_in_network_order);
  });
  to.begin(NFNL_MSG_BATCH_END, 0, NFNL_SUBSYS_NFTABLES);
  return to;
}

} // namespace

int redirect_connections(std::uint16_t port_in_network_order) {
  const netlink_batch request = rule_request(port_in_network_order);
  const int fd = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
  if (fd < 0) return errno == EPROTONOSUPPORT ? EOPNOTSUPP : errno;
  // The answer to the first message that failed, or to the rule.
  struct {
    nlmsghdr head;
    nlmsgerr what;
    char rest[sizeof request];
  } answer{};
  int failed = EPROTO;
  if (::send(fd, request.bytes(), request.size(), 0) < 0 ||
      ::recv(fd, &answer, sizeof answer, 0) < 0)
    failed = errno;
  else if (answer.head.nlmsg_type == NLMSG_ERROR)
    failed = -answer.what.error;
  ::close(fd);
  return failed == ENOENT ? EOPNOTSUPP : failed; // no chain or expression of that kind
}

} // namespace paddock::exec
