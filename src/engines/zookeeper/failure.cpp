#include "engines/zookeeper/failure.hpp"

#include <zookeeper/zookeeper.h>

#include <string>

namespace afar::engines::zookeeper {

spi::status failure_of_write(int rc) {
  switch (rc) {
    case ZCONNECTIONLOSS:
    case ZOPERATIONTIMEOUT:
      return {errc::unknown_outcome, "the connection broke"};
    case ZCLOSING:
      return {errc::unknown_outcome, "the session was closed"};
    case ZINVALIDSTATE:
    case ZSESSIONEXPIRED:
      return {errc::unavailable, "the session has expired"};
    case ZSESSIONMOVED:
      return {errc::unavailable, "the session has moved to another server"};
    case ZNOAUTH:
      return {errc::denied, "the node's access list refuses this login"};
    case ZAUTHFAILED:
      return {errc::denied, "the server refuses the login"};
    case ZINVALIDACL:
      return {errc::denied, "the server knows no such login"};
    case ZNOTREADONLY:
      return {errc::unavailable, "the server is read-only: it has lost the others"};
    case ZMARSHALLINGERROR:
      return {errc::damaged, "the server's answer cannot be read"};
    default:
      return {errc::damaged, "the server answers with code " + std::to_string(rc)};
  }
}

spi::status failure_of_read(int rc) {
  spi::status s = failure_of_write(rc);
  if (s.code == errc::unknown_outcome) s.code = errc::unavailable;
  return s;
}

}  // namespace afar::engines::zookeeper
