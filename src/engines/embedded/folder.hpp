// The folder in which processes of one machine and one user meet: where it is, whether it may be
// used, and what it says about itself. Opening is serialised between processes by a lock file;
// whoever comes first after a boot clears what an earlier boot left behind.
#pragma once

#include "engines/embedded/file.hpp"

#include <afar/spi/engine.hpp>
#include <afar/spi/url.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace afar::engines::embedded {

struct address {
  std::string path;
  bool durable = false;     // every step that changes a cell or a ledger reaches the disk
  bool well_known = false;  // a path that others could have prepared: follow no link
};

// Throws failure (errc::bad_url) for an unknown option or a path that makes no sense.
address address_of(const spi::url&);

class folder {
 public:
  // Creates the folder (not its parents) if it is missing, checks it and locks it against other
  // openers until opened(). Throws failure: errc::denied, errc::unavailable …, naming the path and
  // the way out.
  folder(const address&, spi::time_point by);

  // The first opener since the machine booted: what lies here is of the past (see past.hpp).
  bool new_boot() const noexcept { return new_boot_; }
  // Which boot the processes of this folder live in; the one before if this is its first opener; and
  // what the file says by now, which differs if somebody with another boot id came since.
  const std::string& boot() const noexcept { return boot_; }
  const std::string& earlier_boot() const noexcept { return earlier_boot_; }
  std::string boot_of_file() const;
  // Writes down that the past is cleared.
  void begin_boot();
  // Ends the opening: others may open now.
  void opened() noexcept { lock_.reset(); }

  // Makes `name` of `bytes` (zeros, then filled) unless it is there, and maps it.
  shared_mapping map(const std::string& name, std::size_t bytes, void (*fill)(void*)) const {
    return shared_mapping{open_shared(name, bytes, fill), bytes, file(name)};
  }

  const std::string& path() const noexcept { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  bool durable() const noexcept { return durable_; }
  bool in_memory() const noexcept { return in_memory_; }  // gone after a reboot
  std::uint64_t device() const noexcept { return device_; }
  std::uint64_t inode() const noexcept { return inode_; }

  // What to add to boot_clock: one time for all processes, comparable across boots, close to the
  // calendar, and deaf to steps of the calendar clock.
  boot_clock::duration calendar_offset() const noexcept { return offset_; }

 private:
  void check(const address&);
  void lock(spi::time_point by);
  void check_format();
  void read_boot();
  void remember_durable(bool asked);
  unique_fd open_shared(const std::string& name, std::size_t bytes, void (*fill)(void*)) const;

  std::string path_;
  unique_fd self_;
  unique_fd lock_;
  bool durable_ = false;
  bool in_memory_ = false;
  bool new_boot_ = false;
  std::string boot_;
  std::string earlier_boot_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  boot_clock::duration offset_{};
};

}  // namespace afar::engines::embedded
