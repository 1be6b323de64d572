// What counter, counting_semaphore and latch are made of: one shared integer of one client. Not for
// users. With `code` null a failure is thrown as lock_error, else it is stored.
#pragma once

#include <afar/client.hpp>
#include <afar/detail/deadline.hpp>
#include <afar/detail/function.hpp>

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace afar::detail {

enum class cell_kind : std::uint8_t { counter, latch, semaphore };

class cell_body;  // src/primitives/cell_body.hpp

struct cell_range {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();

  friend bool operator==(const cell_range&, const cell_range&) = default;
};

class AFAR_API cell {
 public:
  cell(const cell&) = delete;
  cell& operator=(const cell&) = delete;
  const std::string& name() const noexcept;
  const std::shared_ptr<cell_body>& body() const noexcept { return body_; }

 protected:
  cell(const client&, cell_kind, std::string name, std::optional<std::int64_t> initial);
  ~cell();

  std::optional<std::int64_t> read(std::error_code*) const;  // empty: it does not exist
  // The value before; empty: not applied (out of range, or it does not exist).
  std::optional<std::int64_t> add(std::int64_t, cell_range, std::error_code*) const;
  std::int64_t exchange(std::int64_t, std::error_code*) const;
  bool compare_exchange(std::int64_t& expected, std::int64_t desired, std::error_code*) const;
  void remove(std::error_code*) const;

  // Waits until the addition can be applied within the range. False: timed out.
  bool wait_add(std::int64_t, cell_range, deadline, std::stop_token, std::error_code*) const;
  // Waits until the value differs from `old`; answers it. Empty: timed out.
  std::optional<std::int64_t> wait_change(std::int64_t old, deadline, std::stop_token,
                                          std::error_code*) const;
  // Waits until it exists and is 0. False: timed out.
  bool wait_zero(deadline, std::stop_token, std::error_code*) const;

  std::shared_ptr<cell_body> body_;
};

// The same waits without a thread, for asio.hpp. The value is that of the cell when it was done.
using cell_done = function<void(std::error_code, std::int64_t)>;
AFAR_API void start_wait_add(const std::shared_ptr<cell_body>&, std::int64_t, cell_range, deadline,
                             std::stop_token, cell_done);
AFAR_API void start_wait_change(const std::shared_ptr<cell_body>&, std::int64_t old, deadline,
                                std::stop_token, cell_done);
AFAR_API void start_wait_zero(const std::shared_ptr<cell_body>&, deadline, std::stop_token,
                              cell_done);

}  // namespace afar::detail
