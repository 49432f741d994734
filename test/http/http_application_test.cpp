// SPDX-License-Identifier: MIT
// What is served without MCP: requests in, answers out, on the guards that all applications share.
#include "http/server/access.hpp"
#include "http/server/pooled_application.hpp"
#include "http/server/secret.hpp"
#include "http/server/worker_pool.hpp"
#include "support/files/temp_tree.hpp"
#include "support/http/http_raw_client.hpp"
#include "support/process/descriptors.hpp"

#include <new>
#include <stdexcept>

namespace paddock::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A place where a request waits until it is let go, or nobody waits for it any more.
class gate {
public:
  /// The same for one that nothing cancels.
  void pass() {
    const std::atomic<bool> never = false;
    (void)pass(never);
  }
  /// True: let go. False: cancelled.
  bool pass(const std::atomic<bool>& cancelled) {
    std::unique_lock lock(guard_);
    ++waiting_;
    changed_.notify_all();
    // What cancels knows of no gate: so it is looked at again and again.
    while (!open_ && !cancelled)
      changed_.wait_for(lock, std::chrono::milliseconds(1));
    last_cancelled_ = !open_;
    ++left_;
    changed_.notify_all();
    return open_;
  }
  void open() {
    const std::lock_guard lock(guard_);
    open_ = true;
    changed_.notify_all();
  }
  void wait_until_entered(int n) {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [&] { return waiting_ >= n; });
  }
  /// Whether the last one to leave did so because it was cancelled.
  bool wait_until_left(int n) {
    std::unique_lock lock(guard_);
    changed_.wait(lock, [&] { return left_ >= n; });
    return last_cancelled_;
  }

private:
  std::mutex guard_;
  std::condition_variable changed_;
  bool open_ = false;
  bool last_cancelled_ = false;
  int waiting_ = 0;
  int left_ = 0;
};

class echo final : public http::pooled_application {
public:
  static std::unique_ptr<echo> make() {
    auto wake = wake_event();
    return std::unique_ptr<echo>(new echo(*std::move(wake)));
  }

  gate held;

  http::judgement judge(const http::request_head& head) override {
    if (head.target == "/secret")
      return {.status = 401, .reason = "say who you are", .lines = "WWW-Authenticate: Bearer\r\n"};
    return {.takes_body = head.method == "POST"};
  }
  http::refusal_answer refuse(const http::request_head&, std::string_view reason) override {
    return {.lines = "X-Refused: yes\r\n", .type = "text/plain", .body = std::string(reason)};
  }

private:
  explicit echo(file_descriptor wake) : pooled_application(std::move(wake), 4) {}
  http::answer answer_to(const http::request& r) override {
    if (r.head.target == "/memory") throw std::bad_alloc();
    if (r.head.target == "/fault") throw std::logic_error("secret");
    if (r.head.target == "/number") throw 7;
    if (r.head.target == "/deaf") held.pass();
    if (r.head.target == "/held")
      return {.type = "text/plain", .body = held.pass(r.cancelled) ? "let go" : "cancelled"};
    return {.status = 201,
            .type = "text/plain",
            .body = r.head.method + " " + r.head.target + " " + r.body,
            .lines = "X-Echo: yes\r\n"};
  }
};

/// `App` at work on a thread of its own.
class at_work {
public:
  explicit at_work(const std::string& where = "127.0.0.1:0", http::server_options options = {})
      : app(echo::make()), stop_(*sys::eventfd()) {
    auto l = http::listener::open(where, false);
    EXPECT_TRUE(l) << l.error().operation;
    address_ = l->url_of("");
    thread_ = std::thread([this, options, listening = *std::move(l)]() mutable {
      const auto served = app->serve(std::move(listening), options, stop_.get());
      EXPECT_TRUE(served) << served.error().operation;
      outcome_ = *served;
    });
  }
  ~at_work() {
    if (!thread_.joinable()) return;
    begin_to_stop();
    const auto outcome = wait_for_end();
    EXPECT_EQ(0u, outcome.abandoned);
    EXPECT_FALSE(outcome.failure);
  }
  http::pooled_application::outcome wait_for_end() {
    thread_.join();
    return outcome_;
  }
  /// Takes away what the loop waits with.
  void break_loop() const {
    ASSERT_GE(poller_of(stop_.get()), 0);
    ASSERT_GE(::dup2(stop_.get(), poller_of(stop_.get())), 0);
  }
  void begin_to_stop() const { sys::raise_event(stop_.get()); }
  [[nodiscard]] raw_client client() const { return raw_client(address_); }

