// SPDX-License-Identifier: MIT
// The client over TLS, against a server that is not ours, with certificates made on the spot.
#include "mcp/client/client_transport.hpp"
#include "support/files/temp_tree.hpp"
#include "support/http/http_peer.hpp"
#include "support/matchers.hpp"
#include "support/mcp/transport_sink.hpp"

#include <paddock/mcp/json.hpp>

namespace paddock::test {
namespace {

using testing::HasSubstr;

const std::string answer = R"({"jsonrpc":"2.0","id":1,"result":{}})";

mcp::request_id id_of(int id) {
  mcp::json_document document;
  return *mcp::request_id::from(*document.parse(std::to_string(id)));
}

/// An authority of the test's own, and what it signs.
class authority {
public:
  [[nodiscard]] bool make() {
    return run(
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj '/CN=test "
        "authority' -keyout ca.key -out ca.pem");
  }
  [[nodiscard]] bool sign(const std::string& name, const std::string& alternative_names, int days) {
    tree_.file(name + ".ext", "subjectAltName=" + alternative_names + "\n");
    return run("req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj '/CN=test' -keyout " +
               name + ".key -out " + name + ".csr") &&
           run("x509 -req -in " + name + ".csr -CA ca.pem -CAkey ca.key -CAcreateserial -days " +
               std::to_string(days) + " -extfile " + name + ".ext -out " + name + ".pem");
  }
  [[nodiscard]] std::string operator/(const std::string& name) const { return tree_ / name; }
  void file(const std::string& name, const std::string& content) const {
    tree_.file(name, content);
  }

private:
  [[nodiscard]] bool run(const std::string& arguments) const {
    const std::string line =
        "cd '" + tree_.path() + "' && openssl " + arguments + " >>openssl.log 2>&1";
    return std::system(line.c_str()) == 0;
  }
  temp_tree tree_;
};

/// support/http/tls_server.py at work.
class tls_server {
public:
  /// With `clients` only those that this authority has signed are served.
  tls_server(const std::string& certificate, const std::string& key,
             const std::string& clients = {}) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::execlp("python3", "python3", PADDOCK_TEST_TLS_SERVER, certificate.c_str(), key.c_str(),
               count_.c_str(), clients.empty() ? nullptr : clients.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    std::FILE* const said = ::fdopen(ends[0], "r");
    EXPECT_EQ(std::fscanf(said, "%d", &port_), 1) << "tls_server.py did not start";
    std::fclose(said);
  }
  tls_server(const tls_server&) = delete;
  tls_server& operator=(const tls_server&) = delete;
  ~tls_server() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] int port() const { return port_; }
  /// Those that were answered, or soon will be.
  [[nodiscard]] int requests() const {
    std::error_code absent;
    const auto bytes = std::filesystem::file_size(count_, absent);
    return absent ? 0 : static_cast<int>(bytes);
  }

private:
  temp_tree tree_;
  const std::string count_ = tree_ / "count";
  pid_t pid_ = -1;
  int port_ = 0;
};

class tls : public testing::Test {
protected:
  void SetUp() override {
    if (std::system("openssl version >/dev/null 2>&1") != 0)
      GTEST_SKIP() << "openssl(1) is not installed";
    ASSERT_TRUE(authority_.make());
    ASSERT_TRUE(authority_.sign("good", "DNS:localhost,IP:127.0.0.1", 2));
    trust("ca.pem");
  }
  void TearDown() override { ::unsetenv("SSL_CERT_FILE"); }

  void trust(const std::string& file) {
    ASSERT_EQ(::setenv("SSL_CERT_FILE", (authority_ / file).c_str(), 1), 0);
  }
  void serve(const std::string& name) {
    server_ =
        std::make_unique<tls_server>(authority_ / (name + ".pem"), authority_ / (name + ".key"));
  }
  void open(const std::string& host, int port, const std::string& path = "/mcp",
            mcp::client_options options = {}) {
    const mcp::http_endpoint to{.url = "https://" + host + ":" + std::to_string(port) + path,
                                .headers = {},
                                .addresses = mcp::address_policy::any};
    auto opened = mcp::open_http(to, mcp::http_kind::streamable, options, sink_);
    ASSERT_THAT(opened, IsOk());
    transport_ = *std::move(opened);
  }
  void request(std::string_view json = "{}", int id = 1) {
    const mcp::request_id number = id_of(id);
    ASSERT_TRUE(
        transport_->send({.json = json, .id = &number, .method = {}, .name = {}, .revision = {}}));
  }

