// Clears away the rows of names that nobody uses any more. They hold nothing but a floor for tokens, and
// that the server's clock has passed; but every name that was ever used would leave one.
#pragma once

#include "engines/sql/connection.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace afar::engines::sql {

// Deletes what is idle among the next rows behind `from`, and moves `from` on; to the beginning behind
// the last one. Returns how many.
std::uint64_t clear_page(connection&, std::string& from);

// When a client clears away, and where: every hundredth use looks at some rows behind the name that was
// used last, and the next look goes on from there. So what is cleared keeps up with what is used.
class janitor {
 public:
  janitor();

  // Whoever is told true makes a round soon.
  bool due() noexcept;
  std::uint64_t round(connection&, std::string_view used);

 private:
  std::atomic<std::uint32_t> uses_;
  std::mutex mutex_;
  std::string from_;
};

}  // namespace afar::engines::sql
