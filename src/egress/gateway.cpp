// SPDX-License-Identifier: MIT
#include "egress/gateway.hpp"

#include "sys/gateway_socket.hpp"
#include "sys/process.hpp"
#include "sys/special_address.hpp"
#include "sys/stream.hpp"
#include "sys/syscall.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace paddock::egress {
namespace {

constexpr std::size_t flows_max = 1'024;
constexpr std::size_t other_descriptors = 64; // for getaddrinfo, and our own
constexpr std::size_t scratch_bytes = 256UL * 1024;
constexpr std::size_t question_bytes_max = 4UL * 1024;
constexpr std::size_t questions_at_once = 64;
constexpr std::int64_t look_ms = 500;
constexpr std::int64_t rest_ms_max = 60'000;
constexpr std::size_t refusals_max = 1'000;
constexpr std::size_t unreported_max = 1'000;

// epoll keys: the number of a flow and its side, or one of these.
constexpr std::uint64_t channel_key = 0;
constexpr std::uint64_t resolver_key = 1;
constexpr std::uint64_t first_listener = 2;
constexpr std::uint64_t first_flow = 1U << 20U;

constexpr const char* loopback_host = "127.0.0.1";

std::uint64_t key_of(std::uint64_t number, unsigned side) {
  return first_flow + number * 2 + side;
}

std::span<const std::uint8_t> bytes_of(const sys::ip_address& address) {
  return {address.bytes.data(), address.kind == sys::ip_address::family::v4 ? 4U : 16U};
}

std::uint32_t number_of(const sys::ip_address& address) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8U | address.bytes[i];
  return value;
}

bool is_printable(char c) {
  return c >= ' ' && c <= '~';
}

bool is_of_host(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '.' || c == '_' || c == ':';
}

/// Commands choose the bytes of names: those that could end a text or a line, or add words to the
/// sentence around, become question marks.
template <std::size_t size>
void copy_text(char (&to)[size], std::string_view text, bool (*is_kept)(char)) {
  text = text.substr(0, size - 1);
  *std::ranges::transform(text, to, [&](char c) { return is_kept(c) ? c : '?'; }).out = '\0';
}

sys::egress_event event_of(const flow& at, sys::egress_kind kind, std::uint64_t began) {
  sys::egress_event event{.kind = kind,
                          .port = at.to().port,
                          .sent = at.sent(),
                          .received = at.received(),
                          .began = began};
  copy_text(event.host, at.to().host, is_of_host);
  copy_text(event.detail, at.detail(),
            kind == sys::egress_kind::other_host ? is_of_host : is_printable);
  return event;
}

destination::proof proof_at(std::uint16_t port) {
  if (port == 443) return destination::proof::tls;
  return port == 80 ? destination::proof::http : destination::proof::none;
}

} // namespace

gateway::gateway(gateway_options options)
    : options_(std::move(options)), scratch_(std::make_unique<char[]>(scratch_bytes)) {}

result<void> gateway::begin() {
  const std::size_t others = options_.listeners.size() + other_descriptors;
  const std::uint64_t descriptors = sys::raise_descriptor_limit(2 * flows_max + others);
  flows_max_ = std::min<std::size_t>(flows_max, (std::max(descriptors, others + 2) - others) / 2);
  PADDOCK_TRY(epoll_, sys::epoll_create());
  PADDOCK_TRY(resolved_event_, sys::eventfd());
  resolver_ = std::make_unique<resolver>(resolved_event_.get());
  const auto wait_for = [&](int fd, std::uint64_t key) {
    return sys::epoll_add(epoll_.get(), fd, {.key = key, .readable = true});
  };
  PADDOCK_CHECK(wait_for(options_.channel, channel_key));
  PADDOCK_CHECK(wait_for(resolved_event_.get(), resolver_key));
  std::uint64_t key = first_listener;
  for (const file_descriptor& each : options_.listeners) {
    if (sys::is_datagram_socket(each.get())) PADDOCK_CHECK(sys::enable_packet_info(each.get()));
    PADDOCK_CHECK(wait_for(each.get(), key++));
  }
  return {};
}

