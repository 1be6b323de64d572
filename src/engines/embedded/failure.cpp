#include "engines/embedded/failure.hpp"

#include <cerrno>
#include <system_error>

namespace afar::engines::embedded {

spi::status system_failure(int error, const std::string& doing) {
  std::string text = "cannot " + doing + ": " + std::generic_category().message(error);
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return {errc::denied, std::move(text)};
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
      return {errc::no_room, std::move(text)};
    default:
      return {errc::unavailable, std::move(text)};
  }
}

}  // namespace afar::engines::embedded
