#include "support/zookeeper_snapshot.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace afar::test {
namespace {

namespace fs = std::filesystem;

std::string big_endian(std::uint64_t n, int bytes) {
  std::string out;
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8)
    out += static_cast<char>(n >> static_cast<unsigned>(shift) & 0xffU);
  return out;
}

class adler32 {
 public:
  void add(char c) {
    a_ = (a_ + static_cast<unsigned char>(c)) % 65'521;
    b_ = (b_ + a_) % 65'521;
  }
  std::uint64_t value() const { return b_ << 16U | a_; }

 private:
  std::uint64_t a_ = 1;
  std::uint64_t b_ = 0;
};

const std::string mark = big_endian(1, 4) + "/";  // the string "/", after every checksum

// Where the checksum of everything before it stands: several times, as later versions added parts.
std::vector<std::size_t> seals(const std::string& bytes) {
  std::vector<std::size_t> found;
  adler32 sum;
  for (std::size_t i = 0; i + 8 + mark.size() <= bytes.size(); ++i) {
    if (bytes.compare(i + 8, mark.size(), mark) == 0 &&
        bytes.compare(i, 8, big_endian(sum.value(), 8)) == 0)
      found.push_back(i);
    sum.add(bytes[i]);
  }
  return found;
}

void seal_again(std::string& bytes, const std::vector<std::size_t>& at) {
  adler32 sum;
  auto next = at.begin();
  for (std::size_t i = 0; i < bytes.size() && next != at.end(); ++i) {
    if (i == *next) {
      bytes.replace(i, 8, big_endian(sum.value(), 8));
      ++next;
    }
    sum.add(bytes[i]);
  }
}

fs::path newest_snapshot(const std::string& data_folder) {
  std::vector<std::pair<std::uint64_t, fs::path>> all;
  for (const auto& file : fs::directory_iterator{data_folder + "/version-2"}) {
    const std::string name = file.path().filename().string();
    if (name.starts_with("snapshot."))
      all.emplace_back(std::stoull(name.substr(9), nullptr, 16), file.path());
  }
  if (all.empty()) throw std::runtime_error{"no snapshot in " + data_folder};
  return std::ranges::max_element(all)->second;
}

}  // namespace

void set_creations(const std::string& data_folder, const std::string& path,
                   std::int32_t creations) {
  const fs::path file = newest_snapshot(data_folder);
  std::ifstream in{file, std::ios::binary};
  std::string bytes{std::istreambuf_iterator<char>{in}, {}};
  const std::string name = big_endian(path.size(), 4) + path;
  const auto at = bytes.find(name);
  const auto sealed = seals(bytes);
  if (at == std::string::npos || sealed.empty())
    throw std::runtime_error{path + " is not in " + file.string()};
  // Path, data (here empty), access list (8), two transactions and two times (32), version (4).
  const std::size_t counter = at + name.size() + 4 + 8 + 32 + 4;
  bytes.replace(counter, 4, big_endian(static_cast<std::uint32_t>(creations), 4));
  seal_again(bytes, sealed);
  std::ofstream{file, std::ios::binary} << bytes;
}

}  // namespace afar::test
