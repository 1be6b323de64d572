// One lock for C++ and Java. This program and examples/java/BesideCpp.java, which uses Redisson, write
// into the same account under the same lock on the same Redis server; start both at once:
//   07_beside_java redis://127.0.0.1 /tmp/account &
//   java -cp redisson-all.jar BesideCpp.java redis://127.0.0.1:6379 /tmp/account
#include <afar/afar.hpp>

#include <cstdio>
#include <fstream>
#include <mutex>
#include <string>

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "07_beside_java <redis://host> <file>\n"), 2;
  const std::string account = argv[2];

  // In this layout a mutex is what Redisson calls getLock(name), byte by byte.
  afar::client locks{argv[1] + std::string{"?layout=redisson"}};
  afar::mutex turn{locks, "account " + account};

  for (int i = 0; i < 100; ++i) {
    std::scoped_lock guard{turn};  // waits for Java as for anybody else, and is renewed meanwhile
    long balance = 0;
    std::ifstream{account} >> balance;
    std::ofstream{account} << balance + 1;
  }
  std::puts("100 deposits from C++");
}
