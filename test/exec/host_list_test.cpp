// SPDX-License-Identifier: MIT

#include "precompiled/tests.hpp"

#include <paddock/exec/host_list.hpp>

namespace paddock {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

host_list list_of(std::string_view text) {
  host_list list;
  EXPECT_THAT(list.add(text), IsEmpty()) << text;
  return list;
}

TEST(HostList, AllowsWhatItNames) {
  struct row {
    std::string_view list;
    std::string_view name;
    std::uint16_t port;
    bool is_allowed;
  };
  constexpr row rows[] = {
      {"code.example.org", "code.example.org", 443, true},
      {"code.example.org", "code.example.org", 80, true},
      {"code.example.org", "code.example.org", 22, false},
      {"code.example.org:22", "code.example.org", 22, true},
      {"code.example.org:22", "code.example.org", 443, false},
      {"code.example.org", "a.code.example.org", 443, false},
      {"code.example.org", "xcode.example.org", 443, false},
      {"code.example.org", "example.org", 443, false},
      {"Code.Example.ORG", "code.example.org", 443, true},
      {"*.example.net", "a.example.net", 443, true},
      {"*.example.net", "a.b.example.net", 443, true},
      {"*.example.net", "example.net", 443, false},
      {"*.example.net", "xexample.net", 443, false},
      {"*.example.net", "example.net.example.com", 443, false},
      {"*", "anything.at.all", 443, true},
      {"*:8443", "anything.at.all", 443, false},
      {"*,-a.example.org", "a.example.org", 443, false},
      {"-a.example.org,*", "a.example.org", 443, false},
      {"*,-a.example.org", "b.a.example.org", 443, true},
      {"*,-*.example.org", "b.a.example.org", 443, false},
      {"*,-a.example.org:80", "a.example.org", 80, false},
      {"*,-a.example.org:80", "a.example.org", 443, true},
      {"@npm", "registry.npmjs.org", 443, true},
      {"@npm", "registry.npmjs.org", 80, false},
      {"under_score.example.org", "under_score.example.org", 443, true},
      {"ssh://a.example.org", "a.example.org", 22, true},
      {"ssh://a.example.org", "a.example.org", 443, false},
      {"ssh://a.example.org:443", "a.example.org", 443, true},
      {"all", "anything.at.all", 5432, true},
      {"all,-a.example.org", "a.example.org", 5432, false},
      {"all,-all:25", "anything.at.all", 25, false},
      {"all:25", "anything.at.all", 25, true},
      {"all:25", "anything.at.all", 443, false},
      {"10.0.0.0/8", "10.0.0.1", 443, false}, // an address is no name
      {"local:5432", "localhost", 5432, false},
  };
  for (const row& each : rows)
    EXPECT_EQ(list_of(each.list).allows(each.name, each.port), each.is_allowed)
        << each.list << " " << each.name << ":" << each.port;
}

TEST(HostList, KnowsANameThatSomePortOfIsAllowed) {
  EXPECT_TRUE(list_of("a.example.org:22").knows("a.example.org"));
  EXPECT_FALSE(list_of("a.example.org:22").knows("b.example.org"));
  EXPECT_FALSE(list_of("*,-a.example.org").knows("a.example.org"));
  EXPECT_TRUE(list_of("*,-a.example.org:22").knows("a.example.org"));
}

TEST(HostList, ComparesAddressesByTheirBits) {
  constexpr std::array<std::uint8_t, 4> inner{10, 1, 2, 3};
  constexpr std::array<std::uint8_t, 16> mapped{0, 0, 0,    0,    0,  0, 0, 0,
                                                0, 0, 0xff, 0xff, 10, 1, 2, 3};
  constexpr std::array<std::uint8_t, 16> v6{0x20, 0x01, 0x0d, 0xb8};
  EXPECT_TRUE(list_of("10.0.0.0/8").allows(inner, 443));
  EXPECT_TRUE(list_of("10.0.0.0/8").allows(mapped, 443));
  EXPECT_FALSE(list_of("10.0.0.0/8").allows(inner, 5432));
  EXPECT_TRUE(list_of("10.0.0.0/8").may_lead_to(inner, 5432));
  EXPECT_FALSE(list_of("10.0.0.0/8:443").may_lead_to(inner, 5432));
  EXPECT_TRUE(list_of("10.1.2.3:5432").allows(inner, 5432));
  EXPECT_FALSE(list_of("10.1.2.0/31").allows(inner, 443));
  EXPECT_TRUE(list_of("0.0.0.0/0").allows(inner, 443));
  EXPECT_FALSE(list_of("0.0.0.0/0").allows(v6, 443));
  EXPECT_TRUE(list_of("[2001:db8::/32]:443").allows(v6, 443));
  EXPECT_TRUE(list_of("[::/0]").allows(v6, 443));
  EXPECT_FALSE(list_of("[::/0]").allows(inner, 443));
  EXPECT_FALSE(list_of("*,-[::/0]").denies(inner, 443));
  EXPECT_TRUE(list_of("2001:db8::").allows(v6, 443));
  EXPECT_FALSE(list_of("10.0.0.0/8,-10.1.0.0/16").allows(inner, 443));
  EXPECT_TRUE(list_of("*,-10.1.0.0/16").denies(inner, 443));
  EXPECT_FALSE(list_of("*").denies(inner, 443));
  EXPECT_TRUE(list_of("10.0.0.0/8,-10.1.2.3:22").allows(inner, 443));
  EXPECT_FALSE(list_of("10.0.0.0/8:22,-10.1.2.3:22").allows(inner, 22));
  EXPECT_TRUE(list_of("all").allows(inner, 5432)); // where it is public, which is judged later
  EXPECT_FALSE(list_of("all").may_lead_to(inner, 5432));
  EXPECT_TRUE(list_of("all,10.0.0.0/8").may_lead_to(inner, 5432));
  EXPECT_FALSE(list_of("all,-10.0.0.0/8").allows(inner, 443));
}

TEST(HostList, ListensAtWhatIsNamed) {
  EXPECT_THAT(list_of("a.example.org:8443,local:5432,-b.example.org:99").ports(),
              ElementsAre(22, 80, 443, 5432, 8443));
  EXPECT_THAT(list_of("all,a.example.org:8443,local:5432").ports(), ElementsAre(0, 5432));
  EXPECT_THAT(list_of("all:8443").ports(), ElementsAre(22, 80, 443, 8443));
  EXPECT_TRUE(list_of("local:5432").allows_own(5432));
  EXPECT_FALSE(list_of("local:5432").allows_own(80));
}

TEST(HostList, IsWrittenSoThatItIsReadAgain) {
  const host_list list =
      list_of("a.example.org:22,LOCAL:99,*.B.example,-*.c.b.example,*,10.0.0.0/8:80,"
              "[2001:db8::/32],local:5432,@go,@github,all,-all:25,ssh://a.example.org:443,-ssh://"
              "b_.example.org");
  EXPECT_EQ(list_of(list.text()), list) << list.text();
}

TEST(HostList, SaysWhatIsNoEntry) {
  constexpr std::pair<std::string_view, std::string_view> rows[] = {
      {"", "is no host"},
      {"a.example.org,", "is no host"},
      {"-a.example.org", "allows nothing"},
      {"[a.example.org]:443", "brackets"},
      {"localhost:80", "write local:PORT"},
      {"127.0.0.1:5432", "write local:PORT"},
      {",a.example.org", "is no host"},
      {"https://a.example.org", "is no host"},
      {"a.example.org/path", "is no host"},
      {"a.example.org.", "is no host"},
      {".example.org", "is no host"},
      {"a..example.org", "is no host"},
      {"a.*.example.org", "is no host"},
      {"*example.org", "is no host"},
      {"-", "is no host"},
      {"127.1", "local:PORT"},
      {"0x7f.1", "is no host"},
      {"2130706433", "is no host"},
      {"0x7f000001", "is no host"},
      {"10.0.0.0/33", "is no host"},
      {"a.example.org:0", "has no port"},
      {"a.example.org:65536", "has no port"},
      {"a.example.org:", "has no port"},
      {"a.example.org:http", "has no port"},
      {"[::1", "has no port"},
      {"a.example.org:53", "port 53"},
      {"local", "write local:PORT"},
      {"@nobody", "there is no set @nobody; there are @npm"},
  };
  for (const auto& [text, said] : rows) {
    host_list list;
    EXPECT_THAT(list.add(text), HasSubstr(said)) << text;
    EXPECT_TRUE(list.empty()) << text;
  }
  host_list long_name;
  EXPECT_THAT(long_name.add(std::string(64, 'a') + ".example.org"), HasSubstr("is no host"));
  std::string many;
  for (int i = 0; i < 1001; ++i)
    many += (i == 0 ? "h" : ",h") + std::to_string(i) + ".example.org";
  EXPECT_THAT(long_name.add(many), HasSubstr("more than 1000 entries"));
}

} // namespace
} // namespace paddock
