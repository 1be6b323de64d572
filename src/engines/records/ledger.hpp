// A bounded amount with a record of who took what, as steps over a small storage interface: a sale
// has many orders, and a step must touch only the few that it is about.
//
// Invariants
//   1. remaining >= 0, always.
//   2. remaining + reserved + taken changes only by define and restock.
//   3. reserved is the sum of the orders in state `reserved`; taken of those in state `taken`.
//   4. Every expired reservation is returned once, by the first step that looks after its time.
#pragma once

#include <afar/spi/engine.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace afar::engines::records {

struct ledger_head {
  std::int64_t remaining = 0;
  std::int64_t reserved = 0;
  std::int64_t taken = 0;
  std::uint32_t per_buyer = 0;
  spi::window open;
  std::vector<std::pair<spi::owner_id, std::int64_t>>
      restocks;  // unsettled op ids and `remaining` after
};

enum class order_state : std::uint8_t { taken, reserved, returned, expired };

struct order {
  std::string buyer;
  std::int64_t amount = 0;
  order_state state = order_state::taken;
  spi::time_point expires{};  // reserved only
};

// Where one ledger lives. All calls of one step see and change one consistent state.
class ledger_pages {
 public:
  virtual std::optional<ledger_head> head() = 0;
  virtual void put_head(const ledger_head&) = 0;
  virtual std::optional<order> find(std::string_view id) = 0;
  virtual void put(std::string_view id, const order&) = 0;
  virtual std::int64_t units_of(std::string_view buyer) = 0;
  virtual void put_units(std::string_view buyer, std::int64_t units) = 0;  // 0: forget the buyer
  virtual void put_deadline(spi::time_point, std::string_view id) = 0;
  virtual void erase_deadline(spi::time_point, std::string_view id) = 0;
  virtual std::optional<std::pair<spi::time_point, std::string>> first_deadline() = 0;
  virtual void erase_all() = 0;

 protected:
  ~ledger_pages() = default;
};

// `today` is the engine's calendar clock, for the window; `now` counts reservations.
spi::status record(ledger_pages&, const spi::ledger_change&, spi::time_point now,
                   spi::calendar_time today, spi::ledger_reply&);

}  // namespace afar::engines::records
