// A hold of a shared_mutex changes its mode.
//
// Downgrade: one transaction puts a read node with the writer's own number in its place (Curator 5.5),
// so that no queued writer gets in between (CURATOR-621). The token stays.
// Upgrade: a write node at the end of the line; if nobody but this reader is before it, the reader goes.
// Anybody else in line refuses it, also one that only waits: its token is older than the new one.
#include "engines/zookeeper/failure.hpp"
#include "engines/zookeeper/steps.hpp"

#include <algorithm>
#include <utility>

namespace afar::engines::zookeeper {
namespace {

using spi::access;

class conversion : public std::enable_shared_from_this<conversion> {
 public:
  conversion(world_ptr w, standing_ptr s, const spi::claim& a, acquire_pledge p)
      : w_(std::move(w)), s_(std::move(s)), p_(std::move(p)), mode_(a.mode), lease_(a.lease) {}

  void begin() {
    bool same = false;
    {
      const std::lock_guard lock{w_->m};
      node_ = s_->node;
      same = s_->mode == mode_;
      if (!same) s_->in_doubt = true;
    }
    if (same) return confirm();
    if (mode_ == access::shared) return downgrade();
    find_write_node();
  }

 private:
  using answers = std::vector<answer>;

  // Asked again: is it still there?
  void confirm() {
    w_->session.fly({ask::sync(node_), ask::exists(node_)},
                    [self = shared_from_this()](answers& got) {
                      if (got[1].rc == ZNONODE) return self->is_gone();
                      for (const answer& a : got)
                        if (!a.ok()) return self->p_->give(failure_of_read(a.rc));
                      grant(self->w_, self->s_, self->lease_, self->p_);
                    });
  }

  void is_gone() {
    spi::acquire_reply gone;
    {
      const std::lock_guard lock{w_->m};
      if (s_->gone == spi::loss::none) s_->gone = spi::loss::evicted;
      gone.why = s_->gone;
    }
    p_->give({}, std::move(gone));
  }

  void becomes(std::string node, std::uint64_t token) {
    {
      const std::lock_guard lock{w_->m};
      s_->node = std::move(node);
      s_->token = token;
      s_->mode = mode_;
      s_->in_doubt = s_->watched = false;
    }
    grant(w_, s_, lease_, p_);
  }

  void stays() {
    {
      const std::lock_guard lock{w_->m};
      s_->in_doubt = false;
    }
    p_->give({}, {});
  }

  void downgrade() {
    node_data says;
    std::string read;
    {
      const std::lock_guard lock{w_->m};
      says = s_->says;
      says.token = s_->token;
      read = s_->folder + '/' + downgraded_node(s_->guid, node_);
    }
    w_->session.fly(
        {ask::multi({ask::create(read, says.text(), node_mode::ephemeral), ask::remove(node_)}),
         ask::exists(read)},
        [self = shared_from_this(), read, token = says.token](answers& got) {
          // Done now, or by a request whose answer was lost.
          if (got[1].ok()) return self->becomes(read, token);
          if (got[0].rc == ZNONODE) return self->is_gone();
          self->p_->give(failure_of_write(got[0].rc));
        });
  }

  void find_write_node() {
    w_->session.fly({ask::sync(s_->folder), ask::children(s_->folder)},
                    [self = shared_from_this()](answers& got) {
                      const answer& list = got[1];
                      if (list.rc == ZNONODE) return self->is_gone();
                      if (!list.ok()) return self->p_->give(failure_of_read(list.rc));
                      self->listed(list.names);
                    });
  }

  void listed(const std::vector<std::string>& names) {
    const std::string prefix = node_prefix(s_->guid, marker::write);
    const auto mine =
        std::ranges::find_if(names, [&](const std::string& n) { return n.starts_with(prefix); });
    if (mine == names.end()) {
      if (others(names)) return stays();
      return make_write_node(prefix);
    }
    if (others(names)) return take_back(s_->folder + '/' + *mine);
    const std::string path = s_->folder + '/' + *mine;
    // The reader may be gone already, by a request whose answer was lost.
    w_->session.fly({ask::exists(path), ask::remove(node_)},
                    [self = shared_from_this(), path](answers& got) {
                      if (!got[0].ok()) return self->p_->give(failure_of_read(got[0].rc));
                      if (!got[1].ok() && got[1].rc != ZNONODE)
                        return self->p_->give(failure_of_write(got[1].rc));
                      self->becomes(path, got[0].created());
                    });
  }

  bool others(const std::vector<std::string>& names) const {
    const std::string mine = protected_prefix(s_->guid);
    return std::ranges::any_of(names, [&](const std::string& n) {
      return read_contender(n).is != marker::foreign && !n.starts_with(mine);
    });
  }

  void make_write_node(const std::string& prefix) {
    std::string says;
    {
      const std::lock_guard lock{w_->m};
      says = s_->says.text();
    }
    w_->session.fly(ask::create(s_->folder + '/' + prefix, says, node_mode::ephemeral_sequential),
                    [self = shared_from_this()](answers& got) {
                      if (!got[0].ok()) return self->p_->give(failure_of_write(got[0].rc));
                      self->find_write_node();  // with the node in line nobody can come between
                    });
  }

  void take_back(const std::string& write) {
    w_->session.fly(ask::remove(write), [self = shared_from_this()](answers& got) {
      if (!got[0].ok() && got[0].rc != ZNONODE) return self->p_->give(failure_of_write(got[0].rc));
      self->stays();
    });
  }

  const world_ptr w_;
  const standing_ptr s_;
  const acquire_pledge p_;
  const access mode_;
  const spi::milliseconds lease_;
  std::string node_;
};

}  // namespace

void convert(const world_ptr& w, const standing_ptr& s, const spi::claim& a, acquire_pledge p) {
  std::make_shared<conversion>(w, s, a, std::move(p))->begin();
}

}  // namespace afar::engines::zookeeper
