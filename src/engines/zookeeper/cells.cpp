#include "engines/zookeeper/cells.hpp"

#include "engines/records/cells.hpp"
#include "engines/records/wrong_use.hpp"
#include "engines/zookeeper/failure.hpp"
#include "engines/zookeeper/steps.hpp"
#include "engines/zookeeper/stored.hpp"

#include <utility>

namespace afar::engines::zookeeper {

// Reads the cell, computes by the rules that all engines share, and writes if nobody was quicker.
class cells::step : public std::enable_shared_from_this<cells::step> {
 public:
  step(std::shared_ptr<cells> all, std::string path, const spi::cell_change& ch,
       std::shared_ptr<pledge<spi::cell_reply>> p)
      : all_(std::move(all)), w_(all_->w_), path_(std::move(path)), p_(std::move(p)), change_(ch) {
    change_.what.name = {};  // the caller's, who may be gone before we are
  }

  void begin() {
    if (p_->given()) return end();
    if (!changes()) return look();
    const auto known = all_->tickets_.known(change_.id);
    if (!known) return look();
    if (known->reply) return give({}, *known->reply);
    all_->tickets_.remember(change_.id, {});  // the ticket is ours now
    ticket_ = known->written_on;
    if (ticket_) return ask_ticket();
    look();
  }

 private:
  using answers = std::vector<answer>;

  bool changes() const {
    return change_.action != spi::cell_action::load && change_.id.owner != spi::owner_id{};
  }

  void give(spi::status s, spi::cell_reply r = {}) {
    if (ticket_) all_->tickets_.give_back(std::move(*std::exchange(ticket_, std::nullopt)));
    r.watch_key = "c" + path_;
    p_->give(std::move(s), std::move(r));
    end();
  }

  void end() {
    if (!std::exchange(ended_, true)) all_->ended(path_);
  }

  // A change whose answer was lost: the ticket says whether it happened.
  void ask_ticket() {
    w_->session.fly({ask::sync(w_->to.base), ask::get(ticket_->path)},
                    [self = shared_from_this()](answers& got) {
                      const answer& a = got[1];
                      if (!got[0].ok()) return self->unknown(got[0].rc);
                      if (!a.ok() && a.rc != ZNONODE) return self->unknown(a.rc);
                      self->ticket_->exists = a.ok();
                      if (auto r = tickets::read(a.text, self->change_.id))
                        return self->applied(std::move(*r));
                      self->look();
                    });
  }

  // Keeps the ticket for the change, which will be asked for again.
  void unknown(int rc) {
    if (changes())
      all_->tickets_.remember(change_.id, {.written_on = std::exchange(ticket_, std::nullopt)});
    give(failure_of_write(rc));
  }

  void applied(spi::cell_reply r) {
    if (changes()) all_->tickets_.remember(change_.id, {.reply = r});
    give({}, std::move(r));
  }

  void look() {
    if (p_->given()) return give(errc::timed_out);
    w_->session.fly({ask::sync(w_->to.base), ask::get(path_)},
                    [self = shared_from_this()](answers& got) {
                      if (!got[0].ok()) return self->give(failure_of_read(got[0].rc));
                      if (!got[1].ok() && got[1].rc != ZNONODE)
                        return self->give(failure_of_read(got[1].rc));
                      self->found(got[1]);
                    });
  }

  void found(const answer& a) {
    if (a.ok() && a.stat.numChildren > 0 && !read_cell(a.text)) return in_the_way(a);
    records::cell c;
    if (const auto is = a.ok() ? read_cell(a.text) : std::nullopt) {
      c.kind = is->kind;
      c.exists = true;
      c.value = is->value;
    } else if (const auto other = stored_kind(a.text)) {
      return give(records::wrong_use({*other}, {change_.what.kind}));
    } else if (a.ok() && !a.text.empty() && a.text != erased_stock) {
      return give({errc::wrong_use, "has data that is not afar's"});
    }
    spi::cell_reply reply;
    records::cell_effects e;
    spi::cell_change once = change_;
    once.id = {};  // repetition is our business
    if (auto failed = records::change(c, once, boot_clock::now(), reply, e))
      return give(std::move(failed));
    if (change_.action == spi::cell_action::load || !reply.applied) return give({}, reply);
    write(a, c, reply);
  }