  authority authority_;
  std::unique_ptr<tls_server> server_;
  transport_sink sink_;
  std::unique_ptr<mcp::client_transport> transport_;
};

TEST_F(tls, speaks_with_a_server_whose_certificate_is_good) {
  serve("good");
  std::size_t answers = 0;
  for (const char* host : {"localhost", "LOCALHOST", "127.0.0.1"}) {
    open(host, server_->port());
    request();
    EXPECT_EQ(sink_.wait_for_messages(++answers).back(), answer) << host;
  }
}

TEST_F(tls, delivers_events) {
  serve("good");
  open("localhost", server_->port(), "/events");
  request();
  EXPECT_EQ(sink_.wait_for_messages(1).back(), answer);
}

TEST_F(tls, carries_large_messages_both_ways) {
  serve("good");
  open("localhost", server_->port(), "/large");
  const std::string body = "\"" + std::string(3'000'000, 'x') + "\"";
  request(body);
  EXPECT_GT(sink_.wait_for_messages(1).back().size(), body.size());
}

TEST_F(tls, many_calls_at_once) {
  serve("good");
  open("localhost", server_->port());
  for (int id = 1; id <= 64; ++id)
    request("{}", id);
  sink_.wait_for_messages(64); // all of them answer the first, and are delivered nevertheless
  EXPECT_EQ(server_->requests(), 64);
}

TEST_F(tls, refuses_certificates_that_are_not_good) {
  ASSERT_TRUE(authority_.sign("other", "DNS:other.example,IP:127.0.0.2", 2));
  ASSERT_TRUE(authority_.sign("expired", "DNS:localhost,IP:127.0.0.1", -1));
  ASSERT_TRUE(authority_.sign("wildcard", "DNS:*,DNS:local*", 2));
  authority_.file("empty.pem", "");
  const struct {
    const char* certificate;
    const char* trusted;
    const char* host;
    const char* why;
  } cases[] = {
      {"other", "ca.pem", "localhost", "certificate subject name"},
      {"other", "ca.pem", "127.0.0.1", "certificate subject name"},
      {"wildcard", "ca.pem", "localhost", "certificate subject name"},
      {"expired", "ca.pem", "localhost", "expired"},
      {"good", "empty.pem", "localhost", "certificate"},
      {"good", "absent.pem", "localhost", "certificate"},
      {"good", "good.pem", "localhost", "certificate"},
      {"ca", "empty.pem", "localhost", "certificate"},
      {"ca", "good.pem", "localhost", "certificate"},
  };
  std::size_t refused = 0;
  for (const auto& c : cases) {
    serve(c.certificate);
    trust(c.trusted);
    open(c.host, server_->port());
    request();
    const auto got = sink_.wait_for_refusals(++refused).back();
    EXPECT_EQ(got.status, 0) << c.certificate;
    EXPECT_THAT(got.why, HasSubstr(c.why)) << c.certificate << " trusting " << c.trusted;
    EXPECT_EQ(server_->requests(), 0) << c.certificate << ": nothing may be said before";
  }
}

TEST_F(tls, shows_who_it_is_where_it_is_told_to) {
  ASSERT_TRUE(authority_.sign("client", "DNS:client.example", 2));
  server_ = std::make_unique<tls_server>(authority_ / "good.pem", authority_ / "good.key",
                                         authority_ / "ca.pem");
  mcp::http_endpoint to{.url = "https://localhost:" + std::to_string(server_->port()) + "/mcp",
                        .addresses = mcp::address_policy::any};
  const auto ask = [&] {
    auto opened = mcp::open_http(to, mcp::http_kind::streamable, {}, sink_);
    ASSERT_THAT(opened, IsOk());
    transport_ = *std::move(opened);
    request();
  };
  ask();
  sink_.wait_for_refusals(1);
  to.client_certificate = authority_ / "absent.pem";
  ask();
  EXPECT_THAT(sink_.wait_for_refusals(2).back().why, HasSubstr("client's certificate"));
  EXPECT_EQ(server_->requests(), 0);
  to.client_certificate = authority_ / "client.pem";
  to.client_key = authority_ / "client.key";
  ask();
  EXPECT_EQ(sink_.wait_for_messages(1).back(), answer);
}

/// Says what it was asked, then carries bytes both ways.
class tunnel {
public:
  explicit tunnel(int to_port) : to_port_(to_port) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    (void)::bind(listener_, reinterpret_cast<const sockaddr*>(&address), size);
    (void)::listen(listener_, 1);
    (void)::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    thread_ = std::thread([this] { run(); });
  }
  tunnel(const tunnel&) = delete;
  tunnel& operator=(const tunnel&) = delete;
  ~tunnel() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  int port = 0;
  std::string asked; ///< of the time when an answer came

private:
  static sockaddr_in loopback(int at) {
    sockaddr_in out{};
    out.sin_family = AF_INET;
    out.sin_port = htons(static_cast<in_port_t>(at));
    out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return out;
  }
  static void carry(int from, int to) {
    char bytes[4096];
    for (ssize_t n; (n = ::recv(from, bytes, sizeof bytes, 0)) > 0;)
      if (!send_all(to, {bytes, static_cast<std::size_t>(n)})) break;
    ::shutdown(to, SHUT_WR);
  }
  void run() {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    for (char byte; !asked.ends_with("\r\n\r\n") && ::recv(client, &byte, 1, 0) == 1;)
      asked += byte;
    const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in to = loopback(to_port_);
    (void)::connect(server, reinterpret_cast<const sockaddr*>(&to), sizeof to);
    send_all(client, "HTTP/1.1 200 Go on\r\nX-Proxy: yes\r\n\r\n");
    std::thread back([&] { carry(server, client); });
    carry(client, server);
    back.join();
    ::close(server);
    ::close(client);
  }

