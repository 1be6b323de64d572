// What script/demo shows: processes that contend for one lock and one stock while some of them are
// killed and paused. The figures at the end come from what the processes recorded, see
// demo/record.hpp; the exit code is not zero if a promise was broken.
//
//   demo [--workers N] [--stock N] [--seconds S] [--url URL] [--json]
#include "demo/audit.hpp"
#include "demo/run.hpp"
#include "demo/show.hpp"
#include "demo/team.hpp"
#include "demo/worker.hpp"

#include <afar/client.hpp>
#include <afar/stock.hpp>

#include <getopt.h>
#include <poll.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <random>
#include <string_view>

namespace {

using demo::phase;

volatile std::sig_atomic_t interrupted = 0;

void usage(std::FILE* out) {
  std::fputs("usage: demo [--workers N] [--stock N] [--seconds S] [--url URL] [--json]\n", out);
}

demo::options read_options(int argc, char** argv) {
  static const option known[] = {{"workers", required_argument, nullptr, 'w'},
                                 {"stock", required_argument, nullptr, 's'},
                                 {"seconds", required_argument, nullptr, 't'},
                                 {"url", required_argument, nullptr, 'u'},
                                 {"json", no_argument, nullptr, 'j'},
                                 {"help", no_argument, nullptr, 'h'},
                                 {}};
  demo::options o;
  for (int c; (c = ::getopt_long(argc, argv, "h", known, nullptr)) != -1;) switch (c) {
      case 'w':
        o.workers = static_cast<std::uint32_t>(std::strtoul(optarg, nullptr, 10));
        break;
      case 's':
        o.stock = std::strtoll(optarg, nullptr, 10);
        break;
      case 't':
        o.seconds = std::strtod(optarg, nullptr);
        break;
      case 'u':
        o.url = optarg;
        break;
      case 'j':
        o.json = true;
        break;
      case 'h':
        usage(stdout);
        std::exit(0);
      default:
        usage(stderr);
        std::exit(2);
    }
  if (optind == argc && o.workers >= 2 && o.workers <= 256 && o.stock > 0 && o.seconds >= 1)
    return o;
  std::fputs("demo: at least 2 workers (at most 256), 1 unit and 1 second\n", stderr);
  usage(stderr);
  std::exit(2);
}

// A folder that is gone when the run is over.
class temporary_folder {
 public:
  temporary_folder() {
    std::string pattern = std::filesystem::is_directory("/dev/shm") ? "/dev/shm/" : "/tmp/";
    pattern += "afar-demo-XXXXXX";
    if (!::mkdtemp(pattern.data()))
      throw std::system_error(errno, std::generic_category(), pattern);
    path_ = pattern;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Kills about three times a second, pauses three holders, lets everybody rush for what is left.
// Returns how long it took, in seconds.
double supervise(const demo::options& wanted, demo::team& crew, std::atomic<phase>& now_on,
                 demo::display& show, demo::results& problems) {
  const auto start = demo::now();
  const auto elapsed = [&] { return static_cast<double>(demo::now() - start) / 1e9; };
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

int run(const demo::options& wanted) {
  const temporary_folder folder;
  const demo::place where{folder.path(),
                          wanted.url.empty() ? "file://" + folder.path() + "/locks" : wanted.url};
  std::filesystem::create_directory(folder.path() + "/locks");
  std::filesystem::permissions(folder.path() + "/locks", std::filesystem::perms::owner_all);
  std::ofstream{where.protected_file()};
  demo::mapped<demo::control, char> control{where.control(), 0};
  afar::stock{afar::client{where.url}, where.stock_name()}.set(wanted.stock);

  // All but a fifth is sold at a steady pace in the first four fifths of the time.
  const std::chrono::duration<double> between{wanted.seconds * wanted.workers /
                                              static_cast<double>(wanted.stock)};
  demo::display show{wanted};
  show.begin(where);
  demo::results early;
  demo::team crew{where, wanted.workers,
                  std::chrono::duration_cast<std::chrono::nanoseconds>(between)};
  const double seconds = supervise(wanted, crew, control.head().phase, show, early);
  demo::results all = demo::audit(where, wanted, crew);
  all.seconds = seconds;
  all.broken.insert(all.broken.end(), early.broken.begin(), early.broken.end());
  show.end(all);
  return all.broken.empty() ? 0 : 1;
}

// demo --worker <folder> <url> <worker> <life> <ns between orders>: how the demo starts itself.
int run_worker(char** argv) {
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  return demo::work({argv[2], argv[3]}, static_cast<std::uint32_t>(number(4)),
                    static_cast<std::uint32_t>(number(5)),
                    std::chrono::nanoseconds{static_cast<std::int64_t>(number(6))});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 7 && std::string_view{argv[1]} == "--worker") return run_worker(argv);
    const demo::options wanted = read_options(argc, argv);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
      std::signal(signal, [](int) { interrupted = 1; });
    return run(wanted);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "demo: %s\n", error.what());
    return 1;
  }
}
