#include "demo/scene.hpp"

#include "demo/audit.hpp"
#include "demo/show.hpp"
#include "demo/team.hpp"
#include "failure.hpp"
#include "torture/process.hpp"

#include <afar/client.hpp>
#include <afar/stock.hpp>

#include <poll.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

namespace afar::cli::demo {
namespace {

volatile std::sig_atomic_t interrupted = 0;

// Kills about three times a second, pauses three holders, lets everybody rush for what is left.
// Returns how long it took, in seconds.
double supervise(const options& wanted, team& crew, std::atomic<phase>& now_on, display& show,
                 results& problems) {
  const auto start = now();
  const auto elapsed = [&] { return static_cast<double>(now() - start) / 1e9; };
  std::minstd_rand random{std::random_device{}()};
  double next_kill = 0.3;
  double next_pause = wanted.seconds * 0.15;
  while (elapsed() < wanted.seconds && !interrupted) {
    if (elapsed() >= next_pause && elapsed() < wanted.seconds * 0.9) {
      crew.pause_one();
      next_pause += wanted.seconds * 0.25;
    } else if (elapsed() >= next_kill) {
      crew.kill_one();
      next_kill = elapsed() + 0.15 + static_cast<double>(random() % 1'000) / 3'000;
    }
    if (elapsed() > wanted.seconds * 0.8) now_on = phase::rush;
    if (crew.replace_the_fallen() != 0) problems.broken.emplace_back("a worker gave up by itself");
    show.progress(elapsed(), crew.so_far(), crew.kills().size(), crew.pauses().size());
    ::poll(nullptr, 0, 10);
  }
  now_on = phase::stop;
  crew.dismiss(std::chrono::seconds{10});
  return elapsed();
}

place prepare(const std::string& folder, const std::string& url, std::int64_t units) {
  place where{folder, url, {}};
  if (url.find("memory:") != std::string::npos)
    throw failure{exit_code::usage,
                  "the demo is of several processes, and memory: is of one; use file:///path"};
  if (url.empty()) {
    where.url = "file://" + folder + "/locks";
    std::filesystem::create_directory(folder + "/locks");
    std::filesystem::permissions(folder + "/locks", std::filesystem::perms::owner_all);
  }
  const std::ofstream empty{where.protected_file()};
  const client locks{where.url};
  where.shown_url = locks.url();
  stock{locks, where.stock_name()}.set(units);
  return where;
}

}  // namespace

bool play(const options& wanted, const std::string& url) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    std::signal(signal, [](int) { interrupted = 1; });
  const torture::temporary_folder folder{"afar-demo"};
  const place where = prepare(folder.path(), url, wanted.stock);
  torture::mapped<control, char> control{where.control(), 0};

  // All but a fifth is sold at a steady pace in the first four fifths of the time.
  const std::chrono::duration<double> between{wanted.seconds * wanted.workers /
                                              static_cast<double>(wanted.stock)};
  display show{wanted};
  show.begin(where);
  results early;
  team crew{where, wanted.workers, std::chrono::duration_cast<std::chrono::nanoseconds>(between)};
  const double seconds = supervise(wanted, crew, control.head().phase, show, early);
  results all = audit(where, wanted, crew);
  all.seconds = seconds;
  all.broken.insert(all.broken.end(), early.broken.begin(), early.broken.end());
  show.end(all);
  return all.broken.empty();
}

}  // namespace afar::cli::demo
