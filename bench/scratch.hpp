// A folder in memory that is gone with its object.
#pragma once

#include <string>

namespace bench {

class scratch {
 public:
  scratch();
  ~scratch();
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  const std::string& path() const noexcept { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  // Its own folder: afar refuses to share one with files that it does not know.
  std::string url() const { return "file://" + path_ + "/afar"; }

 private:
  std::string path_;
};

}  // namespace bench
