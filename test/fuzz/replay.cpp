// Runs a fuzz target over the files of a corpus, where there is no libFuzzer.
#include "require.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

int main(int count, char** words) {
  int inputs = 0;
  for (int i = 1; i < count; ++i)
    for (const auto& file : std::filesystem::directory_iterator{words[i]}) {
      std::ifstream in{file.path(), std::ios::binary};
      const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
      std::printf("%s\n", file.path().c_str());
      std::fflush(stdout);
      LLVMFuzzerTestOneInput(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
      ++inputs;
    }
  std::printf("%d inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
}
