// A file system that is full: steps fail with an error, nothing is granted twice, and all goes on when
// there is room again.
#include "sql_fixture.hpp"

#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace afar::test {
namespace {

// A small file system in memory.
class small_disk {
 public:
  small_disk() {
    path_ = (std::filesystem::temp_directory_path() / "afar-disk-XXXXXX").string();
    if (!::mkdtemp(path_.data())) return;
    there_ = ::mount("none", path_.c_str(), "tmpfs", 0, "size=160m,mode=0755") == 0;
  }
  ~small_disk() {
    if (there_) ::umount2(path_.c_str(), MNT_DETACH);
    ::rmdir(path_.c_str());
  }
  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;

  bool there() const { return there_; }
  const std::string& path() const { return path_; }

  void fill() const {
    std::ofstream file{ballast(), std::ios::binary | std::ios::app};
    for (const std::size_t size : {std::size_t{1} << 20U, std::size_t{4096}})
      for (const std::string bytes(size, 'x');
           file.write(bytes.data(), std::ssize(bytes)).flush();) {
      }
  }
  void empty() const { std::filesystem::remove(ballast()); }

 private:
  std::string ballast() const { return path_ + "/ballast"; }

  std::string path_;
  bool there_ = false;
};

class sql_room : public sql_test {
 protected:
  void SetUp() override {
    if (!disk.there()) GTEST_SKIP() << "only root can mount";
  }
  const small_disk disk;
};

TEST_P(sql_room, that_is_used_up_is_an_error_and_grants_nothing_twice) {
  sql_server server{GetParam(), sql_setting{.within = disk.path()}};
  client one = open_client(server.url(), {.lease = 10min, .patience = 1s});
  client two = open_client(server.url(), {.lease = 10min, .patience = 1s});
  hold held = mutex(one, name).acquire();
  disk.fill();
  std::error_code failed;
  // Rows as large as they get: the room that the server has in reserve goes, too.
  const std::string much(900, 'n');
  for (int i = 0; i < 200'000 && !failed; ++i)
    counter(one, name + much + std::to_string(i)).store(1, failed);
  EXPECT_TRUE(failed == errc::no_room || failed == errc::unavailable ||
              failed == errc::unknown_outcome)
      << failed.message();
  std::error_code busy;
  EXPECT_FALSE(mutex(two, name).try_acquire({}, busy)) << "granted twice";
  disk.empty();
  // A server that has ended itself over it is started again by whoever looks after it.
  const auto goes_on = [&] {
    try {
      return counter(open_client(server.url()), name + "/after").fetch_add(0) == 0;
    } catch (const lock_error&) {
      return false;
    }
  };
  if (!eventually(goes_on, 10s)) {
    server.stop();
    server.start();
  }
  EXPECT_TRUE(eventually(goes_on, long_time));
  EXPECT_FALSE(mutex(two, name).try_acquire()) << "granted twice";
  EXPECT_TRUE(held.valid());
  const auto token = held.token();
  held.release();
  EXPECT_GT(mutex(two, name).acquire().token(), token);
}

AFAR_FOR_EVERY_DATABASE(sql_room);

}  // namespace
}  // namespace afar::test
