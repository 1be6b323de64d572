// A program of another language on another library, which does as it is told. One line in,
// "<who> <verb> <what> <name> …"; one line out, "<who> <answer>". Whoever made it ends it: the
// destructor kills it and waits for its end.
#pragma once

#include "support/patience.hpp"

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace afar::test {

class peer {
 public:
  explicit peer(std::vector<std::string> command);  // returns when it says "ready <version>"
  peer(const peer&) = delete;
  peer& operator=(const peer&) = delete;
  ~peer();

  const std::string& version() const { return version_; }

  void send(const std::string& who, const std::string& what);
  bool has_answered(const std::string& who, nanoseconds within = {});
  std::string answer(const std::string& who);  // throws std::runtime_error if there is none in time
  std::string ask(const std::string& who, const std::string& what);

  void kill();  // SIGKILL; returns when it is dead

 private:
  void read_for(nanoseconds);

  pid_t pid_ = 0;
  int to_ = -1;
  int from_ = -1;
  std::string version_;
  std::string unread_;
  std::map<std::string, std::vector<std::string>> answers_;
};

// The folder that get_peers has filled. Empty: it could not be, for want of a registry. Throws
// std::runtime_error if it was not called at all.
std::string peers_folder();

// A file that get_peers leaves there. Empty: it could not be fetched for want of a registry.
std::string peer_file(const std::string& name);

}  // namespace afar::test
