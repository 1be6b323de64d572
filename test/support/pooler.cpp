#include "support/pooler.hpp"

#include "support/loopback.hpp"
#include "support/patience.hpp"
#include "support/server_process.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace afar::test {
namespace {

bool listens(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool yes = ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
  ::close(fd);
  return yes;
}

}  // namespace

pooler::pooler(std::uint16_t server, int sessions)
    : folder_(make_folder(server_user("postgres"))), port_(free_port()) {
  std::ofstream{folder_ + "/users"} << "\"postgres\" \"\"\n";
  std::ofstream{folder_ + "/ini"} << "[databases]\npostgres = host=127.0.0.1 port=" << server
                                  << "\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = "
                                  << port_ << "\nunix_socket_dir =\nauth_type = trust\nauth_file = "
                                  << folder_ << "/users\npool_mode = transaction\n"
                                  << "default_pool_size = " << sessions
                                  << "\nmax_client_conn = 300\n";
  pid_ = launch({"pgbouncer", folder_ + "/ini"}, server_user("postgres"), folder_ + "/log");
  bool ended = false;
  const bool up = eventually(
      [&] {
        ended = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
        return ended || listens(port_);
      },
      10s);
  if (ended) pid_ = -1;
  if (up && !ended) return;
  stop();
  throw std::runtime_error{"pgbouncer does not start (is the package installed?)"};
}

pooler::~pooler() { stop(); }

void pooler::stop() noexcept {
  if (pid_ >= 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace afar::test
