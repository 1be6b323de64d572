#include "engines/zookeeper/ledger.hpp"

#include "engines/records/wrong_use.hpp"
#include "engines/zookeeper/failure.hpp"
#include "engines/zookeeper/ledger_pages.hpp"
#include "engines/zookeeper/steps.hpp"
#include "engines/zookeeper/stored.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace afar::engines::zookeeper {
namespace {

using spi::ledger_action;
using answers = std::vector<answer>;

class ledger_step : public std::enable_shared_from_this<ledger_step> {
 public:
  ledger_step(world_ptr w, std::shared_ptr<server_clock> clock, std::string path,
              const spi::ledger_change& ch, std::shared_ptr<pledge<spi::ledger_reply>> p)
      : w_(std::move(w)),
        clock_(std::move(clock)),
        path_(std::move(path)),
        p_(std::move(p)),
        change_(ch),
        order_(ch.order),
        buyer_(ch.buyer) {
    change_.order = order_;  // the caller's may be gone before we are
    change_.buyer = buyer_;
    change_.what.name = {};
  }

  void begin() {
    clock_->ask([self = shared_from_this()](int rc) {
      if (rc == ZOK) return self->look();
      if (rc != ZNONODE) return self->p_->give(failure_of_read(rc));
      self->w_->make_folders({self->w_->to.base}, [self](int made) {
        if (made == ZOK || made == ZNONODE) return self->begin();
        self->p_->give(failure_of_read(made));
      });
    });
  }

 private:
  // Everything that most steps need, in one flight.
  void look() {
    if (p_->given()) return;
    pages_.emplace(path_);
    std::vector<std::string> nodes{path_};
    if (!order_.empty()) nodes.push_back(pages_->order_node(order_));
    nodes.push_back(pages_->buyer_node(buyer_));
    std::vector<request> wanted{ask::sync(w_->to.base), ask::children(pages_->due_folder())};
    for (const std::string& n : nodes) wanted.push_back(ask::get(n));
    w_->session.fly(wanted, [self = shared_from_this(), nodes](answers& got) {
      for (const answer& a : got)
        if (!a.ok() && a.rc != ZNONODE) return self->p_->give(failure_of_read(a.rc));
      self->pages_->know_due(got[1]);
      for (std::size_t i = 0; i < nodes.size(); ++i) self->pages_->know(nodes[i], got[i + 2]);
      self->check(got[2]);
    });
  }

  void check(const answer& head) {
    const std::string_view text = head.text;
    if (text.starts_with(stock_magic)) return run();
    if (text == erased_stock) return finish_erasing();
    if (const auto other = stored_kind(text))
      return p_->give(records::wrong_use({*other}, {spi::kind::stock}));
    if (!text.empty()) return p_->give({errc::wrong_use, "has data that is not afar's"});
    if (!head.ok()) return run();
    // A folder that claims left, or use.
    if (head.stat.numChildren == 0) return remove_folder(head.stat.version);
    w_->session.fly(ask::children(path_), [self = shared_from_this()](answers& got) {
      if (got[0].rc == ZNONODE) return self->look();
      if (!got[0].ok()) return self->p_->give(failure_of_read(got[0].rc));
      check_use(self->w_, self->path_, spi::kind::stock, got[0].names, got[0].stat,
                [self](spi::status wrong) {
                  if (wrong) return self->p_->give(std::move(wrong));
                  self->look();
                });
    });
  }

  void remove_folder(int version) {
    w_->session.fly(ask::remove(path_, version), [self = shared_from_this()](answers& got) {
      const int rc = got[0].rc;
      const bool again = rc == ZOK || rc == ZNONODE || rc == ZBADVERSION || rc == ZNOTEMPTY;
      if (!again) return self->p_->give(failure_of_write(rc));
      self->look();
    });
  }

  void finish_erasing() {
    remove_all(w_, path_, [self = shared_from_this()](spi::status failed, std::uint64_t) {
      if (failed) return self->p_->give(std::move(failed));
      self->look();
    });
  }

  void run() {
    const spi::milliseconds now = clock_->now();
    pages_->start_run();
    spi::ledger_reply reply;
    spi::status s;
    try {
      s = records::record(*pages_, change_, spi::time_point{now}, spi::calendar_time{now}, reply);
    } catch (const ledger_pages::unread& u) {
      return fetch(u.path);
    }
    if (pages_->erases()) return erase(reply);
    std::vector<request> parts = pages_->changes();
    const bool writes =
        std::ranges::any_of(parts, [](const request& r) { return r.what != request::verb::check; });
    if (!writes) return p_->give(std::move(s), reply);
    w_->session.fly(ask::multi(std::move(parts)),
                    [self = shared_from_this(), s, reply](answers& got) {
                      self->written(got.front().rc, s, reply);
                    });
  }

