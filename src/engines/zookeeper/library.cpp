#include "engines/zookeeper/library.hpp"

#include "engines/client_library.hpp"

namespace afar::engines::zookeeper {

library::library() {
  const client_library from{"libzookeeper_mt.so.2", "libzookeeper-mt2"};
  const auto find = [&]<class Function>(Function*& at, const char* name) {
    at = from.function<Function>(name);
  };
  find(init, "zookeeper_init");
  find(close, "zookeeper_close");
  find(client_id, "zoo_client_id");
  find(recv_timeout, "zoo_recv_timeout");
  find(get_context, "zoo_get_context");
  find(add_auth, "zoo_add_auth");
  find(set_resolution_delay, "zoo_set_servers_resolution_delay");
  find(acreate2, "zoo_acreate2");
  find(adelete, "zoo_adelete");
  find(aset, "zoo_aset");
  find(awget, "zoo_awget");
  find(awexists, "zoo_awexists");
  find(awget_children2, "zoo_awget_children2");
  find(async, "zoo_async");
  find(amulti, "zoo_amulti");
  find(create_op_init, "zoo_create_op_init");
  find(delete_op_init, "zoo_delete_op_init");
  find(set_op_init, "zoo_set_op_init");
  find(check_op_init, "zoo_check_op_init");
  // It writes to stderr, which is the user's.
  from.function<decltype(::zoo_set_debug_level)>("zoo_set_debug_level")(ZooLogLevel{});
}

const library& the_library() {
  static const library it;
  return it;
}

}  // namespace afar::engines::zookeeper
