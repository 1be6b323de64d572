// What a system call of a test's own tools could not do.
#pragma once

#include <cerrno>
#include <system_error>

namespace afar::test {

[[noreturn]] inline void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace afar::test
