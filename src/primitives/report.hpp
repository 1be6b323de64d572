// How a failure reaches the caller: thrown as lock_error if he gave no error_code, else stored there
// (and cleared on success).
#pragma once

#include <afar/detail/deadline.hpp>
#include <afar/error.hpp>
#include <afar/spi/engine.hpp>

#include <string>
#include <system_error>

namespace afar::detail {

inline void report(const spi::status& s, const std::string& name, std::error_code* code) {
  if (code)
    *code = s.code;
  else if (s)
    throw lock_error(s.code, name, s.detail);
}

// Busy and too late are outcomes, not failures: only the error_code of a call that waited tells them.
inline void report_wait(const spi::status& s, const deadline& by, const std::string& name,
                        std::error_code* code) {
  const bool busy = s.code == errc::timed_out && !by.infinite() && (!code || !by.waits);
  report(busy ? spi::status{} : s, name, code);
}

}  // namespace afar::detail