  void write(const answer& was, const records::cell& c, const spi::cell_reply& reply) {
    std::vector<request> parts;
    const bool there = was.ok();
    const bool is_cell = there && read_cell(was.text);
    if (c.exists) {
      const auto data = cell_text(c.kind, c.value,
                                  is_cell && c.kind == spi::kind::counter
                                      ? static_cast<std::uint32_t>(was.text.size())
                                      : w_->to.counter_width);
      if (!data) return give({errc::overflow, "a counter of 4 bytes"});
      if (is_cell) {
        parts.push_back(ask::set(path_, *data, was.stat.version));
      } else {
        // A folder that a claim left would be cleared away by the server, and the value with it.
        if (there) parts.push_back(ask::remove(path_, was.stat.version));
        parts.push_back(ask::create(path_, *data, node_mode::persistent));
      }
    } else {
      parts.push_back(ask::remove(path_, was.stat.version));
    }
    if (changes()) {
      if (!ticket_) ticket_ = all_->tickets_.borrow();
      const std::string says = tickets::text(change_.id, reply);
      parts.push_back(ticket_->exists ? ask::set(ticket_->path, says)
                                      : ask::create(ticket_->path, says, node_mode::persistent));
    }
    w_->session.fly(ask::multi(std::move(parts)), [self = shared_from_this(), reply](answers& got) {
      self->written(got.front(), reply);
    });
  }

  void written(const answer& a, const spi::cell_reply& reply) {
    if (a.ok()) {
      if (ticket_) ticket_->exists = true;
      return applied(reply);
    }
    const spi::status failed = failure_of_write(a.rc);
    if (failed.code == errc::unknown_outcome) return unknown(a.rc);
    if (a.rc == ZNONODE) {
      if (ticket_) ticket_->exists = false;  // perhaps it was cleared away
      return make_folders();
    }
    const bool raced = a.rc == ZBADVERSION || a.rc == ZNODEEXISTS || a.rc == ZNOTEMPTY;
    if (raced) {
      // A ticket of which we do not know that it exists.
      if (a.rc == ZNODEEXISTS && ticket_ && !a.parts.empty() && a.parts.back() == ZNODEEXISTS)
        ticket_->exists = true;
      return look();
    }
    give(failed);
  }

  void make_folders() {
    const std::string parent = path_.substr(0, path_.rfind('/'));
    w_->make_folders({parent, tickets_folder(w_->to)}, [self = shared_from_this()](int rc) {
      if (rc == ZOK || rc == ZNONODE) return self->look();
      self->give(failure_of_read(rc));
    });
  }

  // Claims, or what they left.
  void in_the_way(const answer&) {
    w_->session.fly(ask::children(path_), [self = shared_from_this()](answers& got) {
      const answer& list = got.front();
      if (list.rc == ZNONODE) return self->look();
      if (!list.ok()) return self->give(failure_of_read(list.rc));
      check_use(self->w_, self->path_, self->change_.what.kind, list.names, list.stat,
                [self](spi::status wrong) {
                  if (wrong) return self->give(std::move(wrong));
                  self->look();
                });
    });
  }

  const std::shared_ptr<cells> all_;
  const world_ptr w_;
  const std::string path_;
  const std::shared_ptr<pledge<spi::cell_reply>> p_;
  spi::cell_change change_;
  std::optional<ticket> ticket_;
  bool ended_ = false;
};

void cells::change(const spi::cell_change& ch, spi::time_point by,
                   spi::done<spi::cell_reply> done) {
  auto path = path_of(w_->to, ch.what.name);
  if (!path) return done({errc::bad_argument, "no legal path (?paths=curator)"}, {});
  auto s = std::make_shared<step>(shared_from_this(), *path, ch,
                                  pledged(w_->timer, by, std::move(done)));
  {
    const std::lock_guard lock{m_};
    auto& lane = lanes_[*path];
    lane.push_back(s);
    if (lane.size() > 1) return;
  }
  s->begin();
}

void cells::ended(const std::string& path) {
  step_ptr next;
  {
    const std::lock_guard lock{m_};
    const auto at = lanes_.find(path);
    at->second.pop_front();
    if (at->second.empty())
      lanes_.erase(at);
    else
      next = at->second.front();
  }
  if (next) next->begin();
}

void cells::close() {
  std::vector<request> all;
  for (std::string& path : tickets_.all()) all.push_back(ask::remove(std::move(path)));
  w_->session.fly(all, [](std::vector<answer>&) {});
}

}  // namespace afar::engines::zookeeper
