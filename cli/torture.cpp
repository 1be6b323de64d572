#include "torture/torture.hpp"

#include "context.hpp"
#include "failure.hpp"
#include "options.hpp"
#include "torture/report.hpp"
#include "torture/worker.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <memory>

namespace afar::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

struct options {
  context where;
  std::optional<milliseconds> time;
  std::optional<milliseconds> lease;
  std::optional<std::uint64_t> seed;
  std::uint32_t workers = 6;
  std::uint32_t threads = 4;
  std::vector<std::string> faults;
  std::string page;
  bool json = false;
};

struct worker_options {
  std::string folder;
  std::uint32_t worker = 0;
  std::uint32_t life = 0;
};

torture::settings settings_of(const options& o) {
  torture::settings s;
  s.url = o.where.url();
  if (s.url.find("memory:") != std::string::npos)
    throw failure{exit_code::usage,
                  "torture is of several processes, and memory: is of one; use file:///path"};
  s.time = o.time.value_or(s.time);
  if (s.time < std::chrono::seconds{2} || s.time > std::chrono::hours{24})
    throw failure{exit_code::usage, "--time is from 2s to 24h"};
  s.lease = o.lease.value_or(s.lease);
  if (s.lease < milliseconds{100} || s.lease > std::chrono::seconds{60})
    throw failure{exit_code::usage, "--lease is from 100ms to 60s"};
  s.seed = o.seed;
  s.workers = o.workers;
  s.threads = o.threads;
  const auto wanted = [&](const char* name) {
    return o.faults.empty() || std::ranges::find(o.faults, name) != o.faults.end();
  };
  s.kill = wanted("kill");
  s.stop = wanted("stop");
  s.network = wanted("network");
  s.interrupted = [] { return interrupted != 0; };
  if (::isatty(STDERR_FILENO) != 0)
    s.say = [](const std::string& line) { fmt::print(stderr, "\r{:<60}", line); };
  return s;
}

// A URL with a password is not repeated: it comes from where it came from.
std::string replay_of(const torture::settings& s, const options& o, const torture::verdict& v) {
  std::string line =
      fmt::format("afar torture{} --seed {} --time {}ms --lease {}ms --workers {} --threads {}",
                  s.url == v.url ? " --url '" + s.url + "'" : "", v.seed, s.time.count(),
                  s.lease.count(), s.workers, s.threads);
  for (const std::string& f : o.faults) line += " --faults " + f;
  return line;
}

exit_code code_of(torture::outcome is) {
  switch (is) {
    case torture::outcome::kept:
      return exit_code::ok;
    case torture::outcome::broken:
      return exit_code::negative;
    case torture::outcome::proves_nothing:
      return exit_code::proves_nothing;
  }
  return exit_code::negative;
}

}  // namespace

work add_torture(command_line& line) {
  const auto o = std::make_shared<options>();
  line.add_duration("--time", o->time, "How long (60s)");
  line.add_number("--seed", o->seed, "Of what is random (another one each time)");
  line.add_option("--faults", o->faults, "What to do to it: kill, stop, network (all)")
      .separated_by(',')
      .one_of(torture::fault_names());
  line.add_duration("--lease", o->lease, "Of the locks (500ms)");
  line.add_option("--workers", o->workers, "How many processes (6)").within(2, 64);
  line.add_option("--threads", o->threads, "How many threads in each (4)")
      .within(1U, torture::most_threads);
  line.add_option("--page", o->page, "Write the report with a picture to this HTML file");
  line.add_flag("--json", o->json, "The verdict as JSON");
  o->where.add_to(line);
  line.footer(
      "Processes lock, count and buy under names of the run's own, which are gone afterwards; "
      "servers\n"
      "are not touched, faults are in clients and on the way. Exit code 1: a promise was broken; "
      "81: too\n"
      "little happened for the run to prove anything.");
  return [o] {
    const torture::settings s = settings_of(*o);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
      std::signal(signal, [](int) { interrupted = 1; });
    const torture::verdict v = torture::run(s);
    if (s.say && ::isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r{:<60}\r", "");
    const std::string replay = replay_of(s, *o, v);
    if (!o->page.empty()) {
      std::ofstream out{o->page};
      if (!(out << torture::as_page(v, replay)).flush())
        throw failure{exit_code::usage, "cannot write " + o->page};
    }
    fmt::print("{}", o->json ? torture::as_json(v, replay) : torture::as_text(v, replay));
    return number(code_of(v.is()));
  };
}

// How it starts itself; the URL comes by environment, where others cannot read it.
work add_torture_worker(command_line& line) {
  const auto o = std::make_shared<worker_options>();
  line.add_option("FOLDER", o->folder).required();
  line.add_option("WORKER", o->worker).required();
  line.add_option("LIFE", o->life).required();
  return [o] { return torture::work(o->folder, context{}.url(), o->worker, o->life); };
}

}  // namespace afar::cli
