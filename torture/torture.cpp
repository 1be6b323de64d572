#include "torture/torture.hpp"

#include "torture/objects.hpp"
#include "torture/process.hpp"

#include <afar/client.hpp>
#include <afar/counter.hpp>
#include <afar/error.hpp>
#include <afar/stock.hpp>
#include <afar/survey.hpp>

#include "core/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <random>

namespace afar::torture {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// What a run is about. Many of them: what a dead process held is free only after its lease, and those
// who want it meanwhile would do nothing else.
constexpr std::pair<sort, int> cast[] = {{sort::mutex, 12},
                                         {sort::fair_mutex, 4},
                                         {sort::recursive_mutex, 2},
                                         {sort::shared_mutex, 2},
                                         {sort::leased_semaphore, 2},
                                         {sort::election, 1},
                                         {sort::counter, 2},
                                         {sort::stock, 1},
                                         {sort::latch, 1},
                                         {sort::counting_semaphore, 1},
                                         {sort::barrier, 2},
                                         {sort::multi_lock, 2}};

// Proxies before the servers of a URL, and the URL that leads through them. Topologies whose servers
// tell clients where to go, TLS (whose names would not match) and sockets in a file system have none.
struct detour {
  std::vector<std::unique_ptr<fault_proxy>> proxies;
  std::string url;
  bool redis = false;

  explicit detour(const std::string& straight, bool wanted) : url(straight) {
    static constexpr std::pair<std::string_view, std::uint16_t> usual_ports[] = {
        {"redis", 6379},
        {"redis+quorum", 6379},
        {"zookeeper", 2181},
        {"mysql", 3306},
        {"postgresql", 5432}};
    const spi::url u = detail::parse_url(straight);
    const auto* const usual =
        std::ranges::find(usual_ports, u.scheme, [](auto& p) { return p.first; });
    if (!wanted || usual == std::end(usual_ports)) return;
    redis = u.scheme.starts_with("redis");
    std::string places;
    proxies.reserve(u.hosts.size());
    for (const auto& h : u.hosts) {
      proxies.push_back(
          std::make_unique<fault_proxy>(h.name, h.port != 0 ? h.port : usual->second));
      places += (places.empty() ? "" : ",") + proxies.back()->address();
    }
    const auto from = straight.rfind('@') != std::string::npos ? straight.rfind('@') + 1
                                                               : straight.find("://") + 3;
    const auto to = std::min(straight.find_first_of("/?", from), straight.size());
    url.replace(from, to - from, places);
  }
};

// ZooKeeper frees what a dead process held when its session is over: a short one, unless it is named.
std::string with_short_session(std::string url) {
  if (!url.starts_with("zookeeper://") || url.find("session=") != std::string::npos) return url;
  return url + (url.find('?') == std::string::npos ? "?" : "&") + "session=4s";
}

// How long a silent process keeps what it holds.
milliseconds kept_for(const std::string& url, milliseconds lease) {
  const auto options = detail::parse_url(url).options;
  const auto session = options.find("session");
  return session == options.end()
             ? lease
             : std::max(lease, detail::parse_duration("session", session->second));
}

class direction {
 public:
  explicit direction(const settings& s)
      : wanted_(s),
        folder_("afar-torture"),
        straight_(with_short_session(s.url)),
        way_(straight_, s.network),
        kept_for_(torture::kept_for(straight_, s.lease)),
        client_(straight_) {
    out_.seed = s.seed ? *s.seed : std::random_device{}();
    out_.url = client_.url();
    prepare();
  }

