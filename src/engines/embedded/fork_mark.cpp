#include "engines/embedded/fork_mark.hpp"

#include "engines/embedded/failure.hpp"

#include <sys/mman.h>

#include <cerrno>

namespace afar::engines::embedded {

namespace {
constexpr std::size_t page_bytes = 4096;
}

fork_mark::fork_mark() {
  void* page =
      ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw failure{system_failure(errno, "map a page")};
  if (::madvise(page, page_bytes, MADV_WIPEONFORK) != 0) {
    ::munmap(page, page_bytes);
    throw failure{errc::unsupported, "needs Linux 4.14 or later (MADV_WIPEONFORK)"};
  }
  page_ = static_cast<volatile char*>(page);
  *page_ = 1;
}

fork_mark::~fork_mark() { ::munmap(const_cast<char*>(page_), page_bytes); }

}  // namespace afar::engines::embedded
