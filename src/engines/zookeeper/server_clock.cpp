#include "engines/zookeeper/server_clock.hpp"

#include <utility>

namespace afar::engines::zookeeper {

using namespace std::chrono_literals;

void server_clock::ask(detail::function<void(int)> then) {
  bool known = false;
  {
    const std::lock_guard lock{m_};
    known = ahead_ && boot_clock::now() - asked_ < 1min;
  }
  if (known) return then(ZOK);
  read(false, std::move(then));
}

void server_clock::read(bool create, detail::function<void(int)> then) {
  const auto sent = boot_clock::now();
  request r = create ? ask::create(node_, {}, node_mode::persistent) : ask::set(node_, {});
  session_.fly(r, [this, create, sent, then = std::move(then)](std::vector<answer>& got) mutable {
    const answer& a = got.front();
    if (a.rc == ZNONODE && !create) return read(true, std::move(then));
    if (a.rc == ZNODEEXISTS) return read(false, std::move(then));
    if (a.ok()) {
      const auto middle = sent + (boot_clock::now() - sent) / 2;
      const std::lock_guard lock{m_};
      ahead_ = std::chrono::milliseconds{a.stat.mtime} - middle.time_since_epoch();
      asked_ = sent;
    }
    then(a.rc);
  });
}

spi::milliseconds server_clock::now() const {
  const std::lock_guard lock{m_};
  return std::chrono::floor<spi::milliseconds>(boot_clock::now().time_since_epoch() +
                                               ahead_.value_or(0ns));
}

}  // namespace afar::engines::zookeeper
