// Disks that are full for a moment, and clocks that are set.
#include "support/own_clock.hpp"
#include "support/redis_server.hpp"
#include "support/sql_server.hpp"
#include "torture/process.hpp"
#include "torture/runs.hpp"
#include "torture/server_faults.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace afar::test {
namespace {

using namespace std::chrono_literals;

// A file system of 64 MB.
class small_disk {
 public:
  small_disk() : folder_("afar-torture-disk") {
    mounted_ = ::mount("none", path().c_str(), "tmpfs", 0, "size=64m,mode=0700") == 0;
  }
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;
  ~small_disk() {
    if (mounted_) ::umount2(path().c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  const std::string& path() const { return folder_.path(); }

  bool fill() const {
    const int fd = ::open(filler().c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const std::array<char, 65536> block{};
    std::size_t size = block.size();
    while (size > 0)
      if (::write(fd, block.data(), size) <= 0) size /= 2;
    ::close(fd);
    return fd >= 0;
  }
  void make_room() const { ::unlink(filler().c_str()); }

 private:
  std::string filler() const { return path() + "/filler"; }

  const torture::temporary_folder folder_;
  bool mounted_ = false;
};

fault squeeze_disk(const small_disk& disk) {
  return {"fill the disk", 2, false, [&disk](dice& d) {
            const bool full = disk.fill();
            pass_time(std::chrono::milliseconds{100 + d() % 900});
            disk.make_room();
            return full;
          }};
}

TEST(tortures, embedded_squeezed) {
  const small_disk disk;
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount here";
  torment({.url = "file://" + disk.path() + "/store", .more = {squeeze_disk(disk)}});
}

TEST(tortures, redis_squeezed) {
  const small_disk disk;
  if (!disk.mounted()) GTEST_SKIP() << "cannot mount here";
  const redis_server server{{"--dir", disk.path(), "--appendonly", "yes"}};
  torment({.url = server.url(), .more = {squeeze_disk(disk), squeeze_memory(server)}});
}

// Leases on a server's wall clock end early or late by as much as it is set: a second holder is then
// outside of the guarantees, tokens are not.
template <class Server>
fault set_servers_clock(const Server& s) {
  return {"set the server's clock", 2, true, [&s](dice& d) {
            s.shift_clock(d() % 2 == 0 ? 2s : -2s);
            pass_time(std::chrono::milliseconds{200 + d() % 800});
            s.shift_clock(0s);
            return true;
          }};
}

// No client looks at its own wall clock: nothing may come of it.
fault set_clients_clocks(const own_clock& clients) {
  return {"set the clients' clocks", 3, false, [&clients](dice& d) {
            clients.shift(d() % 2 == 0 ? 1h : -1h);
            pass_time(std::chrono::milliseconds{200 + d() % 800});
            clients.shift(0s);
            return true;
          }};
}

// Workers inherit the environment; what was started before has its own.
template <class Server>
void torment_clocks(const Server& server) {
  const torture::temporary_folder folder{"afar-torture-clock"};
  const own_clock clients{folder.path()};
  clients.shift(0s);
  for (const std::string& setting : clients.environment()) {
    const auto equals = setting.find('=');
    ::setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), 1);
  }
  torment({.url = server.url(), .more = {set_servers_clock(server), set_clients_clocks(clients)}});
  ::unsetenv("LD_PRELOAD");
}

TEST(tortures, redis_clocks) { torment_clocks(redis_server{{}, wall_clock::its_own}); }
TEST(tortures, mysql_clocks) {
  torment_clocks(sql_server{database::mariadb, sql_setting{.clock = wall_clock::its_own}});
}
TEST(tortures, postgresql_clocks) {
  torment_clocks(sql_server{database::postgresql, sql_setting{.clock = wall_clock::its_own}});
}

}  // namespace
}  // namespace afar::test
