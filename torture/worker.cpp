#include "torture/worker.hpp"

#include "torture/hand.hpp"
#include "torture/stall_watch.hpp"
#include "torture/workplace.hpp"

#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

namespace afar::torture {
namespace {

using namespace std::chrono_literals;

std::unique_ptr<tool> make_tool(workplace& at, std::uint16_t object) {
  if (auto made = make_lock_tool(at, object)) return made;
  if (auto made = make_value_tool(at, object)) return made;
  if (auto made = make_round_tool(at, object)) return made;
  throw std::runtime_error{"a plan with an object that this worker does not know"};
}

void work_on(workplace& here, std::uint16_t thread) {
  hand me{here, thread};
  std::vector<std::unique_ptr<tool>> tools;
  tools.reserve(here.todo.objects.size());
  for (std::uint16_t i = 0; i < static_cast<std::uint16_t>(here.todo.objects.size()); ++i)
    tools.push_back(make_tool(here, i));
  while (here.orders.phase == phase::work) tools[me.any(tools.size())]->take_a_turn(me);
}

}  // namespace

int work(const std::string& folder, const std::string& url, std::uint32_t worker,
         std::uint32_t life) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // no worker outlives its director
  std::signal(SIGINT, SIG_IGN);        // ^C is the director's business
  const plan todo = plan::load(folder);
  const mapped<control, char> orders{todo.control(), 0};
  // A server that is away or full at this moment is no reason to give up.
  for (;;) try {
      if (orders.head().phase == phase::stop) return 0;
      workplace here{todo, orders.head(), url, worker, life};
      stall_watch stalls{here.record};
      std::jthread watcher{[&](const std::stop_token& stop) { stalls.watch(stop); }};
      std::vector<std::jthread> threads;
      threads.reserve(todo.threads);
      for (std::uint16_t t = 0; t < static_cast<std::uint16_t>(todo.threads); ++t)
        threads.emplace_back([&, t] { work_on(here, t); });
      threads.clear();
      return 0;
    } catch (const lock_error& error) {
      if (error.code() == errc::unavailable || error.code() == errc::timed_out ||
          error.code() == errc::unknown_outcome || error.code() == errc::no_room)
        continue;
      std::fprintf(stderr, "worker %u: %s\n", worker, error.what());
      return 1;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "worker %u: %s\n", worker, error.what());
      return 1;
    }
}

}  // namespace afar::torture
