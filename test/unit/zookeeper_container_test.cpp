// A server that removes empty containers all the time, where others do so once a minute: the folder of a
// name goes between any two requests of its clients.
#include "zookeeper_fixture.hpp"

#include <atomic>
#include <set>

namespace afar::test {
namespace {

namespace ask = engines::zookeeper::ask;

class zookeeper_containers : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    server_ = new zookeeper_server{1, {"-Dznode.container.checkIntervalMs=1"}};
  }
  static void TearDownTestSuite() {
    delete server_;
    server_ = nullptr;
  }

  static constexpr std::size_t enough = 20;

  // Both clients in turn, one inside at a time, until the folder has been made anew `enough` times.
  template <class Acquire>
  void are_swept_under(const std::string& folder, Acquire acquire) {
    std::atomic<int> inside{0};
    std::set<std::int64_t> folders;  // only who is inside looks at it
    std::atomic<bool> done{false};
    in_parallel(2, [&](int i) {
      raw_zookeeper raw{server_->address()};
      const auto until = boot_clock::now() + long_time;
      for (int round = 0; !done && boot_clock::now() < until; ++round) {
        {
          const hold h = acquire(i == 0 ? one : two);
          EXPECT_EQ(++inside, 1);
          folders.insert(raw.ask(ask::exists(folder)).stat.czxid);
          done = done || folders.size() >= enough;
          --inside;
        }
        hold_still(milliseconds{round * 7 % 11});  // nobody may be there, or come just then
      }
    });
    EXPECT_GE(folders.size(), enough) << "the server removes folders";
  }

  const client one{server_->url() + "/test"};
  const client two{server_->url() + "/test"};

 private:
  inline static zookeeper_server* server_ = nullptr;
};

TEST_F(zookeeper_containers, that_the_server_sweeps_between_two_requests_are_made_anew) {
  are_swept_under("/test/mutex", [](const client& c) { return mutex(c, "mutex").acquire(); });
}

TEST_F(zookeeper_containers, of_readers_and_writers_can_be_swept_too) {
  are_swept_under("/test/shared",
                  [](const client& c) { return shared_mutex(c, "shared").acquire(); });
}

TEST_F(zookeeper_containers, of_permits_can_be_swept_too) {
  are_swept_under("/test/permits/leases",
                  [](const client& c) { return leased_semaphore(c, "permits", 1).acquire(); });
}

TEST_F(zookeeper_containers, of_candidates_can_be_swept_too) {
  are_swept_under("/test/leader",
                  [](const client& c) { return election(c, "leader").campaign("me"); });
}

}  // namespace
}  // namespace afar::test