result<void> gateway::run() {
  PADDOCK_CHECK(begin());
  while (true) {
    PADDOCK_TRY(const bool goes_on, turn(flows_.empty() ? -1 : look_ms));
    if (!goes_on) return deliver_rest();
    if (flush_asked_ != 0) report_flushed();
  }
}

/// The library has ended the commands. What they had sent still goes out, as it would without a
/// program in between.
result<void> gateway::deliver_rest() {
  options_.listeners.clear();
  sys::epoll_remove(epoll_.get(), options_.channel);
  const std::int64_t deadline_ms = sys::monotonic_ms() + rest_ms_max;
  while (true) {
    std::erase_if(flows_, [](const auto& each) { return !each.second.what->has_rest(); });
    if (flows_.empty() || sys::monotonic_ms() > deadline_ms) return {};
    PADDOCK_CHECK(turn(look_ms));
  }
}

/// Handles one batch of events. False when the channel has ended.
result<bool> gateway::turn(std::int64_t timeout_ms) {
  PADDOCK_TRY(const std::size_t count, sys::epoll_wait(epoll_.get(), ready_, timeout_ms));
  now_ms_ = sys::monotonic_ms();
  for (std::size_t i = 0; i < count; ++i) {
    if (ready_[i].key == channel_key && !take_channel()) return false;
    if (ready_[i].key != channel_key) take(ready_[i]);
  }
  if (now_ms_ - looked_ms_ >= look_ms) time_passed();
  return true;
}

/// Handles all events that are ready: the kernel hands them out in turn, so as many looks as it
/// takes for everything that is waited for see each, however busy some are.
void gateway::report_flushed() {
  const std::size_t waited_for = 2 * flows_.size() + options_.listeners.size() + 2;
  for (std::size_t looks = waited_for / ready_.size() + 1; looks > 0; --looks) {
    const auto count = sys::epoll_wait(epoll_.get(), ready_, 0);
    if (!count || *count == 0) break;
    for (std::size_t i = 0; i < *count; ++i)
      if (ready_[i].key != channel_key) take(ready_[i]);
  }
  if (is_full_) return; // once the library has read
  refusals_.clear();
  flushed_ = std::exchange(flush_asked_, 0);
  report({.kind = sys::egress_kind::flushed, .began = flushed_});
}

/// False when it has ended.
bool gateway::take_channel() {
  send_reports();
  sys::egress_flush request;
  const auto size =
      sys::recv_nowait(options_.channel, {reinterpret_cast<char*>(&request), sizeof request});
  if (!size) return size.error().os_errno == EAGAIN;
  if (*size == sizeof request) flush_asked_ = request.number;
  return *size != 0;
}

void gateway::take(const sys::readiness& what) {
  if (what.key == resolver_key) return take_resolved();
  if (what.key < first_flow) {
    const int listener = options_.listeners[what.key - first_listener].get();
    return sys::is_datagram_socket(listener) ? answer_names(listener) : accept_from(listener);
  }
  const std::uint64_t number = (what.key - first_flow) / 2;
  const auto held = flows_.find(number);
  if (held == flows_.end()) return; // ended by what happened at its other side
  flow& at = *held->second.what;
  const std::span scratch(scratch_.get(), scratch_bytes);
  at.time_passed(now_ms_);
  if ((what.key - first_flow) % 2 == 0)
    at.inside_ready(what, scratch);
  else if (at.outside() == held->second.registered[1]) // else it is of an earlier attempt
    at.outside_ready(what, scratch);
  after(number, held->second);
}

void gateway::answer_names(int listener) {
  for (std::size_t count = 0; count < questions_at_once; ++count) {
    sys::datagram_route way;
    const auto size = sys::receive_datagram(listener, {scratch_.get(), question_bytes_max}, way);
    if (!size) return;
    const dns_answer answer = answer_question({scratch_.get(), *size}, options_.hosts, names_);
    if (!answer.refused.empty()) report_refusal(sys::egress_kind::name_refused, answer.refused, 0);
    if (!answer.bytes.empty()) (void)sys::answer_datagram(listener, answer.bytes, way).has_value();
  }
}

