// Child processes that are asked and answer by lines. They are new programs, not forks: a client of
// afar must not be used on the other side of a fork.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace bench {

class member {
 public:
  // Starts this program again as `--child role arguments...`.
  member(const std::string& role, std::vector<std::string> arguments);
  explicit member(std::vector<std::string> command);  // starts another program
  ~member();  // closes its input, which ends it; kills it if it does not end
  member(const member&) = delete;
  member& operator=(const member&) = delete;

  void tell(const std::string& line);
  std::string hear();  // throws if it died, or is silent for a minute
  std::string ask(const std::string& line) {
    tell(line);
    return hear();
  }
  void kill_and_reap();  // kill -9
  pid_t pid() const noexcept { return pid_; }

 private:
  pid_t pid_ = -1;
  int to_ = -1;
  int from_ = -1;
  std::string buffer_;
};

// ---- the child's side
bool next_line(std::string& line);  // false: the parent has no more work
void answer(const std::string& line);

}  // namespace bench
