// The smallest program that uses the installed library: takes a lock and lets it go.
#include <cstdio>
#include <mutex>

#include <afar/afar.hpp>

int main() {
  afar::client locks;
  afar::mutex door{locks, "afar/test/package"};
  std::scoped_lock guard{door};
  std::puts(door.token() != 0 ? "held" : "held without a token");
  return door.token() != 0 ? 0 : 1;
}
