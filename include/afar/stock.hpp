// afar::stock: units that must not be oversold, with a record of who took what.
#pragma once

#include <afar/client.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace afar {

namespace detail {
class stock_body;
}

// What take() and reserve() answer.
enum class take_result : std::uint8_t {
  taken,          // yours; a repeated order id gives this answer again and takes nothing more
  sold_out,       // less remains than was asked for
  not_open_yet,   // before the opening window
  closed,         // after it
  limit_reached,  // this buyer has had its share
  already_taken,  // this order id stands for something else, or was returned before
  no_such_stock   // nobody has set this stock: absent is not sold out
};
AFAR_API std::string_view word(take_result) noexcept;

// What commit(), cancel() and put_back() answer.
enum class order_result : std::uint8_t {
  done,           // also when it was done before
  expired,        // the reservation had run out; its units are back
  no_such_order,  // never taken or reserved here, or not in a state for this
  no_such_stock
};
AFAR_API std::string_view word(order_result) noexcept;

struct stock_options {
  using calendar_time = std::chrono::system_clock::time_point;
  std::uint32_t per_buyer = 0;              // units that one buyer may have; 0: no limit
  std::optional<calendar_time> opens = {};  // by the engine's calendar clock
  std::optional<calendar_time> closes = {};
};

struct stock_levels {
  std::int64_t remaining = 0;
  std::int64_t reserved = 0;  // in reservations that still run
  std::int64_t taken = 0;
};

// Never below zero; remaining + reserved + taken changes only by set() and add(). An order id is the
// idempotency key: repeat a call whose answer was lost, it takes effect once. Order ids and buyers
// are any non-empty strings of up to 256 bytes.
class AFAR_API stock {
 public:
  stock(const client&, std::string name);
  stock(const stock&) = delete;
  stock& operator=(const stock&) = delete;
  ~stock();

  const std::string& name() const noexcept;

  // Sets what remains, the limit and the window. Orders that were taken before are kept.
  void set(std::int64_t units, stock_options = {});
  void set(std::int64_t units, stock_options, std::error_code&) noexcept;

  // Adds to what remains (or removes, never below zero: false, nothing changed). False also if there
  // is no such stock.
  bool add(std::int64_t units);
  bool add(std::int64_t units, std::error_code&) noexcept;

  take_result take(std::int64_t quantity, std::string_view order, std::string_view buyer = {});
  take_result take(std::int64_t quantity, std::string_view order, std::string_view buyer,
                   std::error_code&) noexcept;

  // Returns a taken order. Idempotent.
  order_result put_back(std::string_view order);
  order_result put_back(std::string_view order, std::error_code&) noexcept;

  // Takes for a time (10 ms to 24 h): commit() makes it final; cancel() or the end of the time returns it,
  // exactly once.
  take_result reserve(std::int64_t quantity, std::string_view order, std::string_view buyer,
                      std::chrono::milliseconds hold_for);
  take_result reserve(std::int64_t quantity, std::string_view order, std::string_view buyer,
                      std::chrono::milliseconds hold_for, std::error_code&) noexcept;
  order_result commit(std::string_view order);
  order_result commit(std::string_view order, std::error_code&) noexcept;
  order_result cancel(std::string_view order);
  order_result cancel(std::string_view order, std::error_code&) noexcept;

  // Empty: no such stock.
  std::optional<stock_levels> levels() const;
  std::optional<stock_levels> levels(std::error_code&) const noexcept;
  std::optional<std::int64_t> remaining() const;
  std::optional<std::int64_t> remaining(std::error_code&) const noexcept;

  // Forgets the stock and all its orders.
  void erase();
  void erase(std::error_code&) noexcept;

 private:
  std::shared_ptr<detail::stock_body> body_;
};

}  // namespace afar