/// Where the connection goes, if it is allowed.
std::optional<destination> gateway::judge(const sys::endpoint& meant) {
  if (meant.address.bytes[0] == 127) {
    if (options_.hosts.allows_own(meant.port)) return destination{loopback_host, meant.port};
    return std::nullopt; // nobody listens there: the command's own loopback
  }
  if (const std::string host(names_.name_of(number_of(meant.address))); !host.empty()) {
    if (options_.hosts.allows(host, meant.port))
      return destination{.host = host,
                         .port = meant.port,
                         .wanted = options_.hosts.allows_all(meant.port) ? destination::proof::none
                                                                         : proof_at(meant.port),
                         .or_ssh = options_.hosts.allows_ssh(host, meant.port)};
    report_refusal(sys::egress_kind::port_refused, host, meant.port);
    return std::nullopt;
  }
  const std::string address = sys::inet_ntop(meant.address);
  const bool is_allowed = options_.hosts.allows(bytes_of(meant.address), meant.port);
  if (is_allowed && is_usable(meant.address, meant.port)) return destination{address, meant.port};
  report_refusal(is_allowed ? sys::egress_kind::not_public : sys::egress_kind::address_refused,
                 address, meant.port);
  return std::nullopt;
}

void gateway::accept_from(int listener) {
  auto accepted = sys::accept4(listener);
  if (!accepted) return;
  auto meant = sys::original_endpoint(accepted->get());
  if (!meant) meant = sys::local_endpoint(accepted->get()); // no rule has led it
  auto to = meant ? judge(*meant) : std::nullopt;
  if (to && flows_.size() >= flows_max_) {
    report_refusal(sys::egress_kind::too_many, to->host, to->port);
    to.reset();
  }
  if (!to) return sys::reset_on_close(accepted->get());
  const std::uint64_t number = next_number_++;
  held_flow& held = flows_[number];
  held.what = std::make_unique<flow>(*std::move(accepted), *std::move(to), now_ms_);
  held.began = flushed_;
  after(number, held);
}

void gateway::take_resolved() {
  for (resolved& each : resolver_->take()) {
    const auto held = flows_.find(each.key);
    if (held == flows_.end()) continue;
    flow& at = *held->second.what;
    if (at.now() != flow::stage::resolving) continue;
    at.time_passed(now_ms_);
    if (each.addresses.empty())
      at.refuse(sys::egress_kind::not_found);
    else if (auto places = usable(at, each.addresses); !places.empty())
      at.connect_to(std::move(places), goes_by_proxy(at));
    else
      at.refuse(sys::egress_kind::not_public, sys::inet_ntop(each.addresses.front()));
    after(each.key, held->second);
  }
}

bool gateway::goes_by_proxy(const flow& of) const {
  return options_.proxy_port != 0 && of.to().host != loopback_host;
}

/// Whose address is looked up.
const std::string& gateway::looked_up(const flow& of) const {
  return goes_by_proxy(of) ? options_.proxy_host : of.to().host;
}

/// The addresses that may be connected to. The operator vouches for a proxy's address.
std::vector<sys::endpoint> gateway::usable(const flow& of,
                                           const std::vector<sys::ip_address>& found) {
  const bool is_proxy = goes_by_proxy(of);
  const std::uint16_t port = is_proxy ? options_.proxy_port : of.to().port;
  const bool is_vouched_for = is_proxy || of.to().host == loopback_host;
  std::vector<sys::endpoint> out;
  for (const sys::ip_address& each : found)
    if (is_vouched_for || is_usable(each, of.to().port)) out.push_back({each, port});
  return out;
}

