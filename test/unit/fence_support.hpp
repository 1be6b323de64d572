// What the tests of the fence share.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace afar::test {

// A folder of its own for every test.
class folder {
 public:
  folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "afar-fence-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(path_); }
  std::string file(const std::string& name = "fence") const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace afar::test