  void fetch(const std::string& path) {
    w_->session.fly(ask::get(path), [self = shared_from_this(), path](answers& got) {
      if (!got[0].ok() && got[0].rc != ZNONODE) return self->p_->give(failure_of_read(got[0].rc));
      self->pages_->know(path, got[0]);
      self->run();
    });
  }

  void written(int rc, const spi::status& s, const spi::ledger_reply& reply) {
    if (rc == ZOK) return p_->give(s, reply);
    if (rc == ZNONODE) return make_folders();
    if (rc == ZBADVERSION || rc == ZNODEEXISTS) return look();
    p_->give(failure_of_write(rc));
  }

  // A stock's folders are persistent: a container would be cleared away when its last order is.
  void make_folders() {
    w_->make_folders({w_->to.base}, [self = shared_from_this()](int rc) {
      if (rc != ZOK) return self->p_->give(failure_of_read(rc));
      const std::string& at = self->path_;
      std::vector<request> wanted;
      for (const char* folder : {"/orders", "/buyers", "/due"})
        wanted.push_back(ask::create(at + folder, {}, node_mode::persistent));
      self->w_->session.fly(wanted, [self](answers& got) {
        for (const answer& a : got)
          if (!a.ok() && a.rc != ZNODEEXISTS && a.rc != ZNONODE)
            return self->p_->give(failure_of_write(a.rc));
        self->look();
      });
    });
  }

  void erase(const spi::ledger_reply& reply) {
    w_->session.fly(ask::set(path_, std::string{erased_stock}),
                    [self = shared_from_this(), reply](answers& got) {
                      const int rc = got[0].rc;
                      if (rc != ZOK && rc != ZNONODE) return self->p_->give(failure_of_write(rc));
                      remove_all(self->w_, self->path_, [self, reply](spi::status, std::uint64_t) {
                        // What is left goes with the next step, or by collect().
                        self->p_->give({}, reply);
                      });
                    });
  }

  const world_ptr w_;
  const std::shared_ptr<server_clock> clock_;
  const std::string path_;
  const std::shared_ptr<pledge<spi::ledger_reply>> p_;
  spi::ledger_change change_;
  const std::string order_;
  const std::string buyer_;
  std::optional<ledger_pages> pages_;
};

constexpr std::size_t nodes_per_flight = 1'000;

// Depth first: a node goes when its children are gone.
class removal : public std::enable_shared_from_this<removal> {
 public:
  removal(world_ptr w, detail::function<void(spi::status, std::uint64_t)> then)
      : w_(std::move(w)), then_(std::move(then)) {}

  void begin(const std::string& path) {
    left_.push_back(path);
    next();
  }

 private:
  void next() {
    if (left_.empty()) return then_({}, count_);
    w_->session.fly(ask::children(left_.back()), [self = shared_from_this()](answers& got) {
      if (got[0].rc == ZNONODE) {
        self->left_.pop_back();
        return self->next();
      }
      if (!got[0].ok()) return self->then_(failure_of_read(got[0].rc), self->count_);
      self->remove(got[0].names);
    });
  }

  void remove(const std::vector<std::string>& names) {
    const std::string at = left_.back();
    std::vector<request> wanted;
    std::vector<std::string> paths;
    for (const std::string& n : names) {
      if (paths.size() == nodes_per_flight) break;
      paths.push_back(std::string{at}.append("/").append(n));
      wanted.push_back(ask::remove(paths.back()));
    }
    if (names.empty()) {
      left_.pop_back();
      paths.push_back(at);
      wanted.push_back(ask::remove(at));
    }
    w_->session.fly(wanted, [self = shared_from_this(), paths](answers& got) {
      for (std::size_t i = 0; i < got.size(); ++i) {
        if (got[i].ok()) ++self->count_;
        if (got[i].rc == ZNOTEMPTY) self->left_.push_back(paths[i]);
        if (!got[i].ok() && got[i].rc != ZNOTEMPTY && got[i].rc != ZNONODE)
          return self->then_(failure_of_write(got[i].rc), self->count_);
      }
      self->next();
    });
  }

  const world_ptr w_;
  detail::function<void(spi::status, std::uint64_t)> then_;
  std::vector<std::string> left_;
  std::uint64_t count_ = 0;
};

}  // namespace

void record(const world_ptr& w, const std::shared_ptr<server_clock>& clock,
            const spi::ledger_change& ch, std::shared_ptr<pledge<spi::ledger_reply>> p) {
  auto path = path_of(w->to, ch.what.name);
  if (!path) return p->give({errc::bad_argument, "no legal path (?paths=curator)"});
  std::make_shared<ledger_step>(w, clock, std::move(*path), ch, std::move(p))->begin();
}

void remove_all(const world_ptr& w, const std::string& path,
                detail::function<void(spi::status, std::uint64_t)> then) {
  std::make_shared<removal>(w, std::move(then))->begin(path);
}

}  // namespace afar::engines::zookeeper
