// A flash sale: many buyers, few vouchers, one for each buyer, and workers that are killed and stopped
// on the way. Four ways to run it, side by side; the first one shows why the others exist.
#include "audit.hpp"
#include "crew.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace sale;

constexpr const char* usage =
    "flash_sale [--stock-url URL] [--orders-url URL] [--buyers N] [--units N]\n"
    "           [--kills N] [--stalls N] [--processes N] [--threads N]\n"
    "  --stock-url    where afar keeps locks and stock: redis://…, mysql://…, postgresql://…, "
    "file:///path\n"
    "  --orders-url   where the tables flash_sale_* are made and dropped: "
    "mysql://user:password@host:port/db,\n"
    "                 postgresql://…, sqlite:/path. Without both: in a folder of its own, no "
    "server\n"
    "  --kills        workers ended by kill -9 during each sale, default 5\n"
    "  --stalls       workers stopped for longer than their lease, and replaced, default 1\n"
    "Leaves with 0 if nothing was oversold, nobody bought twice, no order was without stock and no "
    "stock\n"
    "was lost in the three ways that promise it.\n";

struct line {
  way how = way::unprotected;
  double rate = 0;
  audit found = {};
};

settings read(int argc, char** argv, const std::string& folder) {
  settings s;
  s.p.stock_url = "file://" + folder + "/locks";
  s.p.orders_url = "sqlite:" + folder + "/orders.db";
  s.p.name = "flash sale of " + std::to_string(::getpid());
  const auto count = [](const std::string& key, const std::string& value, int least, int most) {
    char* end = nullptr;
    const long n = std::strtol(value.c_str(), &end, 10);
    if (*end != 0 || n < least || n > most)
      throw std::invalid_argument{key + " is a number from " + std::to_string(least) + " to " +
                                  std::to_string(most)};
    return static_cast<int>(n);
  };
  for (int i = 1; i < argc; i += 2) {
    const std::string key = argv[i];
    if (i + 1 == argc) throw std::invalid_argument{key + " needs a value"};
    const std::string value = argv[i + 1];
    if (key == "--stock-url")
      s.p.stock_url = value;
    else if (key == "--orders-url")
      s.p.orders_url = value;
    else if (key == "--buyers")
      s.buyers = count(key, value, 1, 10'000'000);
    else if (key == "--units")
      s.p.units = count(key, value, 1, 10'000'000);
    else if (key == "--kills")
      s.kills = count(key, value, 0, 100);
    else if (key == "--stalls")
      s.stalls = count(key, value, 0, 10);
    else if (key == "--processes")
      s.processes = count(key, value, 2, most_processes);
    else if (key == "--threads")
      s.threads = count(key, value, 1, most_threads / most_processes);
    else
      throw std::invalid_argument{"no option " + key};
  }
  if (s.processes % clicks != 0) throw std::invalid_argument{"--processes is an even number"};
  return s;
}

// Memory that the workers share with us, and that outlives them.
class shared_board {
 public:
  shared_board()
      : at_(::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                   0)) {
    if (at_ == MAP_FAILED) throw std::bad_alloc{};
    new (at_) board;
  }
  ~shared_board() { ::munmap(at_, sizeof(board)); }
  shared_board(const shared_board&) = delete;
  shared_board& operator=(const shared_board&) = delete;
  board& operator*() const { return *static_cast<board*>(at_); }

 private:
  void* at_;
};

// False: a promise was broken.
bool kept(const settings& s, way w, const audit& a, const board& b) {
  if (w == way::unprotected) return true;
  const auto wanted = std::min<std::int64_t>(s.p.units, s.buyers);
  const bool answered = b.answers() >= static_cast<std::int64_t>(s.buyers) * clicks;
  if (!answered) std::fprintf(stderr, "%s: some buyers got no answer\n", word(w));
  return a.right() && a.orders == wanted && a.left == s.p.units - wanted && answered;
}

