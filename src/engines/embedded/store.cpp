#include "engines/embedded/store.hpp"

#include "engines/embedded/chores.hpp"
#include "engines/embedded/past.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <utility>

namespace afar::engines::embedded {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t gates_bytes = (shard_count + 1) * sizeof(gate_cell);
constexpr auto door_patience = 1s;  // for the gate of the sessions

void make_gates(void* memory) {
  auto* cells = static_cast<gate_cell*>(memory);
  for (std::size_t i = 0; i <= shard_count; ++i) make_gate(*new (cells + i) gate_cell);
}

void silent_bell(void*) {}  // a file of zeros

gate_cell& cell(const shared_mapping& gates, std::size_t i) {
  return static_cast<gate_cell*>(gates.data())[i];
}

folder prepare(const address& where, spi::time_point by) {
  folder made{where, by};
  if (made.new_boot()) {
    clear_past(made);
    made.begin_boot();
  }
  return made;
}

// The stores of this process. A forked child makes its own: the parent's are none of its business.
struct registry {
  fork_mark mark;
  std::mutex mutex;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::weak_ptr<store>> stores;

  static registry& of_this_process() {
    static std::atomic<registry*> current{nullptr};
    registry* known = current.load();
    while (known == nullptr || known->mark.forked()) {
      auto fresh = std::make_unique<registry>();
      if (current.compare_exchange_strong(known, fresh.get())) return *fresh.release();  // for good
    }
    return *known;
  }
};

}  // namespace

std::shared_ptr<store> store::open(const address& where, spi::time_point by) {
  registry& all = registry::of_this_process();
  const std::lock_guard guard{all.mutex};
  std::erase_if(all.stores, [](const auto& known) { return known.second.expired(); });
  struct stat about{};
  if (::stat(where.path.c_str(), &about) == 0) {
    const auto known = all.stores.find({about.st_dev, about.st_ino});
    const auto found = known == all.stores.end() ? nullptr : known->second.lock();
    if (found && !found->lost_ && (found->folder_.durable() || !where.durable)) return found;
  }
  auto made = std::make_shared<store>(where, by);
  all.stores[{made->folder_.device(), made->folder_.inode()}] = made;
  return made;
}

store::store(const address& where, spi::time_point by)
    : folder_(prepare(where, by)),
      gates_(folder_.map("gates", gates_bytes, make_gates)),
      bell_memory_(folder_.map("bell", sizeof(bell_area), silent_bell)),
      sessions_(folder_.file("sessions")),
      doorbell_(*static_cast<bell_area*>(bell_memory_.data())),
      sessions_door_(cell(gates_, shard_count), ::getpid()),
      alive_([this](session_id id) {
        if (sessions_.alive(id)) return true;
        has_dead_.store(true, std::memory_order_relaxed);
        return false;
      }),
      listener_(doorbell_, join()) {
  for (std::size_t i = 0; i < shard_count; ++i)
    shards_.emplace_back(cell(gates_, i), shard_path(folder_, i), folder_.durable());
  folder_.opened();
}

store::~store() {
  listener_.stop();  // before the slot is free: the next session must not miss its rings
  if (sessions_door_.enter(boot_clock::now() + door_patience)) return;  // others clean up
  const inside within{sessions_door_};
  doorbell_.free_slots(sessions_.own());
}

// Forgets who died and takes a slot of the doorbell. Without one, processes poll.
std::optional<std::size_t> store::join() {
  if (sessions_door_.enter(boot_clock::now() + door_patience)) return std::nullopt;
  const inside within{sessions_door_};
  sessions_.look_around();
  doorbell_.each_session([&](session_id id) { sessions_.alive(id); });
  for (const session_id id : sessions_.take_dead()) {
    doorbell_.free_slots(id);
    sessions_.bury(id);
    ++buried_;
  }
  return doorbell_.take_slot(sessions_.own());
}

void store::bury_dead() noexcept {
  if (!sessions_door_.try_enter()) return;  // the next step tries again
  const inside within{sessions_door_};
  has_dead_.store(false, std::memory_order_relaxed);
  for (const session_id id : sessions_.take_dead()) {
    doorbell_.free_slots(id);
    sessions_.bury(id);
  }
}

spi::status store::unusable() const {
  if (forked())
    return {errc::forked, "the client belongs to the parent process; open one after fork()"};
  return {errc::unavailable, "the folder " + folder_.path() +
                                 " or this process's file in it was removed; open a new client"};
}

records::moment store::moment() const noexcept {
  records::moment m;
  m.now = boot_clock::now() + folder_.calendar_offset();
  m.calendar_us = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(m.now.time_since_epoch()).count());
  m.session = sessions_.own();
  m.alive = &alive_;
  return m;
}

void store::ring(const site& at, const records::effects& e) noexcept {
  for (const spi::owner_id& owner : e.call)
    listener_.ring(at.bucket(owner), [&] { return watch_key(at.name, owner); });
  if (e.holders_changed) listener_.ring(at.bucket(), [&] { return watch_key(at.name); });
}

void store::do_chores(shard& at, const records::moment& now, inside& within) {
  const std::vector<touched> found = at.do_chores(now);
  within.leave();
  for (const touched& one : found) ring(site{one.name}, one.effects);
  if (sessions_.present() || lost_.exchange(true)) return;
  std::vector<std::shared_ptr<ear>> told;
  {
    const std::lock_guard guard{ears_mutex_};
    told = ears_;
  }
  for (const auto& one : told) one->session_lost();
}

spi::status store::collect(spi::time_point by, std::uint64_t& records) {
  for (std::size_t i = 0; i < shard_count; ++i) {
    // An erased ledger goes a part at a time: again until a whole pass has removed nothing.
    for (std::uint64_t before = records + 1; before != records;) {
      before = records;
      std::string from;
      do {
        tidied out;
        auto failed = step(i, by, [&](environment& env, const records::moment& now) -> spi::status {
          from = tidy(env, from, now, out);
          return {};
        });
        if (failed) return failed;
        for (const touched& one : out.found) ring(site{one.name}, one.effects);
        records += out.removed;
      } while (!from.empty());
    }
  }
  return {};
}

void store::attach(const std::shared_ptr<ear>& one) {
  const std::lock_guard guard{ears_mutex_};
  ears_.push_back(one);
}

void store::detach(const std::shared_ptr<ear>& one) noexcept {
  const std::lock_guard guard{ears_mutex_};
  std::erase(ears_, one);
}

}  // namespace afar::engines::embedded
