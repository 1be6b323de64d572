// For programs that keep the data itself in ZooKeeper: the check that a hold lasts and the write as one
// step.
#pragma once

#include <afar/client.hpp>
#include <afar/error.hpp>
#include <afar/hold.hpp>
#include <afar/survey.hpp>

#include <string>

namespace afar::zookeeper {

// The node that lasts exactly as long as the hold: the servers let nobody else have the lock before it
// is gone. A transaction of yours that begins with a check of it is done while you hold, or not at all:
//
//   zoo_check_op_init(&ops[0], node.c_str(), -1);     // -1: any version
//   zoo_set_op_init(&ops[1], "/orders/7", …);         // what you write
//   zoo_multi(handle, 2, ops, results);               // ZNONODE: the hold is over, nothing was written
//
// So it does what afar::fence does elsewhere, without a token. `c` is the client of the hold, or another
// one of the same URL; it is asked once, so keep the answer. An upgrade or a downgrade changes the node.
// Throws lock_error: errc::lost if the hold is over, errc::unsupported on another engine, and what
// inspect() throws.
inline std::string node_of(const client& c, const hold& h) {
  if (const auto found = inspect(c, h.name()))
    for (const claimant& holder : found->holders) {
      if (holder.token != h.token()) continue;
      if (holder.key.empty())
        throw lock_error{errc::unsupported, h.name(), "its engine has no nodes"};
      return holder.key;
    }
  throw lock_error{errc::lost, h.name(), "nobody holds it with this token"};
}

}  // namespace afar::zookeeper
