// examples/07_beside_java.cpp and its Java half, at once.
#include "redisson_fixture.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace afar::test {
namespace {

class redisson_example : public redisson_base {};

TEST_F(redisson_example, adds_up_the_deposits_of_both_languages) {
  const std::string account =
      (std::filesystem::temp_directory_path() / ("afar-account-" + std::to_string(::getpid())))
          .string();
  const std::string folder = peers_folder();
  auto in_java = start([&] {
    return std::system(("java -cp " + folder + ":" + folder + "/redisson-all-4.7.0.jar BesideCpp " +
                        server->url() + " " + account)
                           .c_str());
  });
  // Java is the slower one to start: C++ goes on until it has seen deposits of Java.
  long here = 0;
  do {
    EXPECT_EQ(std::system((AFAR_EXAMPLE " '" + url() + "' " + account).c_str()), 0);
    here += 100;
  } while (in_java.wait_for(0s) != std::future_status::ready && here < 100'000);
  EXPECT_EQ(in_java.get(), 0);
  long balance = 0;
  std::ifstream{account} >> balance;
  EXPECT_EQ(balance, here + 100);
  std::filesystem::remove(account);
}

}  // namespace
}  // namespace afar::test
