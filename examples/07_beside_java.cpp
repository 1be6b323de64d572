// One lock for C++ and Java. This program and its other half, which knows nothing of afar, write into the
// same account under the same lock on the same server; start both at once. With Redisson, on Redis:
//   07_beside_java 'redis://127.0.0.1?layout=redisson' /tmp/account &
//   java -cp redisson-all.jar examples/java/BesideCpp.java redis://127.0.0.1:6379 /tmp/account
// With Curator, on ZooKeeper:
//   07_beside_java zookeeper://127.0.0.1 /tmp/account &
//   java -cp /usr/share/java/curator-recipes.jar examples/java/BesideCppOnZooKeeper.java 127.0.0.1:2181 /tmp/account
#include <afar/afar.hpp>

#include <cstdio>
#include <fstream>
#include <mutex>
#include <string>

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "07_beside_java <url> <file>\n"), 2;
  const std::string account = argv[2];

  // What lies on the server is, byte by byte, Redisson's getLock("account") or Curator's
  // InterProcessMutex on /afar/account.
  afar::client locks{argv[1]};
  afar::mutex turn{locks, "account"};

  for (int i = 0; i < 100; ++i) {
    std::scoped_lock guard{turn};  // waits for Java as for anybody else, and is renewed meanwhile
    long balance = 0;
    std::ifstream{account} >> balance;
    std::ofstream{account} << balance + 1;
  }
  std::puts("100 deposits from C++");
}
