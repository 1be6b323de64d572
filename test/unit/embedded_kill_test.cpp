// kill -9 at random moments, most of them inside a step, and never an inconsistent state: workers
// take, count and buy on a few names while they are killed and replaced. AFAR_EMBEDDED_KILLS says
// how often (200).
#include "embedded_fixture.hpp"
#include "engine_fixture.hpp"
#include "engines/embedded/envelope.hpp"
#include "engines/embedded/environment.hpp"
#include "engines/embedded/gate.hpp"
#include "engines/embedded/past.hpp"
#include "engines/records/codec.hpp"
#include "support/patience.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <random>

namespace afar::test {
namespace {

using namespace engines::embedded;
using namespace engines::records;

constexpr std::size_t mutexes = 4;
constexpr std::size_t workers = 4;
constexpr std::int64_t goods = 1'000'000;
constexpr std::uint32_t permits = 3;

// What the workers believe, in memory that outlives them.
struct board {
  struct mutex_belief {
    std::atomic<std::int32_t> holder;  // pid; 0: nobody
    std::atomic<std::uint64_t> last_token;
  };
  std::array<mutex_belief, mutexes> locks;
  std::atomic<std::int64_t> adds_begun, adds_done, takes_begun, takes_done;
  std::atomic<std::int64_t> steps, grants, failures, overlaps, old_tokens;
};

// Whether a process is dead, also while nobody has waited for it.
bool is_dead(std::int32_t pid) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/stat", pid);
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return true;
  char state = 0;
  const bool read = std::fscanf(file, "%*d %*s %c", &state) == 1;
  std::fclose(file);
  return !read || state == 'Z' || state == 'X';
}

// One worker's life. Nothing of gtest here: it is killed in the middle.
class worker {
 public:
  worker(const std::string& path, board& b)
      : board_(b), random_(static_cast<unsigned>(::getpid())), engine_(open_folder(path, host_)) {}

  [[noreturn]] void work() {
    for (;;) {
      switch (random_() % 4) {
        case 0:
          use_a_mutex();
          break;
        case 1:
          add_one();
          break;
        case 2:
          buy_one();
          break;
        default:
          use_a_permit();
          break;
      }
      board_.steps.fetch_add(1);
    }
  }

 private:
  // Notes of all lengths, so that records grow and shrink: in place and in transactions.
  std::string note() { return std::string(random_() % 900, 'n'); }
  spi::owner_id next_owner() { return {static_cast<std::uint64_t>(::getpid()), 1, ++number_}; }
  template <class Reply>
  void count(const answered<Reply>& a) {
    if (a.status) board_.failures.fetch_add(1);
  }

  void use_a_mutex() {
    const std::size_t i = random_() % mutexes;
    const std::string name = "m" + std::to_string(i);
    const std::string text = note();
    spi::claim c = claim_of(0, name);
    c.owner = next_owner();
    c.note = text;
    c.queue = random_() % 2 == 0;
    const auto got = acquire(*engine_, c);
    count(got);
    if (got.reply.granted) {
      enter(i, got.reply.token);
      c.token = got.reply.token;
      spi::claim* const all[] = {&c};
      engine_->renew(all, never, [&](std::size_t, spi::status s, const spi::renew_reply&) {
        if (s) board_.failures.fetch_add(1);
      });
      board_.locks[i].holder.store(0);
    }
    count(
        answer_of<release_reply>([&](auto done) { engine_->release(c, never, std::move(done)); }));
  }

  void enter(std::size_t i, std::uint64_t token) {
    auto& belief = board_.locks[i];
    const std::int32_t before = belief.holder.exchange(::getpid());
    if (before != 0 && !is_dead(before)) board_.overlaps.fetch_add(1);
    if (belief.last_token.exchange(token) >= token) board_.old_tokens.fetch_add(1);
    board_.grants.fetch_add(1);
  }

  void use_a_permit() {
    const std::string text = note();
    spi::claim c = claim_of(0, "p", kind::permits);
    c.owner = next_owner();
    c.limit = permits;
    c.permits = 1 + random_() % 2;
    c.note = text;
    count(acquire(*engine_, c));
    count(
        answer_of<release_reply>([&](auto done) { engine_->release(c, never, std::move(done)); }));
  }

  void add_one() {
    spi::cell_change ch = add(1, "c");
    ch.id = {next_owner(), number_};
    board_.adds_begun.fetch_add(1);
    const auto done = change(*engine_, ch);
    count(done);
    if (done.reply.applied) board_.adds_done.fetch_add(1);
  }

  void buy_one() {
    const std::string order = std::to_string(::getpid()) + "-" + std::to_string(++number_);
    const std::string buyer = "buyer-" + std::to_string(random_() % 10);
    spi::ledger_change ch;
    ch.what = {kind::stock, "s"};
    ch.action = random_() % 2 == 0 ? spi::ledger_action::take : spi::ledger_action::reserve;
    ch.amount = 1;
    ch.order = order;
    ch.buyer = buyer;
    ch.hold_for = 1h;
    board_.takes_begun.fetch_add(1);
    const auto done = record(*engine_, ch);
    count(done);
    if (!done.status && done.reply.outcome == spi::ledger_outcome::done)
      board_.takes_done.fetch_add(1);
  }

  board& board_;
  std::mt19937 random_;
  recording_host host_;
  std::unique_ptr<spi::engine> engine_;
  std::uint64_t number_ = 0;
};

class embedded_kill : public ::testing::Test {
 protected:
  embedded_kill() {
    void* memory =
        ::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = new (memory) board{};
  }
  ~embedded_kill() override { ::munmap(shared, sizeof(board)); }

