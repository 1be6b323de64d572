// The other process of the process tests. Reads a verb per line, answers each with one line:
//   acquire <kind> <name> <ms> <automatic|off>  granted <token> <stamp> <valid until> <ns>
//                                               refused <errc> <stamp> <ns> <message>
//   valid, lost (stamp or 0), release (errc or 0), drop
//   admit <fence file> <token>                  1 or 0
//   add <counter> <times>                       sum of the values before
//   guarded <mutex> <file> <times>              adds to a number in a file under the lock
//   take <stock> <times> <order prefix>         units taken
//   permit <semaphore> <initial> <times>        the most that were inside at once
//   count_down <latch> <expected>               remaining; waits until it is open
//   arrive <barrier> <participants> <rounds>    arrival and departure stamps of each round
//   fork                                        pid of a child that does nothing for a minute
//   arm <fault>, exit
#include <afar/afar.hpp>
#include <afar/detail/fault.hpp>

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <functional>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <stop_token>
#include <string>

namespace {

using words = std::istringstream;

std::int64_t stamp() { return afar::boot_clock::now().time_since_epoch().count(); }

template <class T>
T next(words& in) {
  T value{};
  if (!(in >> value)) throw std::runtime_error("an argument is missing");
  return value;
}

class performer {
 public:
  explicit performer(const std::string& url) : client_(url) {}

  std::string perform(const std::string& line) {
    words in{line};
    const auto verb = next<std::string>(in);
    const auto found = verbs_.find(verb);
    if (found == verbs_.end()) throw std::runtime_error("no such verb: " + verb);
    return (this->*found->second)(in);
  }

 private:
  using act = std::string (performer::*)(words&);

  afar::hold take(const std::string& kind, const std::string& name,
                  std::chrono::milliseconds within, afar::acquire_options o) {
    if (kind == "mutex") return afar::mutex{client_, name}.try_acquire_for(within, o);
    if (kind == "fair_mutex") return afar::fair_mutex{client_, name}.try_acquire_for(within, o);
    if (kind == "shared_mutex") return afar::shared_mutex{client_, name}.try_acquire_for(within, o);
    if (kind == "reader")
      return afar::shared_mutex{client_, name}.try_acquire_shared_for(within, o);
    if (kind == "permits")
      return afar::leased_semaphore{client_, name, 1}.try_acquire_for(within, 1, o);
    if (kind == "election") return afar::election{client_, name}.try_campaign_for(within, "me", o);
    throw std::runtime_error("no such kind: " + kind);
  }

  std::string acquire(words& in) {
    const auto kind = next<std::string>(in);
    const auto name = next<std::string>(in);
    const std::chrono::milliseconds within{next<long>(in)};
    afar::acquire_options o;
    if (next<std::string>(in) == "off") o.renew = afar::renewal::off;
    drop_hold();
    const std::int64_t start = stamp();
    std::ostringstream out;
    try {
      hold_ = take(kind, name, within, o);
    } catch (const afar::lock_error& error) {
      out << "refused " << error.code().value() << ' ' << stamp() << ' ' << stamp() - start << ' '
          << error.what();
      return out.str();
    }
    const std::int64_t end = stamp();
    if (hold_.token() == 0) {
      out << "refused " << static_cast<int>(afar::errc::timed_out) << ' ' << end << ' '
          << end - start;
      return out.str();
    }
    on_loss_.emplace(hold_.lost(), [this] { lost_at_ = stamp(); });
    out << "granted " << hold_.token() << ' ' << end << ' '
        << hold_.valid_until().time_since_epoch().count() << ' ' << end - start;
    return out.str();
  }

  std::string valid(words&) { return hold_.valid() ? "1" : "0"; }
  std::string lost(words&) { return std::to_string(lost_at_); }

  std::string release(words&) {
    std::error_code ec;
    hold_.release(ec);
    return std::to_string(ec.value());
  }

  void drop_hold() {
    on_loss_.reset();
    lost_at_ = 0;
    hold_ = {};
  }
  std::string drop(words&) {
    drop_hold();
    return "ok";
  }

