#include "context.hpp"
#include "failure.hpp"
#include "interruption.hpp"
#include "options.hpp"
#include "shown.hpp"
#include "verbs.hpp"

#include <afar/fair_mutex.hpp>
#include <afar/mutex.hpp>
#include <afar/shared_mutex.hpp>
#include <afar/survey.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <semaphore>

namespace afar::cli {
namespace {

struct options {
  context where;
  std::string name;
  bool nonblock = false;
  std::optional<milliseconds> wait;
  std::optional<milliseconds> lease;
  bool shared = false;
  bool fair = false;
  std::string label;
  bool json = false;
};

template <class Lock>
hold take(Lock& lock, const options& o, std::stop_token stop) {
  acquire_options how{.stop = std::move(stop)};
  if (o.nonblock) return lock.try_acquire(std::move(how));
  if (o.wait) return lock.try_acquire_for(*o.wait, std::move(how));
  return lock.acquire(std::move(how));
}

hold take(const client& locks, const options& o, std::stop_token stop) {
  if (o.fair) {
    fair_mutex lock{locks, o.name};
    return take(lock, o, std::move(stop));
  }
  if (!o.shared) {
    mutex lock{locks, o.name};
    return take(lock, o, std::move(stop));
  }
  shared_mutex lock{locks, o.name};
  acquire_options how{.stop = std::move(stop)};
  if (o.nonblock) return lock.try_acquire_shared(std::move(how));
  if (o.wait) return lock.try_acquire_shared_for(*o.wait, std::move(how));
  return lock.acquire_shared(std::move(how));
}

// Until the caller lets go or the hold is lost.
void keep(const hold& mine, const std::stop_token& stop) {
  std::counting_semaphore<> over{0};
  const auto wake = [&over] { over.release(); };
  const std::stop_callback let_go{stop, wake};
  const std::stop_callback lost{mine.lost(), wake};
  over.acquire();
}

int left_by(const interruption& end) {
  return end.signal() == 0 ? number(exit_code::ok) : number(exit_code::signalled) + end.signal();
}

int hold_it(const options& o) {
  const interruption end{interruption::also::end_of_input};
  const client locks = o.where.open({.lease = o.lease, .label = o.label});
  hold mine;
  try {
    mine = take(locks, o, end.token());
  } catch (const lock_error& e) {
    if (e.code() != errc::cancelled) throw;
    if (end.signal() != 0) return left_by(end);
    throw failure{exit_code::not_acquired,
                  "standard input was closed before " + shown(o.name) + " was free"};
  }
  if (!mine) throw failure{exit_code::not_acquired, shown(o.name) + " is held by somebody else"};
  const auto token = mine.token();
  if (o.json)
    print_json({{"name", o.name}, {"token", token}});
  else
    print(std::to_string(token));
  keep(mine, end.token());
  const auto why = mine.why();
  if (mine.lost().stop_requested())
    throw failure{exit_code::lost, fmt::format("{} was lost ({}); token {} is over", shown(o.name),
                                               word(why), token)};
  mine.release();
  return left_by(end);
}

}  // namespace

work add_hold(CLI::App& app) {
  const auto o = std::make_shared<options>();
  app.add_option("NAME", o->name, "What to hold")->required();
  auto* nonblock = app.add_flag("-n,--nonblock", o->nonblock, "Do not wait");
  add_duration(app, "-w,--wait", o->wait, "Wait at most so long")->excludes(nonblock);
  auto* shared = app.add_flag("-s,--shared", o->shared, "As one of several readers");
  app.add_flag("--fair", o->fair, "First come, first served")->excludes(shared);
  add_duration(app, "--lease", o->lease, "How long others wait if this host dies (30s)");
  app.add_option("--label", o->label, "Shown to others")->type_name("TEXT");
  app.add_flag("--json", o->json, "As JSON");
  o->where.add_to(app);
  app.footer(
      "Prints the token when it holds, and holds until its standard input closes.\n"
      "  coproc afar hold backup; read -r token <&\"${COPROC[0]}\"\n"
      "  …; exec {COPROC[1]}>&-; wait \"$COPROC_PID\"     # 80: it was lost");
  return [o] { return hold_it(*o); };
}

}  // namespace afar::cli