// Two sales: one that nobody disturbs, for the speed, and one in which workers are killed and stopped.
// What they did wrong is counted over both.
line measure(const settings& s, way w, int& wrong) {
  line l{w};
  settings calm = s;
  calm.kills = calm.stalls = 0;
  double orders = 0;
  double p99 = 0;
  std::int64_t late = 0;
  run_result r;
  for (const settings& now : {calm, s}) {
    const shared_board shared;
    board& b = *shared;
    open_sale(now.p, w);
    r = serve_all(now, w, b);
    const audit a = look(now.p, w);
    if (!kept(now, w, a, b)) ++wrong;
    if (l.rate == 0) {
      l.rate = static_cast<double>(b.answers()) / r.seconds;
      orders = static_cast<double>(a.orders) / r.orders_after;
      p99 = b.p99_ms();
    }
    l.found += a;
    late += b.refused;
  }
  std::printf("%-18s %9.0f %9.0f %8.2f %7lld %8lld %6lld %8lld %5lld %5lld %6d %8d\n", word(w),
              l.rate, orders, p99, static_cast<long long>(l.found.orders),
              static_cast<long long>(l.found.oversold), static_cast<long long>(l.found.twice),
              static_cast<long long>(l.found.without_stock), static_cast<long long>(l.found.lost),
              static_cast<long long>(late), r.killed, r.stalled);
  std::fflush(stdout);
  return l;
}

void draw(const std::vector<line>& lines) {
  const auto bar = [](double part, char c) {
    return std::string(static_cast<std::size_t>(part > 0 ? 1 + 40 * part : 0), c);
  };
  double fastest = 1;
  std::int64_t worst = 1;
  for (const line& l : lines) {
    fastest = std::max(fastest, l.rate);
    worst = std::max(worst, l.found.oversold + l.found.twice);
  }
  std::printf("\nanswers per second\n");
  for (const line& l : lines)
    std::printf("  %-18s %s %.0f\n", word(l.how), bar(l.rate / fastest, '#').c_str(), l.rate);
  std::printf("orders that should not be\n");
  for (const line& l : lines) {
    const std::int64_t bad = l.found.oversold + l.found.twice;
    std::printf("  %-18s %s %lld\n", word(l.how),
                bar(static_cast<double>(bad) / static_cast<double>(worst), '!').c_str(),
                static_cast<long long>(bad));
  }
}

int show(const settings& s) {
  int wrong = 0;
  for (const way w : all_ways)
    for (const std::string& what : check_answers(s.p, w)) {
      std::fprintf(stderr, "WRONG: %s\n", what.c_str());
      if (w != way::unprotected) ++wrong;
    }
  std::printf(
      "%d buyers click %d times each for %lld vouchers; %d processes of %d threads; two sales\n",
      s.buyers, clicks, static_cast<long long>(s.p.units), s.processes, s.threads);
  if (wrong == 0) std::printf("each way says: not open yet, over, sold out, already bought\n");
  std::printf("\n%-18s %9s %9s %8s %7s %8s %6s %8s %5s %5s %6s %8s\n", "", "answers/s", "orders/s",
              "p99 ms", "orders", "oversold", "twice", "no stock", "lost", "late", "killed",
              "stalled");
  std::vector<line> lines;
  for (const way w : all_ways) lines.push_back(measure(s, w, wrong));
  draw(lines);
  std::printf(
      "\nSpeed is that of the first sale, in which nobody is killed; the rest is of both.\n"
      "late: writes of workers that were overtaken, refused by the table (key or fence)\n\n%s\n",
      wrong == 0
          ? "With a lock or a stock: nothing oversold, nobody twice, no order without stock, no "
            "stock lost."
          : "WRONG: a promise was broken, see the table.");
  close_sale(s.p);
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view{argv[1]} == "--help") {
    std::fputs(usage, stdout);
    return 0;
  }
  std::string folder = (std::filesystem::temp_directory_path() / "flash-sale-XXXXXX").string();
  if (!::mkdtemp(folder.data())) return 1;
  int rc = 1;
  try {
    rc = show(read(argc, argv, folder));
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "flash_sale: %s\n%s", e.what(), usage);
    rc = 64;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "flash_sale: %s\n", e.what());
  }
  std::filesystem::remove_all(folder);
  return rc;
}
