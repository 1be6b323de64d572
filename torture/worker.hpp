// One process of a torture run: threads that lock, count and buy at random, and record it.
#pragma once

#include <cstdint>
#include <string>

namespace afar::torture {

// Until the control file says stop. Returns the exit code.
int work(const std::string& folder, const std::string& url, std::uint32_t worker,
         std::uint32_t life);

}  // namespace afar::torture
