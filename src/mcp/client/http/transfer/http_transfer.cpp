// SPDX-License-Identifier: MIT
#include "mcp/client/http/transfer/http_transfer.hpp"

#include "mcp/client/http/transfer/address_policy.hpp"
#include "sys/special_address.hpp"
#include "sys/syscall.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>
#include <limits>

namespace paddock::mcp {
namespace {

/// How libcurl's words begin is not how a sentence goes on.
std::string in_a_sentence(const char* text) {
  std::string out(text);
  if (out.size() > 1 && std::islower(static_cast<unsigned char>(out[1])) != 0)
    out[0] = detail::ascii_lower(out[0]);
  return out;
}

struct meaning {
  CURLcode code;
  error_code reason;
  const char* why;
  bool goes_on; ///< with what libcurl says
};

constexpr meaning meanings[] = {
    {CURLE_COULDNT_RESOLVE_PROXY, error_code::not_found, "there is no such proxy: ", true},
    {CURLE_COULDNT_RESOLVE_HOST, error_code::not_found, "there is no such host: ", true},
    {CURLE_COULDNT_CONNECT, error_code::io, "the server can't be reached", false},
    {CURLE_OPERATION_TIMEDOUT, error_code::timed_out, "the server could not be reached in time",
     false},
    {CURLE_PROXY, error_code::io, "the proxy does not lead to the server: ", true},
    {CURLE_GOT_NOTHING, error_code::io, "the connection ended without an answer", false},
    // What may have been received once is not sent again (`is_sent_again`).
    {CURLE_ABORTED_BY_CALLBACK, error_code::io, "the connection ended without an answer", false},
    {CURLE_PARTIAL_FILE, error_code::io, "the connection ended in the middle of the answer", false},
    {CURLE_UNSUPPORTED_PROTOCOL, error_code::io, "the answer is not HTTP", false},
    // A line of the head that goes on and on, to libcurl before 8.6 and after.
    {CURLE_OUT_OF_MEMORY, error_code::io, "the head of the answer is too long", false},
    {static_cast<CURLcode>(100), error_code::io, "the head of the answer is too long", false},
    {CURLE_PEER_FAILED_VERIFICATION, error_code::io,
     "the server's certificate is not accepted: ", true},
    {CURLE_SSL_CACERT_BADFILE, error_code::io, "the CA certificates can't be loaded: ", true},
    {CURLE_SSL_CERTPROBLEM, error_code::io, "the client's certificate can't be used: ", true},
    {CURLE_SSL_CONNECT_ERROR, error_code::io, "TLS failed: ", true},
};

std::string line_of(std::string_view name, std::string_view value) {
  std::string out(name);
  // "name:" would mean that the header is left out.
  return value.empty() ? out + ";" : out.append(": ").append(value);
}

const char* given(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

/// As CURLOPT_RESOLVE wants it. Of several addresses that are all of IPv4 every other one is
/// written as one of IPv6, because libcurl tries one of each in parallel; `open_socket` takes it
/// back. It begins with the first one, and later versions with IPv6.
std::string resolved(const http_origin& origin) {
  const bool only_v4 = std::ranges::all_of(origin.addresses, [](const sys::ip_address& a) {
    return a.kind == sys::ip_address::family::v4;
  });
  const bool are_mapped = only_v4 && origin.addresses.size() > 1;
  std::string out = origin.to.host + ":" + std::to_string(origin.to.port) + ":";
  for (std::size_t i = 0; i < origin.addresses.size(); ++i) {
    const std::string text = sys::inet_ntop(origin.addresses[i]);
    const bool is_v6 = origin.addresses[i].kind == sys::ip_address::family::v6;
    if (i != 0) out += ",";
    out += is_v6 ? "[" + text + "]" : are_mapped && i % 2 == 0 ? "[::ffff:" + text + "]" : text;
  }
  return out;
}

} // namespace

http_transfer::http_transfer(http_origin& origin, std::uint64_t number, http_request request,
                             std::unique_ptr<response_handler> handler, curl_handle handle)
    : deadline_ms(std::numeric_limits<std::int64_t>::max()), origin_(origin), number_(number),
      request_(std::move(request)), handler_(std::move(handler)),
      reader_(origin.to.scheme == url_scheme::https), handle_(std::move(handle)) {}

curl_handle http_transfer::take_handle() noexcept {
  if (handle_) libcurl().easy_reset(handle_.get());
  return std::move(handle_);
}

bool http_transfer::set_up() {
  return handle_ && set_up_request() && set_up_connection() && set_up_callbacks();
}

bool http_transfer::set_up_request() {
  CURL* const h = handle_.get();
  const auto add = [](text_list& to, const std::string& line) {
    curl_slist* const longer = libcurl().slist_append(to.get(), line.c_str());
    if (longer == nullptr) return false;
    (void)to.release();
    to.reset(longer);
    return true;
  };
  for (const auto& [name, value] : request_.headers)
    if (!add(headers_, line_of(name, value))) return false;
  if (!add(headers_, "Expect:")) return false; // no round trip before a large body
  const std::string method(request_.method);
  const std::string address = origin_.to.origin() + request_.target;
  bool good = libcurl().easy_setopt(h, CURLOPT_URL, address.c_str()) == CURLE_OK &&
              libcurl().easy_setopt(h, CURLOPT_PATH_AS_IS, 1L) == CURLE_OK &&
              libcurl().easy_setopt(h, CURLOPT_HTTPHEADER, headers_.get()) == CURLE_OK;
  if (method == "POST") // a body that is given at once travels with the head, in one packet
    good = good && libcurl().easy_setopt(h, CURLOPT_POST, 1L) == CURLE_OK &&
           libcurl().easy_setopt(h, CURLOPT_POSTFIELDS, request_.body.c_str()) == CURLE_OK &&
           libcurl().easy_setopt(h, CURLOPT_POSTFIELDSIZE_LARGE,
                                 static_cast<curl_off_t>(request_.body.size())) == CURLE_OK;
  else
    good = good && libcurl().easy_setopt(h, CURLOPT_CUSTOMREQUEST, method.c_str()) == CURLE_OK;
  if (good && !origin_.addresses.empty() && !sys::inet_pton(origin_.to.host))
    good = add(addresses_, resolved(origin_)) &&
           libcurl().easy_setopt(h, CURLOPT_RESOLVE, addresses_.get()) == CURLE_OK;
  return good;
}

bool http_transfer::set_up_connection() {
  const struct {
    CURLoption option;
    long value;
  } numbers[] = {
      {CURLOPT_NOSIGNAL, 1},
      {CURLOPT_FOLLOWLOCATION, 0},
      {CURLOPT_SUPPRESS_CONNECT_HEADERS, 1},
      {CURLOPT_HEADEROPT, CURLHEADER_SEPARATE}, // a tunnel is asked for without ours
      {CURLOPT_SSL_VERIFYPEER, 1},
      {CURLOPT_SSL_VERIFYHOST, 2},
      {CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2},
      {CURLOPT_SSL_OPTIONS, CURLSSLOPT_NO_PARTIALCHAIN},
      {CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(origin_.connect_timeout_ms)},
      {CURLOPT_MAXAGE_CONN, static_cast<long>(idle_ms_max / 1000)},
  };
  // Unless libcurl was built without it, which is all that can go wrong here.
  (void)libcurl().easy_setopt(handle_.get(), CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
  for (const auto& [option, value] : numbers)
    if (libcurl().easy_setopt(handle_.get(), option, value) != CURLE_OK) return false;
  const struct {
    CURLoption option;
    const char* value;
  } texts[] = {
      {CURLOPT_PROTOCOLS_STR, "http,https"},
      // Nothing of the environment decides where messages go.
      {CURLOPT_PROXY, origin_.proxy.c_str()},
      {CURLOPT_NOPROXY, ""},
      {CURLOPT_SSLCERT, given(origin_.client_certificate)},
      {CURLOPT_SSLKEY, given(origin_.client_key)},
      {CURLOPT_CAINFO, given(origin_.authorities_file)},
      {CURLOPT_CAPATH, given(origin_.authorities_directory)},
  };
  for (const auto& [option, value] : texts)
    if (value != nullptr && libcurl().easy_setopt(handle_.get(), option, value) != CURLE_OK)
      return false;
  return true;
}

bool http_transfer::set_up_callbacks() {
  CURL* const h = handle_.get();
  for (const CURLoption option :
       {CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_OPENSOCKETDATA, CURLOPT_PREREQDATA})
    if (libcurl().easy_setopt(h, option, this) != CURLE_OK) return false;
  return libcurl().easy_setopt(h, CURLOPT_ERRORBUFFER, problem_) == CURLE_OK &&
         libcurl().easy_setopt(h, CURLOPT_HEADERFUNCTION, &on_header) == CURLE_OK &&
         libcurl().easy_setopt(h, CURLOPT_WRITEFUNCTION, &on_body) == CURLE_OK &&
         libcurl().easy_setopt(h, CURLOPT_OPENSOCKETFUNCTION, &open_socket) == CURLE_OK &&
         libcurl().easy_setopt(h, CURLOPT_PREREQFUNCTION, &on_connected) == CURLE_OK;
}

// --- called by libcurl --------------------------------------------------------------------------

std::size_t http_transfer::on_header(char* bytes, std::size_t, std::size_t n, void* self) {
  auto& t = *static_cast<http_transfer*>(self);
  if (t.is_over_) return CURL_WRITEFUNC_ERROR;
  switch (t.reader_.next({bytes, n})) {
  case http_head_reader::step::more:
    return n;
  case http_head_reader::step::head:
    if (t.handler_->on_head(t.reader_.head())) return n;
    t.abandon();
    return CURL_WRITEFUNC_ERROR;
  case http_head_reader::step::bad:
    return CURL_WRITEFUNC_ERROR;
  }
  return CURL_WRITEFUNC_ERROR;
}

std::size_t http_transfer::on_body(char* bytes, std::size_t, std::size_t n, void* self) {
  auto& t = *static_cast<http_transfer*>(self);
  if (t.is_over_) return CURL_WRITEFUNC_ERROR;
  if (n == 0 || t.handler_->on_body({bytes, n})) return n;
  t.abandon();
  return CURL_WRITEFUNC_ERROR;
}

curl_socket_t http_transfer::open_socket(void* self, curlsocktype, curl_sockaddr* address) {
  auto& t = *static_cast<http_transfer*>(self);
  if (const std::size_t bytes = sys::unmap(address->addr); bytes != 0) {
    address->family = address->addr.sa_family;
    address->addrlen = static_cast<unsigned>(bytes);
  }
  sys::restore_scope(address->addr, t.origin_.addresses);
  const auto to = sys::address_of(address->addr);
  const std::string_view what = t.origin_.allowed == address_policy::any ? ""
                                : to ? sys::special_purpose_of(*to)
                                     : "unknown";
  if (!what.empty()) {
    t.denied_ = "the host " + t.origin_.to.host + " has an address that is " + std::string(what) +
                " and not public; use a public server, or allow local addresses for this one";
    return CURL_SOCKET_BAD;
  }
  auto made = sys::stream_socket(address->family);
  return made ? made->release() : CURL_SOCKET_BAD;
}

int http_transfer::on_connected(void* self, char* address, char*, int, int) {
  auto& t = *static_cast<http_transfer*>(self);
  if (t.is_over_ || t.is_sent_again()) return CURL_PREREQFUNC_ABORT;
  if (!t.is_connected_) t.sent_before_ = t.sent_bytes(); // to a proxy, for a way through it
  t.is_connected_ = true;
  t.prefer(address);
  t.handler_->on_connected();
  return CURL_PREREQFUNC_OK;
}

/// Whether libcurl is about to send once more, on another connection, what was sent on one that had
/// been used before and ended without an answer. The server may have done what it was asked.
bool http_transfer::is_sent_again() const {
  return is_connected_ && sent_bytes() > sent_before_ && request_.method == "POST";
}

long http_transfer::sent_bytes() const {
  long bytes = 0;
  (void)libcurl().easy_getinfo(handle_.get(), CURLINFO_REQUEST_SIZE, &bytes);
  return bytes;
}

/// The address that answered is the first one to try from here on.
void http_transfer::prefer(std::string_view address) {
  const auto answered = sys::inet_pton(address);
  auto& all = origin_.addresses;
  if (!answered) return;
  const auto same = [&](const sys::ip_address& a) {
    return a.kind == answered->kind && a.bytes == answered->bytes;
  };
  const auto found = std::ranges::find_if(all, same);
  if (found != all.end()) std::rotate(all.begin(), found, std::next(found));
}

// --- the end ------------------------------------------------------------------------------------

void http_transfer::finish(CURLcode code) {
  if (is_over_) return;
  // An end within the head is none to libcurl.
  if (code == CURLE_OK && !reader_.is_complete()) code = CURLE_PARTIAL_FILE;
  if (code != CURLE_OK) return fail(failure_of(code));
  is_over_ = true;
  handler_->on_end(nullptr);
}

void http_transfer::fail(const http_failure& failure) {
  if (is_over_) return;
  is_over_ = true;
  handler_->on_end(&failure);
}

http_failure http_transfer::failure_of(CURLcode code) const {
  if (!denied_.empty()) return {{error_code::denied_by_policy, 0, "address_policy"}, denied_};
  if (*reader_.problem() != '\0') return {{error_code::io, 0, "http"}, reader_.problem()};
  const std::string said =
      in_a_sentence(*problem_ == '\0' ? libcurl().easy_strerror(code) : problem_);
  // The proxy's own answer is none of the server's.
  if ((code == CURLE_RECV_ERROR || code == CURLE_COULDNT_CONNECT) && !is_connected_ &&
      !origin_.proxy.empty())
    code = CURLE_PROXY;
  const auto found = std::ranges::find(meanings, code, &meaning::code);
  if (found == std::end(meanings))
    return {{error_code::io, 0, "http"}, "the answer can't be read: " + said};
  long os_errno = 0;
  if (code == CURLE_COULDNT_CONNECT)
    (void)libcurl().easy_getinfo(handle_.get(), CURLINFO_OS_ERRNO, &os_errno);
  const error reason = os_errno == 0 ? error{found->reason, 0, "http"}
                                     : sys::failure(static_cast<int>(os_errno), "connect");
  return {reason, found->why + (found->goes_on ? said : "")};
}

} // namespace paddock::mcp