  verdict conduct() {
    mapped<control, char> orders{plan_.control(), 0};
    crew workers{plan_, out_.seed};
    std::vector<fault> faults;
    for (fault& f : client_faults(workers, kept_for_))
      if (f.name.starts_with("kill") ? wanted_.kill : wanted_.stop) faults.push_back(std::move(f));
    for (fault& f : network_faults(way_.proxies, workers, plan_.lease))
      if (f.name != garbled || way_.redis) faults.push_back(std::move(f));
    const points where{plan_.folder};
    for (fault& f : faults_at(where, wanted_.points, workers, kept_for_))
      faults.push_back(std::move(f));
    for (const fault& f : wanted_.more) faults.push_back(f);
    nemesis enemy{std::move(faults), out_.seed};

    const auto start = now();
    const auto total = nanoseconds{wanted_.time}.count();
    const auto until = [&](double part) {
      return start + static_cast<std::int64_t>(static_cast<double>(total) * part);
    };
    // First undisturbed: a run in which little happens proves nothing.
    pass(workers, until(0.1), {});
    // On a busy machine it takes longer until enough has happened; three times as long at most.
    while (workers.granted() < 100 && now() < until(1.0) && !wanted_.interrupted())
      pass(workers, now() + 100'000'000, {});
    const auto before = workers.granted();
    if (before < 100)
      out_.invalid.push_back(fmt::format("only {} grants before the first fault", before));
    const auto strike = [&] { enemy.strike(); };
    pass(workers, until(0.8), strike);
    while (!every_fault_bit(enemy) && now() < until(2.4) && !wanted_.interrupted())
      pass(workers, now() + 500'000'000, strike);
    while (wanted_.stop && workers.refused() == 0 && now() < until(3.0) && !wanted_.interrupted())
      pass(workers, now() + 500'000'000, [&] { enemy.strike_with("stop one about to write"); });
    workers.resume_all();
    pass(workers, std::max(until(1.0), now() + crash_bound() + 2'000'000'000), {});
    orders.head().phase = phase::stop;
    if (!workers.dismiss(20s)) found("deadlines hold", "a worker did not end within 20 s");
    out_.seconds = static_cast<double>(now() - start) / 1e9;

    out_.grants = workers.granted();
    out_.refused_writes = workers.refused();
    out_.kills = workers.kills();
    out_.stops = workers.stops_hit();
    out_.bites = enemy.bites();
    for (const auto& p : way_.proxies) out_.lost_answers += p->lost();
    for (const std::string& how : workers.fallen()) found("workers live", how);
    if (!workers.records_complete()) out_.invalid.emplace_back("a record file was too small");
    gather(workers, enemy, orders.head());
    judge();
    clean_up();
    return std::move(out_);
  }

 private:
  static bool every_fault_bit(const nemesis& enemy) {
    return std::ranges::all_of(enemy.bites(), [](const auto& b) { return b.second > 0; });
  }

  void found(const std::string& rule, std::string text) {
    out_.violations.push_back({rule, 0, now(), std::move(text)});
  }

  std::int64_t crash_bound() const {
    // A waiter that dies keeps its place for 3 s on Redis; a session of ZooKeeper ends a tick later.
    return nanoseconds{kept_for_ + 4'000ms}.count();
  }

  void prepare() {
    plan_.program = wanted_.program;
    plan_.launcher = wanted_.launcher;
    plan_.folder = folder_.path();
    plan_.url = wanted_.workers_url.empty() ? way_.url : with_short_session(wanted_.workers_url);
    plan_.seed = out_.seed;
    plan_.workers = wanted_.workers;
    plan_.threads = wanted_.threads;
    plan_.evicts = wanted_.evicts;
    plan_.lease = wanted_.lease;
    const std::string run = folder_.path().substr(folder_.path().rfind('-') + 1);
    for (const auto& [sort, times] : cast) {
      for (int i = 0; i < times; ++i) {
        const object o{sort, fmt::format("torture/{}/{}/{}", run, word(sort), i)};
        try {
          make(client_, o);
        } catch (const lock_error& e) {
          if (e.code() != errc::unsupported) throw;
          out_.left_out.push_back(fmt::format("{}: {}", word(sort), e.what()));
          break;
        }
        plan_.objects.push_back(o);
      }
    }
    plan_.store();
    const std::ofstream empty{plan_.protected_file()};
  }

  void pass(crew& workers, std::int64_t end, const std::function<void()>& strike) {
    auto said = now();
    while (now() < end && !wanted_.interrupted()) {
      workers.tick();
      if (strike) strike();
      eventually(strike ? 150ms : 10ms, [&] { return now() >= end; });
      if (now() - said > 1'000'000'000) {
        said = now();
        wanted_.say(fmt::format("{} grants, {} stale writes refused", workers.granted(),
                                workers.refused()));
      }
    }
  }

  void gather(const crew& workers, const nemesis& enemy, const control& at_the_end) {
    evidence& e = out_.seen;
    e.objects = plan_.objects;
    e.lives = workers.lives();
    e.incidents = enemy.log();
    // A stop lasts longer than the strike.
    e.stops = workers.stops();
    for (const stop_made& s : e.stops)
      e.incidents.push_back({"stopped", s.when.from, s.when.to, true});
    e.lease = nanoseconds{plan_.lease}.count();
    e.crash_bound = crash_bound();
    std::ifstream lines{plan_.protected_file(), std::ios::binary};
    for (entry line; lines.read(reinterpret_cast<char*>(&line), sizeof line);)
      e.writes.push_back(line);
    out_.writes = e.writes.size();
    for (std::uint16_t i = 0; i < static_cast<std::uint16_t>(e.objects.size()); ++i) {
      rounds_.push_back(at_the_end.rounds[i]);
      look_at(i);
    }
    count_uses();
  }

  // What the engine says at the end, straight and undisturbed.
  void look_at(std::uint16_t i) {
    const object& o = plan_.objects[i];
    evidence& e = out_.seen;
    if (o.sort == sort::counter) e.final_value[i] = counter{client_, o.name}.load();
    if (o.sort == sort::counting_semaphore)
      for (std::uint64_t round = 0; round <= rounds_[i]; ++round)
        e.left[{i, round}] = free_permits(client_, o, round);
    if (o.sort != sort::counter && o.sort != sort::stock) return;
    for (const life& l : e.lives)
      for (const fact& f : l.facts)
        if (f.object == i && f.what == act::changed) ++out_.changes;
    if (o.sort != sort::stock) return;
    stock shop{client_, o.name};
    const auto before = shop.levels().value_or(stock_levels{});
    e.final_value[i] = before.taken;
    // An order that nobody knows of is asked for again: it is the same order, so it changes nothing
    // if it was taken, and takes one unit if not. Those are not counted as taken before.
    std::int64_t sold = 0;
    std::int64_t late = 0;
    for (const life& l : e.lives) {
      std::map<std::uint16_t, std::int64_t> open;
      const auto ask_again = [&](std::uint16_t thread, std::int64_t number) {
        const auto taken = shop.levels().value_or(stock_levels{}).taken;
        shop.take(1, order_id(l.worker, l.number, thread, number), "anybody");
        if (shop.levels().value_or(stock_levels{}).taken == taken)
          ++sold;
        else
          ++late;
      };
      for (const fact& f : l.facts) {
        if (f.object != i) continue;
        if (f.what == act::changing) open[f.thread] = f.value;
        if (f.what == act::changed) sold += f.value;
        if (f.what == act::unknown) ask_again(f.thread, f.value);
        if (f.what != act::changing) open.erase(f.thread);
      }
      for (const auto& [thread, number] : open) ask_again(thread, number);
    }
    e.sold[i] = sold;
    const auto after = shop.levels().value_or(stock_levels{});
    if (after.remaining < 0 || after.remaining + after.taken + after.reserved != units ||
        after.taken != before.taken + late)
      found("changes count once",
            fmt::format("{} left and {} taken of {}", after.remaining, after.taken, units));
  }

  // How often each sort was used with success.
  void count_uses() {
    std::map<sort, std::uint64_t> uses;
    for (const object& o : plan_.objects) uses.try_emplace(o.sort);
    for (const life& l : out_.seen.lives)
      for (const fact& f : l.facts)
        if (f.what == act::granted || f.what == act::changed || f.what == act::passed)
          ++uses[plan_.objects[f.object].sort];
    for (const auto& [sort, times] : uses) {
      out_.uses.emplace_back(word(sort), times);
      if (times == 0)
        out_.invalid.push_back(fmt::format("nobody got anywhere with a {}", word(sort)));
    }
  }

  void judge() {
    findings more = check(out_.seen, &out_.searched);
    out_.violations.insert(out_.violations.end(), more.begin(), more.end());
    out_.outside = take_outside(out_.seen, out_.violations);
    if (out_.bites.empty())
      out_.invalid.emplace_back("nothing was done to it: no fault is possible");
    for (const auto& [name, times] : out_.bites)
      if (times == 0) out_.invalid.push_back("never bit: " + name);
    if (wanted_.stop && out_.refused_writes == 0)
      out_.invalid.emplace_back("no stale write was refused although holders were stopped");
  }

  // Nothing of the run may be left: who died is forgotten by now.
  void clean_up() {
    const auto in_use = [&](const object& o) {
      const auto at = inspect(client_, o.name);
      return at && (!at->holders.empty() || !at->waiters.empty());
    };
    for (std::uint16_t i = 0; i < static_cast<std::uint16_t>(plan_.objects.size()); ++i) {
      const object& o = plan_.objects[i];
      if (o.is_lock() || o.sort == sort::barrier) {
        object last = o;  // of a barrier all rounds but two were left long ago
        if (o.in_rounds()) last.name = o.of_round(rounds_[i]);
        if (!eventually(nanoseconds{crash_bound() + 1'000'000'000}, [&] { return !in_use(last); }))
          out_.violations.push_back(
              {"nothing is left behind", i, now(), "somebody is still there who is gone"});
      }
      erase(client_, o, rounds_[i]);
    }
  }

  const settings& wanted_;
  const temporary_folder folder_;
  const std::string straight_;
  detour way_;
  const milliseconds kept_for_;
  client client_;
  plan plan_;
  std::vector<std::uint32_t> rounds_;  // by object: the last one
  verdict out_;
};

}  // namespace

verdict run(const settings& s) { return direction{s}.conduct(); }

}  // namespace afar::torture
