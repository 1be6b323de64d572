// libzookeeper-mt's functions, found when a ZooKeeper URL is first opened. Only its asynchronous calls
// are here: the others have no deadline, and hang for ever when a session expires under them.
#pragma once

#include <zookeeper/zookeeper.h>

namespace afar::engines::zookeeper {

// The header declares these as variables of the library, which a library that is loaded late has not
// when the compiler wants them.
namespace number {
inline constexpr int session_event = -1;
inline constexpr int expired_session = -112;
inline constexpr int auth_failed = -113;
inline constexpr int connected = 3;
}  // namespace number

struct library {
  library();  // throws lock_error(errc::unsupported) if it is not installed

  decltype(::zookeeper_init)* init;
  decltype(::zookeeper_close)* close;
  decltype(::zoo_client_id)* client_id;
  decltype(::zoo_recv_timeout)* recv_timeout;
  decltype(::zoo_get_context)* get_context;
  decltype(::zoo_add_auth)* add_auth;
  decltype(::zoo_set_servers_resolution_delay)* set_resolution_delay;
  decltype(::zoo_acreate2)* acreate2;
  decltype(::zoo_adelete)* adelete;
  decltype(::zoo_aset)* aset;
  decltype(::zoo_awget)* awget;
  decltype(::zoo_awexists)* awexists;
  decltype(::zoo_awget_children2)* awget_children2;
  decltype(::zoo_async)* async;
  decltype(::zoo_amulti)* amulti;
  decltype(::zoo_create_op_init)* create_op_init;
  decltype(::zoo_delete_op_init)* delete_op_init;
  decltype(::zoo_set_op_init)* set_op_init;
  decltype(::zoo_check_op_init)* check_op_init;
};

// The one of this process.
const library& the_library();

}  // namespace afar::engines::zookeeper
