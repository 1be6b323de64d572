// A thousand in one line: a release wakes one of them.
#include "core/url.hpp"
#include "engines/registry.hpp"
#include "zookeeper_fixture.hpp"

#include <atomic>
#include <list>
#include <map>
#include <mutex>

namespace afar::test {
namespace {

// Counts who is woken.
class counting_host final : public spi::host {
 public:
  void wake(std::string_view key) noexcept override {
    const std::lock_guard lock{m_};
    woken_.emplace_back(key);
  }
  void wake_all() noexcept override {}
  void granted(const spi::owner_id&, std::uint64_t, std::uint64_t,
               spi::milliseconds) noexcept override {}
  void asked(const spi::owner_id&) noexcept override {}
  void session_lost() noexcept override { ADD_FAILURE(); }

  std::vector<std::string> woken() {
    const std::lock_guard lock{m_};
    return woken_;
  }

 private:
  std::mutex m_;
  std::vector<std::string> woken_;
};

class zookeeper_crowd : public zookeeper_test {
 protected:
  template <class Reply, class Send>
  Reply wait_for(Send send) {
    std::promise<Reply> got;
    auto answer = got.get_future();
    send([&](const spi::status& s, Reply r) {
      EXPECT_FALSE(s) << s.detail.str();
      got.set_value(std::move(r));
    });
    return answer.get();
  }
  spi::acquire_reply acquire(spi::claim& c) {
    return wait_for<spi::acquire_reply>(
        [&](auto done) { engine->acquire(c, boot_clock::now() + long_time, std::move(done)); });
  }

  counting_host host;
  const std::unique_ptr<spi::engine> engine = engines::open(
      detail::parse_url(server().url() + "/test?session=60s"), host, boot_clock::now() + long_time);
};

// The core lets one claim of a client stand in line for all of its callers; here all of them do.
TEST_F(zookeeper_crowd, of_1000_waiters_on_one_lock_gets_one_wake_per_release) {
  constexpr std::size_t crowd = 1'000;
  std::list<spi::claim> claims;
  std::map<std::string, spi::claim*> waits_on;
  for (std::size_t i = 0; i <= crowd; ++i) {
    spi::claim& c = claims.emplace_back();
    c.what = {spi::kind::mutex, name};
    c.owner = {1, 2, i};
    const auto reply = acquire(c);
    ASSERT_EQ(reply.granted, i == 0);
    if (i == 0) continue;
    ASSERT_FALSE(reply.watch_key.empty());
    EXPECT_FALSE(wait_for<spi::watch_reply>([&](auto done) {
                   engine->watch(reply.watch_key, std::move(done));
                 }).recheck);
    EXPECT_TRUE(waits_on.emplace(reply.watch_key, &c).second) << "each waits on another node";
  }
  EXPECT_EQ(nodes().size(), crowd + 1);

  spi::claim* holder = &claims.front();
  std::uint64_t last = 0;
  for (std::size_t released = 1; released <= crowd; ++released) {
    EXPECT_EQ(wait_for<spi::release_reply>([&](auto done) {
                engine->release(*holder, boot_clock::now() + long_time, std::move(done));
              }),
              spi::release_reply::released);
    ASSERT_TRUE(eventually([&] { return host.woken().size() == released; }, 20s));
    holder = waits_on.at(host.woken().back());
    const auto reply = acquire(*holder);
    ASSERT_TRUE(reply.granted);
    EXPECT_GT(reply.token, last);
    last = reply.token;
  }
  EXPECT_EQ(host.woken().size(), crowd);
  engine->close();
}

}  // namespace
}  // namespace afar::test
