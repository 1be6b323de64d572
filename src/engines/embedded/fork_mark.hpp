// Says whether this process was forked since the mark was made, at the price of one load. The kernel
// wipes the mark's page in every child (MADV_WIPEONFORK), so that no fork goes unseen, not even one
// that bypasses pthread_atfork.
#pragma once

namespace afar::engines::embedded {

class fork_mark {
 public:
  fork_mark();  // throws failure if the kernel (before 4.14) cannot
  fork_mark(const fork_mark&) = delete;
  fork_mark& operator=(const fork_mark&) = delete;
  ~fork_mark();

  bool forked() const noexcept { return *page_ == 0; }

 private:
  volatile char* page_;
};

}  // namespace afar::engines::embedded