bool gateway::is_usable(const sys::ip_address& address, std::uint16_t port) const {
  const auto bytes = bytes_of(address);
  if (options_.hosts.denies(bytes, port)) return false;
  return options_.hosts.may_lead_to(bytes, port) ||
         (sys::special_purpose_of(address).empty() && !sys::leads_to_this_machine(address));
}

/// Acts on the new state of a flow: resolve, report, watch or remove it.
void gateway::after(std::uint64_t number, held_flow& held) {
  flow& at = *held.what;
  if (at.now() == flow::stage::resolving && !held.asked) {
    held.asked = true;
    resolver_->ask(number, looked_up(at));
  }
  const bool is_over = at.now() == flow::stage::over;
  if (at.now() == flow::stage::relaying && !held.was_connected) {
    held.was_connected = true;
    report(event_of(at, sys::egress_kind::connected, held.began));
  }
  if (!is_over) {
    watch(number, held, 0);
    watch(number, held, 1);
    return;
  }
  // A command that went away before there was a connection has met nothing.
  if (held.was_connected || at.outcome() != sys::egress_kind::ended)
    report(event_of(at, at.outcome(), held.began));
  if (held.asked) resolver_->forget(number, looked_up(at));
  flows_.erase(number);
}

void gateway::watch(std::uint64_t number, held_flow& held, unsigned side) {
  const flow& at = *held.what;
  const int fd = side == 0 ? at.inside() : at.outside();
  const flow::interest wanted = side == 0 ? at.inside_interest() : at.outside_interest();
  if (fd == held.registered[side] && wanted == held.wanted[side]) return;
  const bool was_there = held.registered[side] == fd && held.wanted[side] != flow::interest{};
  held.registered[side] = fd;
  held.wanted[side] = wanted;
  if (fd < 0) return; // closed, and with that no longer waited for
  const sys::readiness asked{
      .key = key_of(number, side), .readable = wanted.read, .writable = wanted.write};
  if (wanted == flow::interest{}) {
    if (was_there) sys::epoll_remove(epoll_.get(), fd);
  } else if (!was_there || !sys::epoll_modify(epoll_.get(), fd, asked)) {
    // Another socket may have the number of one that was closed.
    (void)sys::epoll_add(epoll_.get(), fd, asked).has_value();
  }
}

void gateway::time_passed() {
  looked_ms_ = now_ms_;
  for (auto at = flows_.begin(); at != flows_.end();) {
    const auto each = at++; // `after` may erase it
    each->second.what->time_passed(now_ms_);
    after(each->first, each->second);
  }
}

/// Reports a refusal once, or as often as the command has tried many others in between.
void gateway::report_refusal(sys::egress_kind kind, const std::string& host, std::uint16_t port) {
  if (refusals_.size() >= refusals_max) refusals_.clear();
  if (!refusals_.emplace(kind, host, port).second) return;
  sys::egress_event event{.kind = kind, .port = port, .began = flushed_};
  copy_text(event.host, host, is_of_host);
  report(event);
}

void gateway::report(const sys::egress_event& event) {
  unreported_.push_back(event);
  send_reports();
}

/// Sends what the library has room for. While it has not read much, what commands begin waits: they
/// can neither block what there is already nor do what nobody hears of.
void gateway::send_reports() {
  while (!unreported_.empty() &&
         sys::send_nowait(options_.channel, {reinterpret_cast<const char*>(&unreported_.front()),
                                             sizeof(sys::egress_event)}))
    unreported_.pop_front();
  if (const bool any = !unreported_.empty(); any != std::exchange(waits_for_library_, any))
    (void)sys::epoll_modify(epoll_.get(), options_.channel,
                            {.key = channel_key, .readable = true, .writable = any})
        .has_value();
  const bool is_full = unreported_.size() >= unreported_max;
  if (is_full == std::exchange(is_full_, is_full)) return;
  for (std::size_t i = 0; i < options_.listeners.size(); ++i)
    (void)sys::epoll_modify(epoll_.get(), options_.listeners[i].get(),
                            {.key = first_listener + i, .readable = !is_full})
        .has_value();
}

} // namespace paddock::egress
