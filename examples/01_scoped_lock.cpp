// The smallest use of afar: a lock with a name. Whoever says the same name, in any thread of any
// process, waits for its turn. Start this program in two terminals at once: the sum stays right.
#include <afar/afar.hpp>

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

// The thing to protect: a file that is read, changed and written back. Without a lock two writers
// would now and then read the same balance, and one deposit would be lost.
void deposit(const std::string& account) {
  long balance = 0;
  std::ifstream{account} >> balance;
  std::ofstream{account} << balance + 1;
}

// One clerk stands for one program: it has a client of its own and shares nothing with the others
// but the names of the account and of its lock.
void clerk(const std::string& url, const std::string& account, int deposits) {
  afar::client locks{url};
  afar::mutex turn{locks, "account " + account};  // only a name so far: nothing is asked here

  for (int i = 0; i < deposits; ++i) {
    std::scoped_lock guard{turn};  // afar::mutex is a Lockable: std's own guards work
    deposit(account);
  }  // unlocked here, also when an exception flies
}

}  // namespace

int main(int argc, char** argv) {
  // "local:" is this machine, no server needed. Any other URL changes nothing below.
  const std::string url = argc > 1 ? argv[1] : "local:";
  const auto account = std::filesystem::temp_directory_path() /
                       ("afar-account-" + std::to_string(::getpid()) + ".txt");
  constexpr int clerks = 4;
  constexpr int deposits = 100;

  {
    std::vector<std::jthread> all;
    for (int i = 0; i < clerks; ++i) all.emplace_back(clerk, url, account.string(), deposits);
  }

  long balance = 0;
  std::ifstream{account} >> balance;
  std::filesystem::remove(account);
  std::printf("%d clerks made %d deposits each, the balance is %ld\n", clerks, deposits, balance);
  return balance == clerks * deposits ? 0 : 1;
}