  std::unique_ptr<child> hire() const {
    return std::make_unique<child>([this](const child::tell& tell) {
      worker w{folder.path(), *shared};
      tell('w');
      w.work();
    });
  }
  // How many gates a dead process has left locked: it was inside.
  int owner_died() const {
    const int fd = ::open(folder.file("gates").c_str(), O_RDONLY | O_CLOEXEC);
    constexpr std::size_t size = (shard_count + 1) * sizeof(gate_cell);
    void* memory = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    ::close(fd);
    int died = 0;
    constexpr int futex_owner_died = 0x40000000;
    for (std::size_t i = 0; i <= shard_count; ++i)
      if ((static_cast<gate_cell*>(memory)[i].mutex.__data.__lock & futex_owner_died) != 0) ++died;
    ::munmap(memory, size);
    return died;
  }
  void expect_consistent(spi::engine& engine) const;
  void audit_orders() const;

  scratch_folder folder;
  recording_host host;
  board* shared;
};

void embedded_kill::expect_consistent(spi::engine& engine) const {
  for (const auto& entry : survey(engine, {}).entries) {
    std::uint32_t held = 0;
    for (const auto& h : entry.holders) held += h.permits;
    EXPECT_LE(held, entry.kind == kind::permits ? permits : 1U) << entry.name;
  }
  spi::ledger_change load;
  load.what = {kind::stock, "s"};
  const auto shop = record(engine, load);
  EXPECT_FALSE(shop.status);
  EXPECT_EQ(shop.reply.remaining + shop.reply.reserved + shop.reply.taken, goods);
}

// Reads every key of every shard; all orders together are what the head says.
void embedded_kill::audit_orders() const {
  std::int64_t units = 0;
  std::int64_t sold = 0;
  std::int64_t buyers = 0;
  for (std::size_t i = 0; i < shard_count; ++i) {
    std::atomic<std::uint64_t> room{0};
    const auto path = folder.file((i < 10 ? "shard-0" : "shard-") + std::to_string(i));
    if (!std::filesystem::exists(path)) continue;
    environment env{path, false, room};
    environment::view view{env};
    for (auto item = view.first_from("a"); item; item = view.next()) {
      if (item->key[0] == 'o') {
        order_record order;
        ASSERT_TRUE(decode(item->value, order));
        units += order.order.amount;
      } else if (item->key[0] == 'b') {
        buyers += 1;
      } else if (item->key == "ns") {
        ledger_record head;
        ASSERT_TRUE(decode(envelope{item->value, "s"}.valid(), head));
        sold = head.head.taken + head.head.reserved;
      } else if (item->key[0] == 'n') {
        const std::string name{item->key.substr(1)};
        EXPECT_NO_THROW((envelope{item->value, name}));
      }
    }
  }
  EXPECT_EQ(units, sold);
  EXPECT_LE(buyers, 10);
  EXPECT_LE(shared->takes_done.load(), sold);
  EXPECT_LE(sold, shared->takes_begun.load());
}

TEST_F(embedded_kill, at_any_moment_leaves_a_consistent_state) {
  const char* wanted = std::getenv("AFAR_EMBEDDED_KILLS");
  const int kills = wanted != nullptr ? std::atoi(wanted) : 200 / slowness;
  auto engine = open_folder(folder.path(), host);
  spi::ledger_change define;
  define.what = {kind::stock, "s"};
  define.action = spi::ledger_action::define;
  define.amount = goods;
  ASSERT_FALSE(record(*engine, define).status);

  std::mt19937 random{std::random_device{}()};
  std::vector<std::unique_ptr<child>> crew;
  for (std::size_t i = 0; i < workers; ++i) crew.push_back(hire());
  for (const auto& one : crew) ASSERT_EQ(one->hear(), 'w');
  int inside = 0;
  for (int i = 0; i < kills; ++i) {
    auto& victim = crew[random() % workers];
    hold_still(std::chrono::microseconds{random() % 3'000});
    for (const auto& one : crew) one->stop();  // so that the gate's state can be seen
    victim->end();
    inside += owner_died();
    for (const auto& one : crew) one->go_on();
    victim = hire();
    ASSERT_EQ(victim->hear(), 'w');
    if (i % 10 == 9) expect_consistent(*engine);
  }
  crew.clear();
  expect_consistent(*engine);
  EXPECT_EQ(shared->overlaps.load(), 0);
  EXPECT_EQ(shared->old_tokens.load(), 0);
  EXPECT_EQ(shared->failures.load(), 0);
  const auto count = change(*engine, add(0, "c")).reply.value;
  EXPECT_LE(shared->adds_done.load(), count);
  EXPECT_LE(count, shared->adds_begun.load());
  EXPECT_LE(shared->adds_begun.load() - shared->adds_done.load(),
            kills + static_cast<int>(workers));
  for (std::size_t i = 0; i < mutexes; ++i)
    EXPECT_TRUE(
        eventually([&] { return acquire(*engine, 1, "m" + std::to_string(i)).reply.granted; }, 1s));
  engine.reset();
  audit_orders();
  std::printf("%d kills, %d of them inside a step; %ld steps, %ld grants\n", kills, inside,
              static_cast<long>(shared->steps.load()), static_cast<long>(shared->grants.load()));
}

}  // namespace
}  // namespace afar::test