  std::string admit(words& in) {
    auto fence = afar::fence::in_file(next<std::string>(in));
    return fence.admit(next<std::uint64_t>(in)) ? "1" : "0";
  }

  std::string add(words& in) {
    afar::counter counter{client_, next<std::string>(in)};
    std::int64_t sum = 0;
    for (long left = next<long>(in); left > 0; --left) sum += counter.fetch_add(1);
    return std::to_string(sum);
  }

  std::string guarded(words& in) {
    afar::mutex mutex{client_, next<std::string>(in)};
    const int file = ::open(next<std::string>(in).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    for (long left = next<long>(in); left > 0; --left) {
      const std::scoped_lock guard{mutex};
      std::int64_t value = 0;
      if (::pread(file, &value, sizeof value, 0) < 0) throw std::runtime_error("pread");
      ++value;
      if (::pwrite(file, &value, sizeof value, 0) < 0) throw std::runtime_error("pwrite");
    }
    ::close(file);
    return "ok";
  }

  std::string take_units(words& in) {
    afar::stock stock{client_, next<std::string>(in)};
    const long times = next<long>(in);
    const auto prefix = next<std::string>(in);
    long taken = 0;
    for (long i = 0; i < times; ++i)
      if (stock.take(1, prefix + std::to_string(i)) == afar::take_result::taken) ++taken;
    return std::to_string(taken);
  }

  std::string permit(words& in) {
    const auto name = next<std::string>(in);
    const long initial = next<long>(in);
    afar::counting_semaphore<> semaphore{client_, name, initial};
    afar::counter inside{client_, name + "/inside"};
    std::int64_t most = 0;
    for (long left = next<long>(in); left > 0; --left) {
      semaphore.acquire();
      most = std::max(most, inside.fetch_add(1) + 1);
      inside.fetch_sub(1);
      semaphore.release();
    }
    return std::to_string(most);
  }

  std::string count_down(words& in) {
    const auto name = next<std::string>(in);
    afar::latch latch{client_, name, next<long>(in)};
    latch.arrive_and_wait();
    return std::to_string(latch.remaining().value_or(-1));
  }

  std::string arrive(words& in) {
    const auto name = next<std::string>(in);
    afar::barrier barrier{client_, name, next<std::uint32_t>(in)};
    std::ostringstream out;
    for (long left = next<long>(in); left > 0; --left) {
      out << stamp() << ' ';
      barrier.arrive_and_wait();
      out << stamp() << ' ';
    }
    return out.str();
  }

  std::string fork(words&) {
    const pid_t child = ::fork();
    if (child != 0) return std::to_string(child);
    ::close(STDIN_FILENO);
    ::close(STDOUT_FILENO);
    ::alarm(60);
    for (;;) ::pause();
  }

  std::string arm(words& in) {
    [[maybe_unused]] const auto fault = next<std::string>(in);
#ifdef AFAR_FAULTS
    afar::detail::arm_fault(fault);
    return "ok";
#else
    return "this build has no fault points";
#endif
  }

  afar::client client_;
  afar::hold hold_;
  std::atomic<std::int64_t> lost_at_ = 0;
  std::optional<std::stop_callback<std::function<void()>>> on_loss_;
  const std::map<std::string, act> verbs_{
      {"acquire", &performer::acquire}, {"valid", &performer::valid},
      {"lost", &performer::lost},       {"release", &performer::release},
      {"drop", &performer::drop},       {"admit", &performer::admit},
      {"add", &performer::add},         {"guarded", &performer::guarded},
      {"take", &performer::take_units}, {"permit", &performer::permit},
      {"arm", &performer::arm},         {"count_down", &performer::count_down},
      {"arrive", &performer::arrive},   {"fork", &performer::fork}};
};

}  // namespace

int main(int argc, char** argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // also when the test was stopped by force
  if (argc != 2) return 2;
  try {
    performer me{argv[1]};
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line) && line != "exit";) {
      std::string answer;
      try {
        answer = me.perform(line);
      } catch (const std::exception& error) {
        answer = std::string{"error "} + error.what();
      }
      std::cout << answer << std::endl;
    }
    return 0;
  } catch (const std::exception& error) {
    std::cout << error.what() << std::endl;
    return 1;
  }
}
