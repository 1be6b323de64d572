// The real afar binary (or any program) as a process of a test, on a terminal of its own or on pipes.
// Whoever made it ends it: the destructor kills it and waits for its end.
#pragma once

#include "process/scene.hpp"

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace afar::test {

using words_of = std::vector<std::string>;

enum class on : std::uint8_t { pipes, terminal };  // terminal: stdin, stdout and stderr

class program {
 public:
  using environment = std::map<std::string, std::string>;

  program(on, const words_of& command, const environment& more = {});
  program(const program&) = delete;
  program& operator=(const program&) = delete;
  ~program();

  pid_t pid() const { return pid_; }
  void type(const std::string& text) const;  // on its stdin
  void close_stdin();
  void signal(int number) const;

  // What it has printed so far; on a terminal everything is in out, with \r\n made \n.
  const std::string& out();
  const std::string& err();
  bool says(const std::string& text);  // in time, on either

  bool stops();  // in time
  int ends();    // its exit code, 128 + signal, or -1: not in time
  bool running();
  pid_t foreground() const;  // of its terminal

 private:
  void start_on_pipes(const words_of& command, const words_of& surroundings);
  void start_on_terminal(const words_of& command, const words_of& surroundings);
  void drain();

  pid_t pid_ = 0;
  int in_ = -1;
  int out_fd_ = -1;
  int err_fd_ = -1;
  bool reaped_ = false;
  int status_ = 0;
  std::string out_;
  std::string err_;
};

// afar with these words after it, and the engine of the scene.
words_of afar(words_of words);
program::environment engine_of(const scene&, const std::string& query = {});

// What a process of this id is, zombies aside.
bool alive(pid_t);
bool sleeps(pid_t);
std::vector<pid_t> members_of_group(pid_t group);
std::vector<pid_t> children_of(pid_t);

std::string contents(const std::string& path);
void write_file(const std::string& path, const std::string& text);

}  // namespace afar::test
