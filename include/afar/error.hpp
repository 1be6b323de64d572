// Error codes and the exception of afar, in the manner of <filesystem>: every function that throws
// has a twin that takes std::error_code& and does not.
#pragma once

#include <afar/detail/export.hpp>

#include <string>
#include <string_view>
#include <system_error>

namespace afar {

enum class errc {
  timed_out = 1,  // the deadline passed first; std::errc::timed_out
  cancelled,      // the caller's stop token asked to give up; std::errc::operation_canceled
  not_owner,      // nothing is held that could be released; std::errc::operation_not_permitted
  lost,           // the lease ended before the release; at a barrier: the session ended first
  deadlock,   // this thread's own lock() holds the name; std::errc::resource_deadlock_would_occur
  broken,     // a barrier that somebody left before it was full
  wrong_use,  // the name is in use as another kind or with another limit
  unknown_outcome,  // the engine may or may not have done it
  unavailable,      // the engine cannot be reached or does not answer
  unsupported,      // the engine has no such primitive; std::errc::not_supported
  bad_url,          // the URL cannot be read; std::errc::invalid_argument
  bad_argument,  // a name, lease, amount or option outside its range; std::errc::invalid_argument
  no_room,       // the engine's storage is full; std::errc::no_space_on_device
  denied,        // the engine refuses this user; std::errc::permission_denied
  damaged,       // what the engine stores or answers makes no sense
  overflow,      // a count would leave its range; std::errc::value_too_large
  closed,        // the client is closed or closing
  forked         // the client belongs to the parent process and is inert in this one
};

AFAR_API const std::error_category& category() noexcept;

inline std::error_code make_error_code(errc e) noexcept {
  return {static_cast<int>(e), category()};
}

// What every failing afar call throws. what() names the resource (bytes that cannot be printed as
// \xNN, long ones cut), the reason and, where there is one, the way out.
class AFAR_API lock_error : public std::system_error {
 public:
  lock_error(std::error_code code, std::string resource, std::string_view detail = {});
  ~lock_error() override;

  const char* what() const noexcept override;

  // The name of the lock, counter, stock … or the URL (without its password).
  const std::string& resource() const noexcept { return resource_; }

 private:
  std::string resource_;
  std::string what_;
};

}  // namespace afar

template <>
struct std::is_error_code_enum<afar::errc> : std::true_type {};
