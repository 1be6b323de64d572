#include "engines/zookeeper/failure.hpp"
#include "engines/zookeeper/stored.hpp"
#include "engines/zookeeper/survey.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace afar::engines::zookeeper {
namespace {

using spi::access;
using spi::kind;
using answers = std::vector<answer>;
using known = detail::function<void(spi::status, std::optional<seen_name>)>;

// A claimant's node, with its data.
struct seen_node {
  contender c;
  std::string path;
  spi::claimant who = {};
  node_data says = {};
};

// Who a peer is that is not afar's: its GUID stands in its node's name.
spi::owner_id owner_of_peer(std::string_view node) {
  std::string digits;
  for (const char c : node.substr(node.starts_with("_c_") ? 3 : 0)) {
    if (digits.size() == 32) break;
    if (c != '-') digits += c;
  }
  spi::owner_id out;
  const auto half = [&](std::size_t at, std::uint64_t& to) {
    const std::string_view part = std::string_view{digits}.substr(std::min(at, digits.size()), 16);
    std::from_chars(part.data(), part.data() + part.size(), to, 16);
  };
  half(0, out.client_high);
  half(16, out.client_low);
  return out;
}

seen_node seen(const std::string& folder, const std::string& name, const answer& a) {
  seen_node n{.c = read_contender(name), .path = folder + '/' + name};
  if (auto says = node_data::read(a.text)) {
    n.says = std::move(*says);
    n.who.owner = n.says.owner;
    n.who.note = n.says.note;
    n.who.lease = n.who.lease_left = n.says.lease;
  } else {
    n.who.owner = owner_of_peer(name);
    if (a.text != revoke) n.who.note = "host=" + a.text;  // Curator writes its address
  }
  n.who.key = n.path;
  n.who.mode = n.c.is == marker::read ? access::shared : access::exclusive;
  n.who.permits = n.says.permits;
  n.who.token = n.says.token != 0 ? n.says.token : a.created();
  return n;
}

class looking : public std::enable_shared_from_this<looking> {
 public:
  looking(world_ptr w, std::string path, std::string name, known then)
      : w_(std::move(w)), path_(std::move(path)), then_(std::move(then)) {
    found_.entry.name = std::move(name);
    found_.entry.key = path_;
  }

  void begin() {
    w_->session.fly({ask::get(path_), ask::children(path_)},
                    [self = shared_from_this()](answers& got) {
                      for (const answer& a : got) {
                        if (a.rc == ZNONODE) return self->then_({}, std::nullopt);
                        if (!a.ok()) return self->then_(failure_of_read(a.rc), std::nullopt);
                      }
                      self->read(got[0].text, got[1].names);
                    });
  }

 private:
  void read(const std::string& data, const std::vector<std::string>& names) {
    spi::entry& e = found_.entry;
    if (const auto is = stored_kind(data)) {
      e.kind = *is;
      e.format = "native";
      if (const auto cell = read_cell(data)) {
        e.value = cell->value;
        if (e.kind == kind::counter) e.format = "curator";
      } else {
        const auto amount = std::string_view{data}.substr(stock_magic.size());
        std::from_chars(amount.data(), amount.data() + amount.size(), e.value);
      }
      return then_({}, std::move(found_));
    }
    if (std::ranges::find(names, "leases") != names.end()) return read_permits();
    read_nodes(path_, names);
  }

  void read_permits() {
    const std::string locks = path_ + std::string{locks_folder};
    const std::string leases = path_ + std::string{leases_folder};
    w_->session.fly({ask::children(leases), ask::children(locks), ask::get(leases)},
                    [self = shared_from_this(), locks, leases](answers& got) {
                      self->found_.entry.kind = kind::permits;
                      self->found_.entry.limit = stored_limit(got[2].text).value_or(1);
                      self->permits_ = true;
                      self->locks_ = got[1].names;
                      self->read_nodes(leases, got[0].names);
                    });
  }

  void read_nodes(const std::string& folder, const std::vector<std::string>& names) {
    std::vector<std::pair<std::string, std::string>> nodes;
    for (const std::string& n : names)
      if (read_contender(n).is != marker::foreign) nodes.emplace_back(folder, n);
    for (const std::string& n : locks_) nodes.emplace_back(path_ + std::string{locks_folder}, n);
    if (nodes.empty()) return then_({}, std::nullopt);
    std::vector<request> wanted;
    wanted.reserve(nodes.size());
    for (const auto& [at, n] : nodes)
      wanted.push_back(ask::get(std::string{at}.append("/").append(n)));
    w_->session.fly(wanted, [self = shared_from_this(), nodes](answers& got) {
      std::vector<seen_node> all;
      for (std::size_t i = 0; i < got.size(); ++i) {
        if (got[i].rc == ZNONODE) continue;
        if (!got[i].ok()) return self->then_(failure_of_read(got[i].rc), std::nullopt);
        all.push_back(seen(nodes[i].first, nodes[i].second, got[i]));
      }
      std::ranges::sort(all,
                        [](const seen_node& a, const seen_node& b) { return a.c.before(b.c); });
      self->describe(all);
    });
  }

  void describe(const std::vector<seen_node>& all) {
    spi::entry& e = found_.entry;
    if (all.empty()) return then_({}, std::nullopt);
    if (!permits_) e.kind = kind_of(all.front().c.is);
    e.format = "curator";
    e.token_source = "the transaction number of the claim's node (czxid)";
    bool writer = false;  // before the one that is looked at
    bool first = true;
    for (const seen_node& n : all) {
      e.last_token = std::max(e.last_token, n.who.token);
      if (!permits_ && n.says.kind == kind::fair_mutex) e.kind = kind::fair_mutex;
      if (e.kind == kind::barrier) e.limit = n.says.limit;
      add(n, holds(n, first, writer));
      writer = writer || n.c.is == marker::write;
      first = false;
    }
    if (e.holders.empty() && e.waiters.empty()) return then_({}, std::nullopt);
    then_({}, std::move(found_));
  }

  bool holds(const seen_node& n, bool first, bool writer) const {
    switch (n.c.is) {
      case marker::lease:
        return true;
      case marker::read:
        return !writer;
      case marker::member:
        return n.says.is == node_data::state::done;
      default:
        return first && !permits_;
    }
  }

  void add(const seen_node& n, bool holder) {
    auto& list = holder ? found_.entry.holders : found_.entry.waiters;
    if (holder) found_.nodes.emplace_back(n.who, n.path);
    const auto same = [&](const spi::claimant& c) { return c.owner == n.who.owner; };
    // The permits of one claim are one hold.
    if (n.c.is == marker::lease && std::ranges::any_of(list, same) && n.says.token != 0) return;
    list.push_back(n.who);
    if (!holder) list.back().token = 0;
  }

  const world_ptr w_;
  const std::string path_;
  known then_;
  seen_name found_;
  std::vector<std::string> locks_;
  bool permits_ = false;
};

}  // namespace

void look_at(const world_ptr& w, const std::string& path, std::string name, known then) {
  std::make_shared<looking>(w, path, std::move(name), std::move(then))->begin();
}

}  // namespace afar::engines::zookeeper
