// What every primitive with an owner is made of: one kind and name of one client, and the holds that
// its lock() keeps. Not for users.
#pragma once

#include <afar/client.hpp>
#include <afar/detail/deadline.hpp>
#include <afar/detail/function.hpp>
#include <afar/hold.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <system_error>

namespace afar::detail {

enum class claim_kind : std::uint8_t {
  mutex,
  fair_mutex,
  shared_mutex,
  permits,
  barrier,
  election
};
enum class claim_mode : std::uint8_t { exclusive, shared };

class claim_body;  // src/primitives/claim_body.hpp

// One wish, as the primitives state it. Throwing and error_code forms share these functions: with
// `code` null a failure is thrown as lock_error, else it is stored (and cleared on success).
struct wish {
  claim_mode mode = claim_mode::exclusive;
  std::uint32_t permits = 1;
  deadline by = {};
  acquire_options options = {};
  bool by_lock =
      false;  // by lock(): kept in the object, and a second one of this thread is a deadlock
};

using acquired = function<void(std::error_code, hold)>;

class AFAR_API claimable {
 public:
  claimable(const claimable&) = delete;
  claimable& operator=(const claimable&) = delete;

  const std::string& name() const noexcept;

  // For asio.hpp: what outlives the object while an asynchronous wait is under way.
  const std::shared_ptr<claim_body>& body() const noexcept { return body_; }

 protected:
  // Throws lock_error: errc::bad_argument for a name of no or more than 1,024 bytes or a limit of 0,
  // errc::unsupported if the engine cannot do it. No I/O.
  claimable(const client&, claim_kind, std::string name, std::uint32_t limit = 1);
  ~claimable();

  // An empty hold without an error: busy (by.waits == false), or timed out (then code is timed_out;
  // in the throwing form an empty hold).
  hold take(wish, std::error_code* code) const;

  // lock(): the hold stays in the object.
  bool keep(wish, std::error_code* code);
  void drop(claim_mode, std::error_code* code) noexcept;  // code null: do not wait for the answer
  bool convert_kept(claim_mode to, std::error_code* code);
  bool convert(hold&, claim_mode to, std::error_code* code) const;
  std::uint64_t kept_token() const noexcept;
  std::stop_token kept_lost() const noexcept;
  bool kept_valid() const noexcept;

  std::shared_ptr<claim_body> body_;
};

// Starts to wait and calls `done` once, on an unspecified thread. For asio.hpp.
AFAR_API void start_take(const std::shared_ptr<claim_body>&, wish, acquired done);

}  // namespace afar::detail