  const std::unique_ptr<echo> app;

private:
  const file_descriptor stop_;
  std::string address_;
  http::pooled_application::outcome outcome_;
  std::thread thread_;
};

std::string get(std::string_view target) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n\r\n";
}
std::string post(std::string_view target, std::string_view body) {
  return "POST " + std::string(target) +
         " HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

TEST(HttpApplication, AnswersRequestsOneAfterTheOtherOnOneConnection) {
  const at_work served;
  raw_client c = served.client();
  c.send(post("/a", "body") + get("/b"));
  for (const char* expected : {"POST /a body", "GET /b "}) {
    const http_reply reply = c.receive();
    EXPECT_EQ(201, reply.status);
    EXPECT_EQ(expected, reply.body);
    EXPECT_EQ("yes", reply.header("x-echo"));
    EXPECT_EQ("no-store", reply.header("cache-control"));
  }
}

TEST(HttpApplication, DecidesByTheHeadBeforeTheBodyIsRead) {
  const at_work served;
  raw_client c = served.client();
  c.send("POST /secret HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"); // and no body
  const http_reply reply = c.receive();
  EXPECT_EQ(401, reply.status);
  EXPECT_EQ("say who you are", reply.body);
  EXPECT_EQ("Bearer", reply.header("www-authenticate"));
  EXPECT_EQ("yes", reply.header("x-refused"));
  EXPECT_TRUE(c.is_ended()) << "what comes now is no request";
}

TEST(HttpApplication, BoundsBodiesAndTakesNoneWhereNoneIsDue) {
  const at_work served("127.0.0.1:0", {.body_bytes_max = 10});
  const std::pair<std::string, int> cases[] = {
      {post("/", "0123456789"), 201},
      {post("/", "0123456789x"), 413},
      {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", 413},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n", 413},
      {get("/" + std::string(40'000, 'x')), 431},
  };
  for (const auto& [bytes, status] : cases) {
    raw_client c = served.client();
    c.send(bytes);
    EXPECT_EQ(status, c.receive().status) << bytes.substr(0, 80);
  }
}

TEST(HttpApplication, OtherRequestsAreAnsweredWhileOneWaits) { // as a long poll does
  const at_work served;
  raw_client waiting = served.client();
  waiting.send(get("/held"));
  served.app->held.wait_until_entered(1);
  raw_client other = served.client();
  other.send(get("/a"));
  EXPECT_EQ("GET /a ", other.receive().body);
  served.app->held.open();
  EXPECT_EQ("let go", waiting.receive().body);
  EXPECT_FALSE(served.app->held.wait_until_left(1)) << "who waits is not cancelled";
}

TEST(HttpApplication, ClosingTheConnectionCancels) {
  const temp_tree tree;
  for (const std::string& where : {std::string("127.0.0.1:0"), "unix:" + (tree / "socket")}) {
    const at_work served(where);
    raw_client c = where.starts_with("unix:") ? raw_client("unix://" + (tree / "socket") + "#/")
                                              : served.client();
    c.send(get("/held"));
    served.app->held.wait_until_entered(1);
    c.close();
    EXPECT_TRUE(served.app->held.wait_until_left(1)) << where;
  }
}

TEST(HttpApplication, StoppingCancelsAndStillAnswers) {
  at_work served;
  raw_client c = served.client();
  c.send(get("/held"));
  served.app->held.wait_until_entered(1);
  served.begin_to_stop();
  const http_reply reply = c.receive();
  EXPECT_EQ("cancelled", reply.body);
  EXPECT_EQ("close", reply.header("connection"));
}

TEST(HttpApplication, OneRequestWhoseAnswerThrowsIsOneAnswer) {
  const at_work served;
  for (const std::string target : {"/fault", "/number", "/memory"}) {
    raw_client c = served.client();
    c.send(get(target) + get("/a"));
    const http_reply reply = c.receive();
    EXPECT_EQ(500, reply.status) << target;
    EXPECT_THAT(reply.body,
                HasSubstr(target == "/memory" ? "more memory" : "fault of this program"));
    EXPECT_EQ(target == "/memory", reply.body.find("memory") != std::string::npos) << target;
    EXPECT_THAT(reply.body, Not(HasSubstr("secret")));
    EXPECT_EQ(201, c.receive().status) << target;
  }
}

TEST(HttpApplication, ALoopThatFailsTellsWhatItLeavesBehind) {
  for (const bool is_deaf : {true, false}) {
    at_work served;
    raw_client c = served.client();
    c.send(get(is_deaf ? "/deaf" : "/held"));
    served.app->held.wait_until_entered(1);
    if (!is_deaf) {
      served.app->held.open();
      EXPECT_EQ(200, c.receive().status);
    }
    served.break_loop();
    const raw_client wakes = served.client();
    const auto outcome = served.wait_for_end();
    ASSERT_TRUE(outcome.failure);
    EXPECT_EQ(is_deaf ? 1u : 0u, outcome.abandoned) << "its thread still uses the application";
    served.app->held.open();
    (void)served.app->held.wait_until_left(1);
  }
}

/// Streams to whoever asks for it what others post.
class ticker final : public http::application {
public:
  http::server* serving = nullptr;
  const file_descriptor wake = *sys::eventfd();

  http::judgement judge(const http::request_head& head) override {
    return {.takes_body = head.method == "POST"};
  }
  void handle(http::connection& c) override {
    if (c.reader.head().method == "GET") {
      listener_ = c.number;
      c.pending = std::make_shared<endless>();
      return serving->begin_stream(c, "Content-Type: text/plain\r\n");
    }
    if (http::connection* const to = serving->find(listener_); to != nullptr && to->streaming) {
      if (c.body == "end")
        serving->end_stream(*to);
      else
        serving->stream(*to, c.body);
      serving->go_on(*to);
    }
    serving->respond(c, 204, {}, {}, {});
  }
  http::refusal_answer refuse(const http::request_head&, std::string_view reason) override {
    return {.lines = {}, .type = "text/plain", .body = std::string(reason)};
  }
  std::string_view sign_of_life() const noexcept override { return "."; }
  int wake_descriptor() const noexcept override { return wake.get(); }
  void deliver() override {}
  std::int64_t expire(std::int64_t, std::int64_t never) override { return never; }
  void cancel_all() override {}
  bool is_idle() const noexcept override { return true; }

private:
  struct endless final : http::pending_answer {
    client_loss when_client_leaves() const noexcept override { return client_loss::ends_it_now; }
    void finish() override {}
    void cancel() override {}
    void abandon() override {}
  };
  std::uint64_t listener_ = 0;
};

TEST(HttpApplication, StreamsWhatOthersPost) {
  for (const char* version : {"1.1", "1.0"}) {
    ticker app;
    auto l = http::listener::open("127.0.0.1:0", false);
    ASSERT_TRUE(l);
    const std::string address = l->url_of("");
    auto made = http::server::make(app, *std::move(l), {.keep_alive_ms = 20});
    ASSERT_TRUE(made);
    app.serving = made->get();
    std::thread thread([&] { EXPECT_TRUE((*made)->run(-1)); });
    raw_client reader(address);
    raw_client writer(address);
    reader.send(std::string("GET / HTTP/") + version + "\r\nHost: a\r\n\r\n");
    EXPECT_EQ(200, reader.receive_head().status);
    for (const char* piece : {"first", "second"}) {
      writer.send(post("/", piece));
      EXPECT_EQ(204, writer.receive().status);
    }
    if (std::string_view(version) == "1.1") {
      std::string all;
      for (std::string piece; all.find("second.") == std::string::npos && reader.next_chunk(piece);)
        all += piece;
      EXPECT_THAT(all, HasSubstr("second.")) << "and a sign of life behind it";
    }
    writer.send(post("/", "end"));
    EXPECT_EQ(204, writer.receive().status);
    if (std::string_view(version) == "1.0") {
      EXPECT_TRUE(reader.is_ended());
    } else {
      for (std::string piece; reader.next_chunk(piece);) {
      }
      reader.send(post("/", "more"));
      EXPECT_EQ(204, reader.receive().status) << "the connection goes on behind a stream";
    }
    (*made)->stop();
    thread.join();
  }
}

// --- who asks ------------------------------------------------------------------------------------

http::request_head head_of(std::string_view host, std::string_view origin) {
  http::request_head head;
  head.method = "GET";
  head.target = "/";
  if (!host.empty()) head.headers.emplace_back("host", host);
  if (!origin.empty()) head.headers.emplace_back("origin", origin);
  return head;
}

TEST(HttpApplication, AListOfNamesIsAllThereIs) {
  const http::asker_rules rules{.host_rule = http::asker_rules::hosts::listed,
                                .origin_rule = http::asker_rules::own_origin::http,
                                .allowed_hosts = {"127.0.0.1:80", "localhost:80"},
                                .allowed_origins = {}};
  using problem = http::asker_problem;
  const struct {
    const char* host;
    const char* origin;
    problem expected;
  } cases[] = {
      {"127.0.0.1:80", "", problem::none},
      {"LocalHost:80", "http://localhost:80", problem::none},
      {"127.0.0.1:81", "", problem::foreign_host},
      {"127.0.0.1", "", problem::foreign_host},
      {"[::1]:80", "", problem::foreign_host},
      {"evil.example:80", "", problem::foreign_host},
      {"evil.example:80", "http://evil.example:80", problem::foreign_host},
      {"", "", problem::no_single_host},
      {"a/b", "", problem::malformed_host},
      {"127.0.0.1:80", "https://127.0.0.1:80", problem::foreign_origin},
      {"127.0.0.1:80", "http://localhost:80", problem::foreign_origin},
      {"127.0.0.1:80", "null", problem::foreign_origin},
  };
  for (const auto& c : cases)
    EXPECT_EQ(c.expected,
              http::judge_asker(head_of(c.host, c.origin), http::split_target("/"), rules))
        << c.host << " " << c.origin;
}

TEST(HttpApplication, DecodesParameters) {
  const std::tuple<const char*, const char*, std::string> cases[] = {
      {"a=b", "a", "b"},
      {"x=y&a=b&a=c", "a", "b"},
      {"a=b+c%20d%2B%C3%A9", "a", "b c d+\xc3\xa9"},
      {"%61=b", "a", "b"},
      {"a", "a", ""},
      {"a=b=c", "a", "b=c"},
      {"ab=c", "a", ""},
      {"", "a", ""},
      {"&&a=b&", "a", "b"},
      {"a=%", "a", "%"},
      {"a=%2", "a", "%2"},
      {"a=%zz%+1", "a", "%zz% 1"},
      {"a=x%00y", "a", std::string("x\0y", 3)},
      {"a=%2541", "a", "%41"},
  };
  for (const auto& [query, name, expected] : cases)
    EXPECT_EQ(expected, http::query_parameter(query, name)) << query;
}

// --- the threads --------------------------------------------------------------------------------

enum class holds : std::uint8_t { its_place, nothing };

/// Waits at a gate, in its place or without one, and says when it ran and when it was done.
class waiting_job final : public http::worker_pool::job {
public:
  struct counts {
    std::atomic<int> running = 0, most = 0;
  };
  waiting_job(gate& at, gate& end, holds what, counts& all)
      : at_(at), end_(end), what_(what), all_(all) {}
  void run(http::worker_pool::place& mine) override {
    if (what_ == holds::nothing) mine.give_up();
    if (what_ == holds::nothing) mine.give_up(); // once is as good as twice
    const int now = ++all_.running;
    for (int most = all_.most; now > most && !all_.most.compare_exchange_weak(most, now);) {
    }
    at_.pass();
    --all_.running;
  }
  void done() override { end_.pass(); }

private:
  gate& at_;
  gate& end_;
  const holds what_;
  counts& all_;
};

class WorkerPool : public testing::Test {
protected:
  WorkerPool() {
    end_.open();
    EXPECT_TRUE(pool_->start());
  }
  ~WorkerPool() override {
    slow_.open();
    end_.wait_until_left(submitted_);
    EXPECT_EQ(0U, pool_->stop());
  }
  void submit(gate& at, holds what) {
    ++submitted_;
    pool_->submit(std::make_unique<waiting_job>(at, end_, what, all_));
  }

  gate slow_, quick_, end_;
  waiting_job::counts all_;
  int submitted_ = 0;
  const std::shared_ptr<http::worker_pool> pool_ = std::make_shared<http::worker_pool>(1U, 2U);
};

TEST_F(WorkerPool, JobsThatOnlyWaitLetOthersRun) {
  submit(slow_, holds::nothing);
  submit(slow_, holds::nothing);
  slow_.wait_until_entered(2);
  submit(quick_, holds::its_place);
  quick_.wait_until_entered(1);
  quick_.open();
  end_.wait_until_left(1);
}

TEST_F(WorkerPool, OthersHoldTheirPlaces) {
  submit(slow_, holds::its_place);
  slow_.wait_until_entered(1);
  quick_.open();
  for (int i = 0; i < 20; ++i)
    submit(quick_, holds::its_place);
  slow_.open();
  end_.wait_until_left(21);
  EXPECT_EQ(1, all_.most);
}

TEST_F(WorkerPool, NoMoreWaitThanMay) {
  for (int i = 0; i < 3; ++i)
    submit(slow_, holds::nothing); // the last one holds the only place
  slow_.wait_until_entered(3);
  quick_.open();
  for (int i = 0; i < 20; ++i)
    submit(quick_, holds::its_place);
  slow_.open();
  end_.wait_until_left(23);
  EXPECT_EQ(3, all_.most);
}

TEST_F(WorkerPool, WhoMayNotWaitYetWaitsWhenOthersHaveEnded) {
  submit(slow_, holds::nothing);
  submit(slow_, holds::nothing);
  slow_.wait_until_entered(2);
  gate late;
  submit(late, holds::nothing); // as many wait as may
  late.wait_until_entered(1);
  slow_.open();
  end_.wait_until_left(2);
  submit(quick_, holds::its_place);
  quick_.wait_until_entered(1);
  quick_.open();
  late.open();
  end_.wait_until_left(4);
}

TEST_F(WorkerPool, PlacesAreTakenBackAtTheEnd) {
  submit(slow_, holds::nothing);
  submit(slow_, holds::nothing);
  submit(slow_, holds::its_place);
  slow_.wait_until_entered(3);
  slow_.open();
  end_.wait_until_left(3);
  quick_.open();
  all_.most = 0;
  for (int i = 0; i < 200; ++i)
    submit(quick_, holds::its_place);
  end_.wait_until_left(203);
  EXPECT_EQ(1, all_.most);
}

TEST(HttpApplication, SecretsAreLongAndNeverTheSame) {
  const auto one = http::new_secret(16);
  const auto other = http::new_secret(16);
  ASSERT_TRUE(one && other);
  EXPECT_EQ(32u, one->size());
  EXPECT_EQ(std::string::npos, one->find_first_not_of("0123456789abcdef"));
  EXPECT_NE(*one, *other);
}

} // namespace
} // namespace paddock::test
