// What the core says of a thread while it makes a step: it comes to engine::drive() for the answer at once.
// So an engine that reads answers there needs no other thread to listen meanwhile. Only a hint: it may
// have another reason not to come.
#pragma once

#include <utility>

namespace afar::spi {

class coming_to_drive {
 public:
  explicit coming_to_drive(bool comes = true) noexcept : before_(std::exchange(said_, comes)) {}
  coming_to_drive(const coming_to_drive&) = delete;
  coming_to_drive& operator=(const coming_to_drive&) = delete;
  ~coming_to_drive() { said_ = before_; }

  // For the engine, once per step: what the step leads to on this thread is no longer meant.
  static bool take() noexcept { return std::exchange(said_, false); }

 private:
  static inline thread_local bool said_ = false;
  const bool before_;
};

}  // namespace afar::spi