  const int to_port_;
  int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  std::thread thread_;
};

/// A name that only the proxy can look up, a certificate that is checked nevertheless, and headers
/// that are the server's only.
TEST_F(tls, goes_through_a_proxy) {
  ASSERT_TRUE(authority_.sign("far", "DNS:paddock.invalid", 2));
  serve("far");
  tunnel proxy(server_->port());
  const mcp::http_endpoint to{.url = "https://paddock.invalid/mcp",
                              .headers = {{"Authorization", "secret"}},
                              .proxy = "http://127.0.0.1:" + std::to_string(proxy.port)};
  auto opened = mcp::open_http(to, mcp::http_kind::streamable, {}, sink_);
  ASSERT_THAT(opened, IsOk());
  transport_ = *std::move(opened);
  request();
  EXPECT_EQ(sink_.wait_for_messages(1).back(), answer);
  EXPECT_TRUE(proxy.asked.starts_with("CONNECT paddock.invalid:443 HTTP/1.1\r\n")) << proxy.asked;
  EXPECT_EQ(proxy.asked.find("secret"), std::string::npos);
  transport_->close();
}

TEST_F(tls, a_proxy_that_refuses_says_why) {
  http_script_server proxy(
      [](http_peer& peer, const http_received&) { peer.answer(403, "text/plain", "not for you"); });
  const mcp::http_endpoint to{.url = "https://paddock.invalid/mcp", .proxy = proxy.url("")};
  auto opened = mcp::open_http(to, mcp::http_kind::streamable, {}, sink_);
  ASSERT_THAT(opened, IsOk());
  transport_ = *std::move(opened);
  request();
  EXPECT_THAT(sink_.wait_for_refusals(1).back().why,
              testing::AllOf(HasSubstr("proxy"), HasSubstr("403")));
}

TEST_F(tls, refuses_a_server_without_tls) {
  const char* const said[] = {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "\x15\x03\x01", ""};
  std::size_t refused = 0;
  for (const char* bytes : said) {
    // Reading a request never ends for this server, so it speaks first.
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
    ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
    std::thread server([&] {
      const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
      (void)::send(fd, bytes, std::string_view(bytes).size(), MSG_NOSIGNAL);
      ::shutdown(fd, SHUT_WR);
      char byte;
      while (::recv(fd, &byte, 1, 0) > 0) {
      }
      ::close(fd);
    });
    open("localhost", ntohs(address.sin_port));
    request();
    EXPECT_THAT(sink_.wait_for_refusals(++refused).back().why, HasSubstr("TLS"));
    server.join();
    ::close(listener);
  }
}

TEST_F(tls, a_handshake_that_stalls_does_not_hold_up_anybody) {
  http_script_server silent([](http_peer&, const http_received&) {});
  open("localhost", silent.port());
  request();
  transport_->close();
  EXPECT_EQ(sink_.delivered(), 0u);

  open("localhost", silent.port(), "/mcp", {.connect_timeout_ms = 50});
  request();
  EXPECT_EQ(sink_.wait_for_refusals(1).back().code, error_code::timed_out);
}

} // namespace
} // namespace paddock::test
