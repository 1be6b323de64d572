#include "support/own_clock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <stdexcept>

namespace afar::test {

void own_clock::shift(std::chrono::nanoseconds by) const {
  const std::int64_t shift = by.count();
  const int fd = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  const bool written = fd >= 0 && ::pwrite(fd, &shift, sizeof shift, 0) == sizeof shift;
  ::close(fd);
  if (!written) throw std::runtime_error{"cannot set the clock of a server"};
}

std::vector<std::string> own_clock::environment() const {
  return {"LD_PRELOAD=" AFAR_CLOCK_SHIM, "AFAR_CLOCK=" + file_};
}

}  // namespace afar::test
