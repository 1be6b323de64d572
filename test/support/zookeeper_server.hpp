// Real ZooKeeper servers of this test run: on free ports of the loopback device, with folders of their
// own, stopped by their process ids.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace afar::test {

class zookeeper_server {
 public:
  // Starts `servers` of them as one ensemble and returns when all serve; throws if they do not. They
  // die with the thread that starts them, so that a test that is killed leaves none behind: start them
  // on the main thread. `options`: further lines of their configuration, or of Java's (-D…).
  explicit zookeeper_server(std::size_t servers = 1, std::vector<std::string> options = {});
  zookeeper_server(const zookeeper_server&) = delete;
  zookeeper_server& operator=(const zookeeper_server&) = delete;
  ~zookeeper_server();

  std::size_t size() const noexcept { return all_.size(); }
  std::uint16_t port(std::size_t i = 0) const noexcept { return all_[i].client; }
  std::string address() const;  // "127.0.0.1:…,127.0.0.1:…"
  std::string address(std::size_t i) const;
  std::string url() const { return "zookeeper://" + address(); }
  std::string folder(std::size_t i = 0) const;

  void stop(std::size_t i = 0) noexcept;  // SIGKILL; what was confirmed is on its disk
  void start(std::size_t i = 0);          // again, on the same ports
  void suspend(std::size_t i = 0) noexcept;
  void resume(std::size_t i = 0) noexcept;

  // What the server answers to a word of four letters: "srvr", "mntr", "wchs" …
  std::string ask(const std::string& word, std::size_t i = 0) const;
  std::size_t leader() const;  // throws if there is none
  // The last lines of what each of them wrote about errors.
  std::string complaints() const;

 private:
  struct member {
    std::uint16_t client = 0;
    std::uint16_t peer = 0;
    std::uint16_t election = 0;
    pid_t pid = -1;
  };
  void write_configuration(std::size_t i) const;
  void launch(std::size_t i);
  bool serves(std::size_t i) const;
  void await();
  void start_all();

  const std::vector<std::string> options_;
  std::string folder_;
  std::vector<member> all_;
};

}  // namespace afar::test
