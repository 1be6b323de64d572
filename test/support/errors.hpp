// Expecting failures.
#pragma once

#include <afar/error.hpp>

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <system_error>

namespace afar {

inline void PrintTo(errc e, std::ostream* out) { *out << make_error_code(e).message(); }

namespace test {

struct failure {
  std::error_code code = {};  // clear: nothing was thrown
  std::string message = {};
  std::string resource = {};
};

template <class Work>
failure failure_of(Work work) {
  try {
    work();
  } catch (const lock_error& e) {
    return {e.code(), e.what(), e.resource()};
  }
  return {};
}

// The code of the lock_error that `work` throws; clear if it throws none.
template <class Work>
std::error_code thrown_by(Work work) {
  return failure_of(std::move(work)).code;
}

}  // namespace test
}  // namespace afar
