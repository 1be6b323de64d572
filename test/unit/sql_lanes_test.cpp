// The queues in front of the connections, over connections that do what a test says.
#include "engines/sql/lanes.hpp"
#include "engines/sql/sockets.hpp"

#include "support/patience.hpp"

#include <afar/spi/coming_to_drive.hpp>

#include <gtest/gtest.h>

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace afar::test {
namespace {

using namespace engines::sql;

// All that hang in ring(), until they may go on.
struct bell_tower {
  std::latch may_go_on{1};
  std::atomic<int> rung{0};  // bells, also those that have not gone on
};

class hanging_bells final : public connection {
 public:
  explicit hanging_bells(bell_tower& at) : at_(at) {}
  ~hanging_bells() override { ::close(socket_); }

  answer run(statement, std::span<const parameter>) override { return {}; }
  answer run(const std::string&) override { return {}; }
  const server_facts& about() const noexcept override { return facts_; }
  int descriptor() const noexcept override { return socket_; }
  bool broken() const noexcept override { return false; }
  std::uint64_t open_bell() override { return 0; }
  void arm_bell() override {}
  std::vector<std::string> hear_bell() override { return {}; }
  void ring(std::span<const bell_call> calls) override {
    at_.rung += static_cast<int>(calls.size());
    at_.may_go_on.wait();
  }
  bool update_rings() const noexcept override { return false; }

 private:
  bell_tower& at_;
  const int socket_ = ::eventfd(0, EFD_CLOEXEC);
  const server_facts facts_;
};

// Rings if it is told to.
class small_step final : public step {
 public:
  small_step(std::atomic<int>& done, std::uint64_t bell)
      : step(boot_clock::now() + long_time), done_(done), bell_(bell) {}
  void perform(connection& on) noexcept override {
    const bell_call call{.bell = bell_};
    if (bell_ != 0) on.ring_later({&call, 1});
    ++done_;
  }
  void fail(const spi::status&) noexcept override {}

 private:
  std::atomic<int>& done_;
  const std::uint64_t bell_;
};

TEST(sql_lanes, keep_a_connection_for_steps_while_bells_hang) {
  constexpr int connections = 3;
  bell_tower tower;
  std::atomic<int> done{0};
  const auto dial = [&](spi::time_point) { return std::make_unique<hanging_bells>(tower); };
  const auto l = std::make_shared<lanes>(dial, connections, [] {});
  l->start(std::make_unique<hanging_bells>(tower));
  const crew::caller many[] = {crew::caller{crew::here()}, crew::caller{crew::here()},
                               crew::caller{crew::here()}, crew::caller{crew::here()}};
  int steps = 0;
  // One after the other, so that each rings before the next one is asked for.
  for (std::uint64_t bell = 1; bell <= connections + 1; ++bell) {
    l->submit(std::make_shared<small_step>(done, bell));
    ++steps;
    ASSERT_TRUE(eventually([&] { return done == steps; })) << "all connections ring bells";
  }
  tower.may_go_on.count_down();
  EXPECT_TRUE(eventually([&] { return tower.rung == steps; })) << "a bell was forgotten";
  l->close();
}

// One statement, sent ahead; the test says when it is answered.
class slow_answer final : public connection {
 public:
  explicit slow_answer(int socket) : socket_(socket) {}

  answer run(statement, std::span<const parameter>) override { return {}; }
  answer run(const std::string&) override { return {}; }
  bool can_send(statement) const noexcept override { return true; }
  sent send(statement, std::span<const parameter>) override { return sent::under_way; }
  sent look() noexcept override { return readable(socket_) ? sent::did_it : sent::under_way; }
  const server_facts& about() const noexcept override { return facts_; }
  int descriptor() const noexcept override { return socket_; }
  bool broken() const noexcept override { return false; }
  std::uint64_t open_bell() override { return 0; }
  void arm_bell() override {}
  std::vector<std::string> hear_bell() override { return {}; }
  void ring(std::span<const bell_call>) override {}
  bool update_rings() const noexcept override { return false; }

 private:
  const int socket_;
  const server_facts facts_;
};

class opened_step final : public step {
 public:
  explicit opened_step(std::atomic<int>& done) : step(boot_clock::now() + long_time), done_(done) {}
  std::optional<statement> opens_with() const noexcept override { return statement::give; }
  sent send_opening(connection& on) noexcept override { return on.send(statement::give, {}); }
  void perform(connection&) noexcept override { ++done_; }
  void fail(const spi::status&) noexcept override {}

 private:
  std::atomic<int>& done_;
};

TEST(sql_lanes, hear_an_answer_whose_sender_said_that_it_comes_and_did_not) {
  const int socket = ::eventfd(0, EFD_CLOEXEC);
  std::atomic<int> done{0};
  const auto l = std::make_shared<lanes>(
      [&](spi::time_point) { return std::make_unique<slow_answer>(socket); }, 1, [] {});
  l->start(std::make_unique<slow_answer>(socket));
  {
    const spi::coming_to_drive said;
    l->submit(std::make_shared<opened_step>(done));
    EXPECT_FALSE(spi::coming_to_drive::take()) << "what comes of the step is not meant";
  }
  EXPECT_EQ(done, 0);
  ASSERT_EQ(::eventfd_write(socket, 1), 0);
  EXPECT_TRUE(eventually([&] { return done == 1; }));
  // The connection is of use again, also to one who says nothing.
  l->submit(std::make_shared<opened_step>(done));
  EXPECT_TRUE(eventually([&] { return done == 2; }));
  l->close();
  ::close(socket);
}

class standing_step final : public step {
 public:
  standing_step(std::latch& until, std::atomic<bool>& begun)
      : step(boot_clock::now() + long_time), until_(until), begun_(begun) {}
  void perform(connection&) noexcept override {
    begun_ = true;
    until_.wait();
  }
  void fail(const spi::status&) noexcept override {}

 private:
  std::latch& until_;
  std::atomic<bool>& begun_;
};

// It fails when its time is over, for which the keeper comes.
class late_step final : public step {
 public:
  late_step(std::atomic<bool>& failed, spi::time_point end) : step(end), failed_(failed) {}
  void perform(connection&) noexcept override {}
  void fail(const spi::status&) noexcept override { failed_ = true; }

 private:
  std::atomic<bool>& failed_;
};

// That the pause after a connection that was refused ends was forgotten when the keeper came before for something else:
// the step waited until its time was over, although there was nothing in its way any more.
TEST(sql_lanes, dial_again_after_a_refusal_although_the_keeper_came_in_between) {
  bell_tower tower;
  std::atomic<int> dialled{0};
  const auto dial = [&](spi::time_point) -> std::unique_ptr<connection> {
    if (dialled++ == 0) throw engines::sql::failure{{errc::unavailable, "too many connections"}};
    return std::make_unique<hanging_bells>(tower);
  };
  const auto l = std::make_shared<lanes>(dial, 2, [] {});
  l->start(std::make_unique<hanging_bells>(tower));
  const crew::caller many[] = {crew::caller{crew::here()}, crew::caller{crew::here()},
                               crew::caller{crew::here()}};
  std::latch may_go_on{1};
  std::atomic<bool> begun{false};
  std::atomic<bool> failed{false};
  std::atomic<int> done{0};
  l->submit(std::make_shared<standing_step>(may_go_on, begun));
  ASSERT_TRUE(eventually([&] { return begun.load(); }));
  l->submit(std::make_shared<small_step>(done, 0));
  ASSERT_TRUE(eventually([&] { return dialled == 1; }));
  l->submit(std::make_shared<late_step>(failed, boot_clock::now() + std::chrono::milliseconds{50}));
  ASSERT_TRUE(eventually([&] { return failed.load(); }));
  EXPECT_TRUE(eventually([&] { return done == 1; })) << "nobody dials again";
  may_go_on.count_down();
  l->close();
}

}  // namespace
}  // namespace afar::test
