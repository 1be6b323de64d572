// One voucher on sale: how a buyer gets one, in four ways.
#pragma once

#include "database.hpp"

#include <afar/afar.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace sale {

enum class way : std::uint8_t { unprotected, lock_per_buyer, lock_per_voucher, stock };
inline constexpr std::array all_ways{way::unprotected, way::lock_per_buyer, way::lock_per_voucher,
                                     way::stock};
const char* word(way);

enum class outcome : std::uint8_t { bought, not_open_yet, over, sold_out, already_bought };
inline constexpr std::size_t outcomes = 5;

struct plan {
  std::string stock_url;   // of afar: locks and stock
  std::string orders_url;  // of the tables flash_sale_*, which are made and dropped
  std::string name;        // of this sale, on the engine
  std::int64_t units = 100;
  int opens_in_s = -3'600;  // from now
  int closes_in_s = 3'600;
};

// A worker that was silent for longer has lost what it held.
inline constexpr std::chrono::milliseconds lease{1'500};

// Makes the tables, fills them, and sets the stock.
void open_sale(const plan&, way);
void close_sale(const plan&);

// This worker was replaced while it was silent: its order was not written, and it has to stop.
struct overtaken : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What the threads of one worker process share: a client and, for the fence of what it writes, the
// lock of its number.
class counter_desk {
 public:
  // Waits until an earlier process of that number is gone, or its lease is over.
  counter_desk(const plan&, way, int worker);

  const plan& what;
  const way how;
  const int worker;
  const afar::client client;
  bool mine() const { return how != way::stock || held_->valid(); }
  std::uint64_t token() const { return held_->token(); }

 private:
  std::unique_ptr<afar::mutex> number_;
  std::optional<afar::hold> held_;
};

// One thread's own connection to the table.
class shop {
 public:
  explicit shop(counter_desk&);
  // Throws overtaken; database_error, lock_error: no answer.
  outcome buy(int buyer);
  // Writes of others than the rightful holder that the table itself refused.
  long refused = 0;

 private:
  outcome ask_the_voucher(std::int64_t& units);
  bool has_bought(int buyer);
  outcome unprotected(int buyer);
  outcome by_lock_of_buyer(int buyer);
  outcome by_lock_of_voucher(int buyer);
  outcome by_stock(int buyer);
  outcome decrement_if_any(int buyer);
  outcome decrement_fenced(int buyer, std::uint64_t token);
  outcome write_order_once(int buyer);

  counter_desk& desk_;
  const std::unique_ptr<database> orders_;
  afar::stock stock_;
};

}  // namespace sale
