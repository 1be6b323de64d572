#include "engines/client_library.hpp"

#include <afar/error.hpp>

#include <dlfcn.h>

#include <utility>

namespace afar::engines {

client_library::client_library(std::string file, std::string package)
    : file_(std::move(file)),
      package_(std::move(package)),
      handle_(::dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_) return;
  throw lock_error{errc::unsupported, file_,
                   "this kind of URL needs the library; install the package " + package_};
}

void* client_library::find(const char* name) const {
  if (void* found = ::dlsym(handle_, name)) return found;
  throw lock_error{errc::unsupported, file_,
                   "has no " + std::string{name} + "; install the package " + package_};
}

}  // namespace afar::engines
