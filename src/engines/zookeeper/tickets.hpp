// What makes a change of a cell happen once: the transaction that changes it also writes the change's id
// and result into a node of this client, its ticket. When an answer is lost, the ticket says what
// happened. Curator's counters have none, and count twice.
//
// Tickets are persistent, because the question may come up after the session has expired. They are used
// again and again, one for each change under way, and removed when the client closes; those of clients
// that died are cleared away by whoever collects.
#pragma once

#include "engines/zookeeper/target.hpp"

#include <afar/spi/engine.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace afar::engines::zookeeper {

struct ticket {
  std::string path = {};
  bool exists = false;
};

// What a client knows of one of its changes.
struct change_memory {
  std::optional<spi::cell_reply> reply = {};  // none: it is not known what happened
  std::optional<ticket> written_on = {};
};

class tickets {
 public:
  explicit tickets(const target&);

  ticket borrow();
  void give_back(ticket);
  std::vector<std::string> all();  // that exist or may exist

  // Changes whose answers may be asked for again.
  std::optional<change_memory> known(const spi::op_id&);
  void remember(const spi::op_id&, change_memory);

  static std::string text(const spi::op_id&, const spi::cell_reply&);
  // None: another change's.
  static std::optional<spi::cell_reply> read(std::string_view text, const spi::op_id&);

 private:
  const std::string beginning_;
  std::mutex m_;
  std::vector<ticket> free_;
  std::vector<std::string> made_;
  std::map<spi::owner_id, change_memory> changes_;
};

}  // namespace afar::engines::zookeeper
