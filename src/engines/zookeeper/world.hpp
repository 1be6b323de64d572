// What the steps of one engine share: the session, the claims that stand at the server, the watches.
//
// Rules
//   1. A standing says what this client may have at the server: it is entered before the first
//      request goes out, and removed when nothing can be left there. What it has is removed for good
//      only when no step of it is under way any more, which could make something new (release.cpp).
//   2. Its fields are guarded by world::m; no call leaves the engine with m held.
//   3. Nothing of an expired session is ever used again: a node counts only with its session.
#pragma once

#include "engines/zookeeper/keeper.hpp"
#include "engines/zookeeper/names.hpp"
#include "engines/zookeeper/node_data.hpp"
#include "engines/zookeeper/session.hpp"
#include "engines/zookeeper/target.hpp"
#include "engines/zookeeper/watches.hpp"

#include <afar/spi/engine.hpp>

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace afar::engines::zookeeper {

struct standing {
  spi::owner_id owner = {};
  spi::kind kind = spi::kind::mutex;
  std::string path = {};    // of the name
  std::string folder = {};  // of the contender's node: the path, or its /locks
  std::string guid = {};    // in the names of all its nodes
  std::string node = {};    // full path; empty: none that is known
  std::int64_t session = 0;
  std::uint64_t token = 0;
  spi::access mode = spi::access::exclusive;
  bool in_doubt = false;  // there may be nodes with its guid that we do not know
  bool granted = false;
  bool watched = false;  // its own node
  bool leaving = false;  // its release has begun
  // Steps that still go on although their time was over and their caller was told so.
  int overdue = 0;
  std::vector<detail::function<void()>> afterwards = {};  // what waits for their end
  spi::loss gone = spi::loss::none;
  spi::time_point lapses = {};
  node_data says = {};
  std::vector<std::string> leases = {};  // full paths of permits
  // A barrier's member
  std::set<std::string> seen = {};                          // of its round
  std::shared_ptr<std::atomic<bool>> ready_bell = nullptr;  // rang: "ready" was created after us
};
using standing_ptr = std::shared_ptr<standing>;

// What came of removing nodes.
struct removed_nodes {
  explicit removed_nodes(const std::vector<answer>&);

  spi::status failed;
  bool any = false;  // there was something
};

class world final : public session_events, public std::enable_shared_from_this<world> {
 public:
  world(target, spi::host&);

  void connected() noexcept override;
  void expired() noexcept override;
  void changed(std::uint64_t watch) noexcept override;

  // The claim's standing, made if there is none. Null: the name is no legal path.
  standing_ptr enter(const spi::claim&);
  standing_ptr find(const spi::owner_id&);
  void forget(const standing_ptr&);
  // At once, or when the steps are over that may still make nodes of it. m not held.
  void when_still(const standing_ptr&, detail::function<void()>);

  // What a grant or renewal just confirmed is good for. Two thirds of the session: a server other than
  // the leader tells it of living sessions only now and then, and one that was cut off from it
  // answers a while longer, so the leader may have heard of us a third of the session ago.
  spi::milliseconds lease_of(spi::milliseconds wanted) const;
  // Granted or renewed: the nodes are removed when nobody renews them, although the session lives.
  void keep(const standing_ptr&, spi::milliseconds lease);
  // Rings when somebody removes a holder's node, or asks for it back.
  std::uint64_t own_watch(const standing_ptr&);
  // Its node says that somebody asks for it back, instead of who holds it: tells the holder, and writes
  // that again, so that others see whose it is and can ask once more.
  void asked(const standing_ptr&, const answer& question);

  // Creates them where they are missing, the first one's parents first.
  void make_folders(std::vector<std::string> paths, detail::function<void(int rc)> then);

  // Removes every node of a standing: those that are known, and with `search` those with its guid. What the
  // answers mean says `removed_nodes`.
  void remove_nodes(const standing_ptr&, bool search, zookeeper::session::landed then);

  const target to;
  spi::host& up;
  keeper timer;
  zookeeper::session session;
  zookeeper::watches watches;

  std::mutex m;
  std::map<spi::owner_id, standing_ptr> standings;
  // Whose nodes have to go: tried again with every connection until that is done, although the claim
  // may be forgotten or have begun anew.
  std::set<standing_ptr> strays;
  std::deque<std::pair<spi::owner_id, std::uint64_t>> evicted;  // by us, lately
  // By the folder of a barrier: a watch that rings when its "ready" is created.
  std::map<std::string, std::shared_ptr<std::atomic<bool>>> ready_bells;

 private:
  bool knows(const standing_ptr&) const;  // m held
  void lapse(const standing_ptr&);
  void look_at_own(const standing_ptr&);
  void remove_strays();
  void remove_stray(const standing_ptr&, bool search);
  zookeeper::session::landed and_folder(const standing_ptr&, zookeeper::session::landed then);
  void search_nodes(const standing_ptr&, std::vector<request> known,
                    zookeeper::session::landed then);
};
using world_ptr = std::shared_ptr<world>;

}  // namespace afar::engines::zookeeper
