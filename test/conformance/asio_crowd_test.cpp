// A crowd of coroutines in one process: waiting costs memory, not threads.
#include "support/engines.hpp"
#include "support/patience.hpp"
#include "support/process.hpp"

#include <afar/asio.hpp>
#include <afar/mutex.hpp>

#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/use_awaitable.hpp>

#include <memory>
#include <vector>

namespace afar::test {
namespace {

class crowds : public engine_test {
 protected:
  void SetUp() override { need<mutex>("mutex"); }
};

struct place {
  place(const client& c, const std::string& name) : lock{c, name} {}
  mutex lock;
  int inside = 0;
  int turns = 0;
  std::uint64_t last_token = 0;
};

asio::awaitable<void> take_a_turn(place& at, asio::io_context& io) {
  const hold h = co_await async_acquire(at.lock, asio::use_awaitable);
  EXPECT_EQ(++at.inside, 1);
  EXPECT_GT(h.token(), at.last_token);
  at.last_token = h.token();
  co_await asio::post(io, asio::use_awaitable);
  --at.inside;
  ++at.turns;
}

TEST_P(crowds, of_10000_coroutines_on_100_names_use_few_threads_and_all_get_their_turn) {
  constexpr std::size_t names = 100;
  constexpr std::size_t coroutines = 10'000;
  asio::io_context io;
  std::vector<std::unique_ptr<place>> places;
  std::vector<hold> busy;
  for (std::size_t i = 0; i < names; ++i) {
    places.push_back(std::make_unique<place>(one, name + "/" + std::to_string(i)));
    busy.push_back(mutex(two, places.back()->lock.name()).acquire());
  }
  // libzookeeper has two threads of its own for each client.
  const std::size_t of_library = GetParam().name.find("zookeeper") != std::string::npos ? 2 * 2 : 0;
  for (std::size_t i = 0; i < coroutines; ++i)
    asio::co_spawn(io, take_a_turn(*places[i % names], io), asio::detached);
  io.poll();
  EXPECT_LE(threads_of_this_process(), threads_at_start() + 4 + of_library);
  busy.clear();
  io.run_for(3 * long_time);
  for (const auto& at : places) EXPECT_EQ(at->turns, static_cast<int>(coroutines / names));
}

AFAR_FOR_EVERY_ENGINE(crowds);

}  // namespace
}  // namespace afar::test
