// The stage of a process test: a folder of its own in memory, where processes meet on the embedded
// engine, and a look into what the engine stores.
#pragma once

#include <afar/client.hpp>
#include <afar/spi/engine.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace afar::test {

class scene {
 public:
  scene();
  scene(const scene&) = delete;
  scene& operator=(const scene&) = delete;
  ~scene();

  // Of the engine.
  const std::string& url() const { return url_; }
  // A file beside it.
  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  afar::client client(client_options = {}) const;

  // Everything the engine knows, by an engine of its own that is closed again.
  std::vector<spi::entry> survey() const;
  // Of one name; an entry without holders and waiters if there is none.
  spi::entry look(const std::string& name) const;
  // Waits until as many stand in line and hold; false: not in time.
  bool becomes(const std::string& name, std::size_t holders, std::size_t waiters) const;

 private:
  std::string folder_;
  std::string url_;
};

// Of this process.
std::size_t open_files();
std::size_t running_threads();

// An environment variable as a number.
long setting(const char* variable, long otherwise);

inline std::int64_t stamp() { return boot_clock::now().time_since_epoch().count(); }

// Collects durations and prints "what: n=… p50=… p99=… max=… ms".
class durations {
 public:
  void add(std::chrono::nanoseconds d) { all_.push_back(d); }
  std::chrono::nanoseconds at(double part) const;
  void print(const std::string& what) const;
  std::size_t size() const { return all_.size(); }

 private:
  std::vector<std::chrono::nanoseconds> all_;
};

}  // namespace afar::test
