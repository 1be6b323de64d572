#include "support/sql_server.hpp"

#include "support/loopback.hpp"
#include "support/patience.hpp"
#include "support/server_process.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace afar::test {
namespace {

// Where Debian keeps PostgreSQL's programs: the newest version.
std::string postgres_program(const std::string& name) {
  std::string found = name;
  const std::filesystem::path all{"/usr/lib/postgresql"};
  if (!std::filesystem::exists(all)) return found;
  for (const auto& version : std::filesystem::directory_iterator{all})
    if (const auto file = version.path() / "bin" / name; std::filesystem::exists(file))
      found = std::max(found.starts_with('/') ? found : std::string{}, file.string());
  return found;
}

// Whether something that listens there begins to talk, once it was greeted.
bool talks(std::uint16_t port, const std::string& greeting) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  bool heard = false;
  if (::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) {
    if (!greeting.empty()) (void)::send(fd, greeting.data(), greeting.size(), MSG_NOSIGNAL);
    pollfd readable{fd, POLLIN, 0};
    char first = 0;
    heard = ::poll(&readable, 1, 5'000) > 0 && ::recv(fd, &first, 1, 0) == 1 && first != 'E';
  }
  ::close(fd);
  return heard;
}

// PostgreSQL's start-up message: version 3.0, user and database "postgres".
std::string startup_message() {
  std::string body{"\0\3\0\0user\0postgres\0database\0postgres\0\0", 37};
  const auto size = static_cast<std::uint32_t>(body.size() + 4);
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift & 0xffU);
  return out + body;
}

user owner(database what) { return server_user(what == database::mariadb ? "mysql" : "postgres"); }

// A data folder as the server's own program makes it, kept in the build folder: that takes seconds,
// and a copy much less.
std::string fresh_data(database what) {
  namespace fs = std::filesystem;
  const bool maria = what == database::mariadb;
  const fs::path kept = fs::path{AFAR_TEST_DATA} / (maria ? "mariadb" : "postgresql");
  if (fs::exists(kept)) return kept;
  const user as = owner(what);
  const std::string made = make_folder(as);
  if (maria)
    run({"mariadb-install-db", "--no-defaults", "--datadir=" + made + "/data",
         "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve",
         "--innodb-log-file-size=16M", "--tmpdir=" + made},
        as, made + "/log");
  else
    run({postgres_program("initdb"), "-D", made + "/data", "-A", "trust", "-U", "postgres", "-N",
         "--no-locale", "-E", "UTF8"},
        as, made + "/log");
  fs::create_directories(kept.parent_path());
  const fs::path mine = kept.string() + "." + std::to_string(::getpid());
  copy_folder(made + "/data", mine, {::getuid(), ::getgid()});
  std::error_code other_was_first;
  fs::rename(mine, kept, other_was_first);
  if (other_was_first) fs::remove_all(mine);
  fs::remove_all(made);
  return kept;
}

}  // namespace

sql_server::sql_server(database what, std::vector<std::string> options)
    : sql_server(what, sql_setting{.options = std::move(options)}) {}

sql_server::sql_server(database what, sql_setting s)
    : what_(what), setting_(std::move(s)), folder_(make_folder(owner(what), setting_.within)) {
  try {
    make_data();
    for (int attempt = 0;; ++attempt) {
      port_ = free_port();
      try {
        start();
        return;
      } catch (const std::runtime_error&) {
        if (attempt == 2) throw;
      }
    }
  } catch (...) {
    remove();
    throw;
  }
}

sql_server::~sql_server() {
  stop();
  remove();
}

void sql_server::remove() const noexcept {
  if (std::getenv("AFAR_KEEP_SERVERS")) return;  // to look at their logs
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string sql_server::address(std::uint16_t through) const {
  const std::string at = "127.0.0.1:" + std::to_string(through);
  return what_ == database::mariadb ? "afar:secret@" + at + "/afar"
                                    : "postgres@" + at + "/postgres";
}

void sql_server::make_data() const {
  const std::string to = folder_ + "/data";
  if (setting_.standby_of != 0 && what_ == database::postgresql)
    return run({postgres_program("pg_basebackup"), "-D", to, "-R", "-h", "127.0.0.1", "-p",
                std::to_string(setting_.standby_of), "-U", "postgres", "-c", "fast"},
               owner(what_), folder_ + "/log");
  copy_folder(fresh_data(what_), to, owner(what_));
  if (what_ == database::mariadb)
    std::ofstream{folder_ + "/init.sql"}
        << "CREATE DATABASE IF NOT EXISTS afar;\n"
           "CREATE USER IF NOT EXISTS afar@'127.0.0.1' IDENTIFIED BY 'secret';\n"
           "GRANT ALL ON *.* TO afar@'127.0.0.1' WITH GRANT OPTION;\n";
}

// Commits need not survive a power cut; they survive a killed server.
std::vector<std::string> sql_server::command_line() const {
  const std::string port = std::to_string(port_);
  std::vector<std::string> words;
  if (what_ == database::mariadb)
    words = {"mariadbd",
             "--no-defaults",
             "--datadir=" + folder_ + "/data",
             "--bind-address=127.0.0.1",
             "--port=" + port,
             "--socket=" + folder_ + "/s.sock",
             "--pid-file=" + folder_ + "/pid",
             "--skip-name-resolve",
             "--init-file=" + folder_ + "/init.sql",
             "--innodb-buffer-pool-size=32M",
             "--innodb-log-file-size=16M",
             "--innodb-flush-log-at-trx-commit=2",
             "--innodb-log-file-buffering=ON",
             "--tmpdir=" + folder_,  // else two servers can meet in a temporary file's name
             "--performance-schema=OFF",
             "--max-connections=500"};
  else
    words = {postgres_program("postgres"),
             "-D",
             folder_ + "/data",
             "-p",
             port,
             "-c",
             "listen_addresses=127.0.0.1",
             "-c",
             "unix_socket_directories=" + folder_,
             "-c",
             "shared_buffers=32MB",
             "-c",
             "fsync=off",
             "-c",
             "max_connections=300"};
  for (std::string option : setting_.options) {
    if (const auto at = option.find("{folder}"); at != std::string::npos)
      option.replace(at, 8, folder_);
    words.push_back(std::move(option));
  }
  return words;
}

void sql_server::start() {
  std::vector<std::string> environment;
  if (setting_.clock == wall_clock::its_own) {
    if (!std::filesystem::exists(folder_ + "/clock")) shift_clock({});
    environment = own_clock{folder_}.environment();
  }
  if (!setting_.zone.empty()) environment.push_back("TZ=" + setting_.zone);
  pid_ = launch(command_line(), owner(what_), folder_ + "/log", environment);
  bool ended = false;
  const bool up = eventually(
      [&] {
        ended = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
        return ended || answers();
      },
      30s);
  if (ended) pid_ = -1;
  if (up && !ended) return;
  stop();
  throw std::runtime_error{"the database does not start, see " + folder_ + "/log"};
}

bool sql_server::answers() const {
  return talks(port_, what_ == database::mariadb ? std::string{} : startup_message());
}

void sql_server::stop() noexcept {
  if (pid_ < 0) return;
  kill_all(pid_);
  pid_ = -1;
}

void sql_server::suspend() noexcept { signal_all(pid_, SIGSTOP); }
void sql_server::resume() noexcept { signal_all(pid_, SIGCONT); }

}  // namespace afar::test
