// A fuzzed property that does not hold: stops, so that libFuzzer keeps the input.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace afar::fuzz {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

}  // namespace afar::fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size);
