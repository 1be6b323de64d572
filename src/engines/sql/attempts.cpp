#include "engines/sql/attempts.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

namespace afar::engines::sql {

using namespace std::chrono_literals;

void add_watchers(const desk& d, std::string_view name, const row&, news& n) {
  n.any = true;
  n.called.clear();
  const answer heard = d.on.ask(statement::listeners, name);
  n.calls.reserve(n.calls.size() + heard.rows.size());
  for (const auto& r : heard.rows) n.calls.push_back({static_cast<std::uint64_t>(r[0].number)});
  each_once(n.calls);
}

void each_once(std::vector<bell_call>& calls) {
  std::ranges::sort(calls);
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
}

void pause_after(int attempts) {
  if (attempts < 2) return;  // most often one other client was in the way, and is gone
  static thread_local std::minstd_rand random{std::random_device{}()};
  const int most = 200 << std::min(attempts, 6);
  std::this_thread::sleep_for(
      std::chrono::microseconds{std::uniform_int_distribution<int>{0, most}(random)});
}

void check_time(const desk& d) {
  if (boot_clock::now() >= d.by)
    throw failure{{errc::timed_out, "others changed the same name again and again"}};
}

spi::status check_name(std::string_view name) {
  if (!name.empty() && name.size() <= 1'024) return {};
  return {errc::bad_argument, "a name has 1 to 1024 bytes"};
}

}  // namespace afar::engines::sql
