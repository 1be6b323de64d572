// Ways to a server: a Unix socket and TLS. What is refused, and in which words.
#include "engines/client_library.hpp"
#include "redis_fixture.hpp"
#include "support/certificates.hpp"
#include "support/errors.hpp"

#include <afar/afar.hpp>

#include <string>
#include <thread>
#include <vector>

namespace afar::test {
namespace {

failure opening(const std::string& url) {
  return failure_of([&] { client{url}; });
}

// Two clients that wait for each other and are told.
void work_over(const std::string& url) {
  const client one{url};
  const client two{url};
  mutex a{one, "m"};
  mutex b{two, "m"};
  a.lock();
  std::thread waits{[&] {
    b.lock();
    b.unlock();
  }};
  EXPECT_TRUE(eventually([&] { return two.stats().waited >= 1; }));
  a.unlock();
  waits.join();
  EXPECT_EQ(counter(one, "c").fetch_add(2), 0);
}

TEST(redis_unix, serves_over_a_socket_in_a_folder) {
  const redis_server s{{"--unixsocket", "{folder}/s"}};
  work_over("redis+unix://" + s.folder() + "/s");
  EXPECT_NO_THROW(client{"redis+unix://" + s.folder() + "/s?database=3"});
}

TEST(redis_unix, takes_a_user_before_localhost) {
  const redis_server s{{"--unixsocket", "{folder}/s", "--requirepass", "pw"}};
  EXPECT_EQ(opening("redis+unix://" + s.folder() + "/s").code, errc::denied);
  EXPECT_NO_THROW(client{"redis+unix://:pw@localhost" + s.folder() + "/s"});
}

TEST(redis_unix, refuses_what_is_no_path_of_a_socket) {
  EXPECT_EQ(opening("redis+unix://").code, errc::bad_url);
  EXPECT_EQ(opening("redis+unix://otherhost/s").code, errc::bad_url);
  const auto missing = opening("redis+unix:///no/such/socket");
  EXPECT_EQ(missing.code, errc::unavailable);
  EXPECT_NE(missing.message.find("No such file"), std::string::npos) << missing.message;
}

class redis_tls : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { made = std::make_unique<certificates>(); }
  static void TearDownTestSuite() { made.reset(); }
  static std::string url(const redis_server& s, const std::string& host = "127.0.0.1",
                         const std::string& ca = "authority") {
    return "rediss://" + host + ":" + std::to_string(s.second_port()) + "?ca=" + made->cert(ca);
  }
  inline static std::unique_ptr<certificates> made;
};

TEST_F(redis_tls, serves_and_checks_the_name_of_the_host) {
  const redis_server s{made->server_options()};
  work_over(url(s));
  EXPECT_NO_THROW(client{url(s, "localhost")});
}

TEST_F(redis_tls, carries_large_answers_and_many_threads) {
  const redis_server s{made->server_options()};
  const client c{url(s)};
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&] {
      for (int i = 0; i < 200; ++i) counter(c, "c").fetch_add(1);
    });
  for (auto& t : all) t.join();
  EXPECT_EQ(counter(c, "c").load(), 800);
  const std::string label(1'000, 'x');
  std::vector<hold> holds;
  client_options o;
  o.label = label;
  const client labelled{url(s), o};
  for (int i = 0; i < 100; ++i) holds.push_back(mutex(labelled, "m" + std::to_string(i)).acquire());
  EXPECT_GE(survey(c).size(), 101U);
}

TEST_F(redis_tls, refuses_a_certificate_that_nobody_vouches_for) {
  const redis_server s{made->server_options()};
  for (const std::string& where :
       {url(s, "127.0.0.1", "stranger"), "rediss://127.0.0.1:" + std::to_string(s.second_port())}) {
    const auto f = opening(where);
    EXPECT_EQ(f.code, errc::denied) << f.message;
    EXPECT_NE(f.message.find("certificate"), std::string::npos) << f.message;
  }
}

TEST_F(redis_tls, refuses_a_certificate_of_another_host) {
  const redis_server s{made->server_options("elsewhere")};
  EXPECT_EQ(opening(url(s)).code, errc::denied);
  const auto f = opening(url(s, "localhost"));
  EXPECT_EQ(f.code, errc::denied);
  EXPECT_NE(f.message.find("ostname mismatch"), std::string::npos) << f.message;
}

TEST_F(redis_tls, refuses_an_expired_certificate) {
  const redis_server s{made->server_options("expired")};
  const auto f = opening(url(s));
  EXPECT_EQ(f.code, errc::denied);
  EXPECT_NE(f.message.find("expired"), std::string::npos) << f.message;
}

TEST_F(redis_tls, shows_a_certificate_of_its_own_where_one_is_wanted) {
  const redis_server s{made->server_options("server", "yes")};
  const auto f = opening(url(s));
  EXPECT_EQ(f.code, errc::denied) << f.message;
  EXPECT_NE(f.message.find("certificate required"), std::string::npos) << f.message;
  EXPECT_NO_THROW(client{url(s) + "&cert=" + made->cert("client") + "&key=" + made->key("client")});
}

TEST_F(redis_tls, does_not_fall_back_to_plain_text) {
  const redis_server s{made->server_options()};
  const std::string plain_port = "rediss://" + s.address() + "?ca=" + made->cert("authority");
  const auto f = opening(plain_port);
  EXPECT_EQ(f.code, errc::unavailable) << f.message;
  EXPECT_NE(f.message.find("without TLS wants redis://"), std::string::npos) << f.message;
}

TEST_F(redis_tls, says_that_a_port_speaks_tls) {
  const redis_server s{made->server_options()};
  const auto f = opening("redis://127.0.0.1:" + std::to_string(s.second_port()));
  EXPECT_EQ(f.code, errc::unavailable) << f.message;
  EXPECT_NE(f.message.find("for TLS wants rediss://"), std::string::npos) << f.message;
}

TEST_F(redis_tls, refuses_files_that_cannot_be_read) {
  const std::string to = "rediss://127.0.0.1:1";
  EXPECT_EQ(opening(to + "?ca=/no/such/file").code, errc::bad_url);
  EXPECT_EQ(opening(to + "?cert=" + made->cert("client") + "&key=" + made->key("server")).code,
            errc::bad_url)
      << "the key of another certificate";
  EXPECT_EQ(opening("redis://127.0.0.1:1?ca=" + made->cert("authority")).code, errc::bad_url);
}

TEST(client_library, that_is_missing_is_named_with_its_package) {
  const auto f = failure_of([] { engines::client_library{"libnone.so.7", "libnone7"}; });
  EXPECT_EQ(f.code, errc::unsupported);
  EXPECT_NE(f.message.find("libnone.so.7"), std::string::npos) << f.message;
  EXPECT_NE(f.message.find("package libnone7"), std::string::npos) << f.message;
}

}  // namespace
}  // namespace afar::test
