// SPDX-License-Identifier: MIT
// Which URLs are understood, and which addresses may be connected to.
#include "mcp/client/http/http_message.hpp"
#include "mcp/client/http/transfer/address_policy.hpp"
#include "mcp/client/http/transfer/url.hpp"
#include "mcp/protocol/header_value.hpp"
#include "support/matchers.hpp"
#include "support/words.hpp"
#include "sys/special_address.hpp"

#include <arpa/inet.h>

namespace paddock::mcp {
namespace {

using test::IsError;
using testing::HasSubstr;
using testing::IsEmpty;

sys::ip_address address(const std::string& text) {
  sys::ip_address out;
  const bool v6 = text.find(':') != std::string::npos;
  out.kind = v6 ? sys::ip_address::family::v6 : sys::ip_address::family::v4;
  EXPECT_EQ(::inet_pton(v6 ? AF_INET6 : AF_INET, text.c_str(), out.bytes.data()), 1) << text;
  return out;
}

// --- addresses ----------------------------------------------------------------------------------

TEST(address_policy, public_addresses) {
  for (const std::string& text :
       test::words("1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 "
                   "126.255.255.255 128.0.0.1 169.253.255.255 169.255.0.0 172.15.255.255 "
                   "172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.167.255.255 192.169.0.0 "
                   "198.17.255.255 198.20.0.0 223.255.255.255 2606:4700::1111 2a00::1 "
                   "2001:200::1 2001:4860:4860::8888 2002:808:808::1 64:ff9b::8.8.8.8 "
                   "::ffff:8.8.8.8 ::8.8.8.8 2001:0:808:808:0:0:f7f7:f7f7"))
    EXPECT_THAT(sys::special_purpose_of(address(text)), IsEmpty()) << text;
}

TEST(address_policy, addresses_that_are_not_public) {
  // IPv6 addresses with an IPv4 one inside among them; 2001:0: is a Teredo server or client.
  const std::pair<const char*, const char*> cases[] = {
      {"this network", "0.0.0.0 0.0.0.1 ::2"},
      {"private", "10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 fc00::1 "
                  "fd12:3456::1 ::ffff:10.0.0.1 2002:c0a8:101::1 2001:0:808:808:0:0:3f57:fefe"},
      {"carrier", "100.64.0.0 100.127.255.255"},
      {"loopback", "127.0.0.1 127.255.255.254 ::1 ::ffff:127.0.0.1 ::ffff:7f00:1 ::127.0.0.1 "
                   "64:ff9b::127.0.0.1 2002:7f00:1:: 2001:0:7f00:1::f7f7:f7f7 "
                   "2001:0:808:808:0:0:80ff:fffe"},
      {"link-local", "169.254.169.254 fe80::1 febf::1 64:ff9b::a9fe:a9fe"},
      {"protocol", "192.0.0.8 2001:2::1 2001:10::1"},
      {"documentation", "192.0.2.1 198.51.100.1 203.0.113.1 2001:db8::1 3fff:fff::1"},
      {"6to4", "192.88.99.1"},
      {"benchmarks", "198.18.0.1 198.19.255.255"},
      {"multicast", "224.0.0.1 239.255.255.255 ff02::1"},
      {"reserved", "240.0.0.1 255.255.255.255 100::1 4000::1 5f00::1 64:ff9b:1::1"},
      {"unspecified", "::"},
      {"site-local", "fec0::1"},
  };
  for (const auto& [what, texts] : cases)
    for (const std::string& text : test::words(texts))
      EXPECT_THAT(sys::special_purpose_of(address(text)), HasSubstr(what)) << text;
}

host_resolver always(std::vector<std::string> texts) {
  return [texts](const std::string&) -> result<std::vector<sys::ip_address>> {
    std::vector<sys::ip_address> out;
    for (const std::string& text : texts)
      out.push_back(address(text));
    return out;
  };
}

result<std::vector<sys::ip_address>, detailed_error>
judge(const std::string& text, address_policy policy, const host_resolver& resolve) {
  const auto to = parse_url(text);
  EXPECT_TRUE(to) << text;
  return allowed_addresses(*to, policy, resolve);
}

TEST(address_policy, every_address_of_a_name_is_judged) {
  const struct {
    std::vector<std::string> addresses;
    bool allowed;
  } cases[] = {
      {{"8.8.8.8"}, true},
      {{"8.8.8.8", "2606:4700::1111"}, true},
      {{"127.0.0.1"}, false},
      {{"8.8.8.8", "127.0.0.1"}, false},
      {{"8.8.8.8", "2606:4700::1111", "fd00::1"}, false},
      {{"::ffff:10.0.0.1"}, false},
  };
  for (const auto& c : cases) {
    const auto got =
        judge("https://rebind.example", address_policy::public_only, always(c.addresses));
    EXPECT_EQ(got.has_value(), c.allowed) << testing::PrintToString(c.addresses);
    if (got) {
      EXPECT_EQ(got->size(), c.addresses.size());
    } else {
      EXPECT_THAT(
          got, IsError(error_code::denied_by_policy,
                       testing::AllOf(HasSubstr("rebind.example"), HasSubstr(c.addresses.back()))));
    }
  }
}

TEST(address_policy, a_name_is_looked_up_once) {
  int asked = 0;
  const host_resolver rebinding = [&](const std::string&) -> result<std::vector<sys::ip_address>> {
    return std::vector{address(++asked == 1 ? "8.8.8.8" : "127.0.0.1")};
  };
  const http_endpoint to{.url = "https://rebind.example/mcp", .headers = {}};
  const auto server = origin_of(to, 1'000, rebinding);
  ASSERT_TRUE(server);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(server->addresses, std::vector{address("8.8.8.8")});
}

TEST(address_policy, only_https_is_public) {
  EXPECT_THAT(judge("http://example.com", address_policy::public_only, always({"8.8.8.8"})),
              IsError(error_code::denied_by_policy, HasSubstr("https")));
}

TEST(address_policy, any_allows_all) {
  for (const char* text : {"http://x.example", "https://x.example"})
    EXPECT_TRUE(judge(text, address_policy::any, always({"127.0.0.1", "fd00::1"})));
}

TEST(address_policy, says_what_the_resolver_found_wrong) {
  for (const error_code code : {error_code::not_found, error_code::timed_out, error_code::io}) {
    const auto failing = [&](const std::string&) -> result<std::vector<sys::ip_address>> {
      return error{code, 0, "getaddrinfo"};
    };
    EXPECT_THAT(judge("https://gone.example", address_policy::public_only, failing),
                IsError(code, HasSubstr("gone.example")));
  }
  EXPECT_FALSE(judge("https://empty.example", address_policy::any, always({})));
}

/// With the system's own resolver, which reads every spelling of an address that the C library
/// knows.
TEST(address_policy, spellings_of_this_machine) {
  for (const std::string& text :
       test::words("https://127.0.0.1/ https://127.1/ https://2130706433/ https://0x7f.1/ "
                   "https://0x7f000001/ https://0177.0.0.1/ https://017700000001/ "
                   "https://127.0.0.1:8443/ https://0.0.0.0/ https://0/ https://0.0.0.1/ "
                   "https://localhost/ https://LOCALHOST/ https://localhost./ "
                   "https://foo.localhost/ https://[::1]/ https://[::]/ "
                   "https://[0:0:0:0:0:0:0:1]/ https://[::ffff:127.0.0.1]/ "
                   "https://[::ffff:7f00:1]/ https://[::127.0.0.1]/ https://[fe80::1]/ "
                   "https://[fd00::1]/ https://[64:ff9b::7f00:1]/ https://[2002:7f00:1::]/ "
                   "https://10.1.2.3/ https://169.254.169.254/latest/meta-data/ "
                   "https://100.64.0.1/ https://198.18.0.1/ https://224.0.0.1/ "
                   "https://192.168.1.1.:443/")) {
    const auto got = judge(text, address_policy::public_only, system_resolver(20'000));
    ASSERT_FALSE(got) << text;
    // Some spellings are none to some resolvers; what matters is that no connection is made.
    EXPECT_THAT(got.error().code,
                testing::AnyOf(error_code::denied_by_policy, error_code::not_found, error_code::io))
        << text;
  }
}

/// These are resolved on every machine, so they must be refused for what they are.
TEST(address_policy, spellings_that_every_resolver_knows) {
  for (const char* text : {"https://127.0.0.1/", "https://127.1/", "https://2130706433/",
                           "https://0x7f.1/", "https://0177.0.0.1/", "https://0.0.0.1/",
                           "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[fd00::1]/"}) {
    const auto got = judge(text, address_policy::public_only, system_resolver(20'000));
    EXPECT_THAT(got, IsError(error_code::denied_by_policy)) << text;
  }
}

// --- URLs ---------------------------------------------------------------------------------------

TEST(url, parts) {
  const struct {
    const char* text;
    url_scheme scheme;
    const char* host;
    int port;
    const char* target;
    const char* authority;
  } cases[] = {
      {"https://a.example", url_scheme::https, "a.example", 443, "/", "a.example"},
      {"HTTPS://A.Example/", url_scheme::https, "a.example", 443, "/", "a.example"},
      {"http://a", url_scheme::http, "a", 80, "/", "a"},
      {"https://a:443/x", url_scheme::https, "a", 443, "/x", "a"},
      {"https://a:/x", url_scheme::https, "a", 443, "/x", "a"},
      {"https://a:80/x", url_scheme::https, "a", 80, "/x", "a:80"},
      {"http://a:65535/x?y=z#f", url_scheme::http, "a", 65535, "/x?y=z", "a:65535"},
      {"https://a?q", url_scheme::https, "a", 443, "/?q", "a"},
      {"https://a#f", url_scheme::https, "a", 443, "/", "a"},
      {"https://a.:8/%20", url_scheme::https, "a.", 8, "/%20", "a.:8"},
      {"https://[::1]:8/", url_scheme::https, "::1", 8, "/", "[::1]:8"},
      {"https://[FE80::1]", url_scheme::https, "fe80::1", 443, "/", "[fe80::1]"},
  };
  for (const auto& c : cases) {
    const auto got = parse_url(c.text);
    ASSERT_TRUE(got) << c.text;
    EXPECT_EQ(got->scheme, c.scheme) << c.text;
    EXPECT_EQ(got->host, c.host) << c.text;
    EXPECT_EQ(got->port, c.port) << c.text;
    EXPECT_EQ(got->target, c.target) << c.text;
    EXPECT_EQ(got->authority(), c.authority) << c.text;
  }
}

TEST(url, refused) {
  const std::string texts[] = {
      "",
      "https:",
      "https://",
      "https:///x",
      "https://:80/",
      "ftp://a/",
      "file:///etc/passwd",
      "javascript:alert(1)",
      "//a/",
      "a.example",
      "https://user@a/",
      "https://user:password@a/",
      "https://a@127.0.0.1/",
      "https://a\\@b/",
      "https://a\\b/",
      "https://a b/",
      " https://a/",
      "https://a/ ",
      "https://a/\r\nHost: b",
      "https://a/x\ty",
      std::string("https://a/\0", 11),
      "https://a%2eb/",
      "https://\xC3\xA4.example/",
      "https://a.example/\xC3\xA4",
      "https://a..b/",
      "https://.a/",
      "https://a:0/",
      "https://a:65536/",
      "https://a:-1/",
      "https://a:x/",
      "https://a:80x/",
      "https://[::1/",
      "https://[]/",
      "https://[127.0.0.1]/",
      "https://[fe80::1%25eth0]/",
      "https://[::1]x/",
      "https://::1/",
      "https://a/" + std::string(url_bytes_max, 'x'),
      "https://" + std::string(300, 'a') + "/",
  };
  for (const std::string& text : texts) {
    const auto got = parse_url(text);
    ASSERT_FALSE(got) << text << " -> " << got->host;
    EXPECT_EQ(got.error().code, error_code::invalid_argument);
    EXPECT_THAT(got.error().operation, testing::Not(testing::StrEq("")));
  }
}

TEST(url, references) {
  const struct {
    const char* reference;
    const char* origin;
    const char* target;
  } cases[] = {
      {"", "http://a:8", "/x/y?q"},
      {"#f", "http://a:8", "/x/y?q"},
      {"/m?s=1", "http://a:8", "/m?s=1"},
      {"m?s=1", "http://a:8", "/x/m?s=1"},
      {"?s=1", "http://a:8", "/x/y?s=1"},
      {"//b/m", "http://b", "/m"},
      {"http://a:8/m", "http://a:8", "/m"},
      {"https://a:8/m", "https://a:8", "/m"},
      {"http://169.254.169.254/m", "http://169.254.169.254", "/m"},
      {"/m:x", "http://a:8", "/m:x"},
      {"?m:x", "http://a:8", "/x/y?m:x"},
  };
  const auto base = parse_url("http://a:8/x/y?q");
  ASSERT_TRUE(base);
  for (const auto& c : cases) {
    const auto got = resolve_reference(*base, c.reference);
    ASSERT_TRUE(got) << c.reference;
    EXPECT_EQ(got->origin(), c.origin) << c.reference;
    EXPECT_EQ(got->target, c.target) << c.reference;
    EXPECT_EQ(same_origin(*base, *got), got->origin() == "http://a:8") << c.reference;
  }
  for (const char* text : {"mailto:a", "a b", "\\\\b/m", "javascript:1", "//u@b/", "x\r\ny"})
    EXPECT_FALSE(resolve_reference(*base, text)) << text;
}

TEST(url, of_a_proxy) {
  for (const char* text : {"http://a:3128", "https://a", "http://user:word@10.0.0.1:8080/"})
    EXPECT_TRUE(check_proxy(text)) << text;
  for (const char* text : {"", "a:3128", "socks5://a", "file:///x", "http://", "http://a/path",
                           "http://a b", "http://a:99999", "http://a\r\nX: y"})
    EXPECT_FALSE(check_proxy(text)) << text;
}

/// The proxy looks up names, but what the URL itself says is judged.
TEST(address_policy, behind_a_proxy) {
  const host_resolver none = [](const std::string&) -> result<std::vector<sys::ip_address>> {
    ADD_FAILURE() << "names are the proxy's business";
    return error{error_code::not_found, 0, "getaddrinfo"};
  };
  const struct {
    const char* url;
    address_policy policy;
    bool allowed;
  } cases[] = {
      {"https://a.example/", address_policy::public_only, true},
      {"https://8.8.8.8/", address_policy::public_only, true},
      {"http://a.example/", address_policy::public_only, false},
      {"https://127.0.0.1/", address_policy::public_only, false},
      {"https://2130706433/", address_policy::public_only, false},
      {"https://[::1]/", address_policy::public_only, false},
      {"http://127.0.0.1/", address_policy::any, true},
  };
  for (const auto& c : cases) {
    const http_endpoint to{.url = c.url, .addresses = c.policy, .proxy = "http://10.0.0.1:3128"};
    const auto got = origin_of(to, 1'000, none);
    EXPECT_EQ(got.has_value(), c.allowed) << c.url;
    if (got) continue;
    EXPECT_EQ(got.error().code, error_code::denied_by_policy) << c.url;
  }
  EXPECT_THAT(origin_of({.url = "https://a.example", .proxy = "a:3128"}, 1'000, none),
              IsError(error_code::invalid_argument, HasSubstr("proxy")));
}

// --- headers ------------------------------------------------------------------------------------

TEST(http_headers, values_that_a_header_cannot_carry_are_encoded) {
  const struct {
    const char* text;
    const char* value;
  } cases[] = {
      {"", ""},
      {"echo", "echo"},
      {"a b", "a b"},
      {" a", "=?base64?IGE=?="},
      {"a ", "=?base64?YSA=?="},
      {"a\nb", "=?base64?YQpi?="},
      {"\xC3\xA4", "=?base64?w6Q=?="},
      {"=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="},
      {"a\x7f", "=?base64?YX8=?="},
  };
  for (const auto& c : cases)
    EXPECT_EQ(header_value_of(c.text), c.value) << c.text;
}

TEST(http_headers, of_the_configuration) {
  const struct {
    const char* name;
    const char* value;
    bool good;
  } cases[] = {
      {"Authorization", "Bearer x", true},
      {"X-Key", "", true},
      {"X-Key", "a\tb", true},
      {"User-Agent", "x", true},
      {"", "x", false},
      {"X Key", "x", false},
      {"X:Key", "x", false},
      {"X-Key", "a\r\nHost: b", false},
      {"X-Key", "a\nb", false},
      {"X-Key\r\n", "a", false},
      {"Host", "b", false},
      {"content-length", "1", false},
      {"Transfer-Encoding", "x", false},
      {"MCP-Session-Id", "x", false},
      {"Connection", "close", false},
  };
  for (const auto& c : cases) {
    const http_endpoint to{.url = "https://a.example", .headers = {{c.name, c.value}}};
    const auto got = origin_of(to, 1'000, always({"8.8.8.8"}));
    EXPECT_EQ(got.has_value(), c.good) << c.name << ": " << c.value;
    if (!got) {
      EXPECT_THAT(got, IsError(error_code::invalid_argument, testing::Not(IsEmpty())));
    }
  }
}

} // namespace
} // namespace paddock::mcp
