#include "scratch.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace bench {

scratch::scratch() : path_("/dev/shm/afar-bench-XXXXXX") {
  if (!::mkdtemp(path_.data()))
    throw std::system_error(errno, std::generic_category(), "mkdtemp in /dev/shm");
}

scratch::~scratch() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace bench
