// examples/07_beside_java.cpp and its half with Curator, at once: deposits that are lost show that both
// held the lock together.
#include "curator_fixture.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace afar::test {
namespace {

class curator_example : public curator_test {};

TEST_P(curator_example, adds_up_the_deposits_of_both_languages) {
  const std::string account =
      (std::filesystem::temp_directory_path() / ("afar-account-" + std::to_string(::getpid())))
          .string();
  auto in_java = start([&] {
    return std::system(("java -cp " + classes(GetParam()) + " BesideCppOnZooKeeper " +
                        server->address() + " " + account + " >/dev/null")
                           .c_str());
  });
  // Java is the slower one to start: C++ goes on until it has seen deposits of Java.
  long here = 0;
  do {
    EXPECT_EQ(
        std::system((AFAR_EXAMPLE " " + server->url() + " " + account + " >/dev/null").c_str()), 0);
    here += 100;
  } while (in_java.wait_for(0s) != std::future_status::ready && here < 100'000);
  EXPECT_EQ(in_java.get(), 0);
  long balance = 0;
  std::ifstream{account} >> balance;
  EXPECT_EQ(balance, here + 100);
  std::filesystem::remove(account);
}

AFAR_FOR_BOTH_CURATORS(curator_example);

}  // namespace
}  // namespace afar::test
