// How cold paths inside the embedded engine fail: they throw, and the step that they belong to turns
// it into the status that it reports. Nothing of this type leaves the engine.
#pragma once

#include <afar/spi/engine.hpp>

#include <exception>
#include <string>
#include <utility>

namespace afar::engines::embedded {

class failure : public std::exception {
 public:
  explicit failure(spi::status why) : why_(std::move(why)) {}
  failure(errc code, std::string detail) : why_(code, std::move(detail)) {}

  const spi::status& why() const noexcept { return why_; }
  const char* what() const noexcept override { return why_.detail.str().c_str(); }

 private:
  spi::status why_;
};

// What a failed system call on a file of the folder means: "cannot open /x/gates: Permission denied".
spi::status system_failure(int error, const std::string& doing);

// Runs `body` and turns whatever it throws into a status.
template <class Body>
spi::status caught(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const failure& failed) {
    return failed.why();
  } catch (const std::bad_alloc&) {
    return {errc::no_room, "out of memory"};
  }
}

}  // namespace afar::engines::embedded
