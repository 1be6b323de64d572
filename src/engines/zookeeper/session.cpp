#include "engines/zookeeper/session.hpp"

#include "engines/signals_off.hpp"

#include <afar/spi/own_thread.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace afar::engines::zookeeper {

namespace {
using namespace std::chrono_literals;
// Else it asks for the addresses of all servers whenever it reads or writes, which is more than half of its
// system calls. Without a connection it always asks.
constexpr std::chrono::milliseconds between_resolutions = 1s;
}  // namespace

zhandle_t* session::connect() {
  const signals_off here;  // its threads inherit the mask
  zhandle_t* made = zk_.init(to_.servers.c_str(), &session::on_event,
                             static_cast<int>(to_.session.count()), nullptr, this, 0);
  if (made) zk_.set_resolution_delay(made, static_cast<int>(between_resolutions.count()));
  const std::string& login = to_.login.reveal();
  if (made && !login.empty())
    zk_.add_auth(
        made, "digest", login.data(), static_cast<int>(login.size()), [](int, const void*) {},
        nullptr);
  return made;
}

// Another session, which nobody uses: it makes the servers look at what they have to do (see look).
zhandle_t* session::knock() {
  const signals_off here;
  return zk_.init(
      to_.servers.c_str(), [](zhandle_t*, int, int, const char*, void*) {},
      static_cast<int>(to_.session.count()), nullptr, nullptr, 0);
}

void session::open(spi::time_point by, const std::string& printable) {
  {
    const std::lock_guard alone{handle_mutex_};  // whoever is told of events finds the handle
    handle_ = connect();
  }
  if (!handle_) throw lock_error{errc::unavailable, printable, "no address of a server"};
  std::vector<zhandle_t*> knocks;
  std::unique_lock lock{m_};
  for (auto now = boot_clock::now(); now < by && !connected_ && !refused_;) {
    opened_.wait_for(lock, std::min<std::chrono::nanoseconds>(by - now, patience_to_open),
                     [&] { return connected_ || refused_; });
    now = boot_clock::now();
    if (connected_ || refused_ || now >= by) break;
    lock.unlock();
    knocks.push_back(knock());
    lock.lock();
  }
  lock.unlock();
  for (zhandle_t* zh : knocks)
    if (zh) zk_.close(zh);
  if (refused_) throw lock_error{errc::denied, printable, "the server refuses the login"};
  if (!connected_) throw lock_error{errc::unavailable, printable, "does not answer"};
}

void session::close() noexcept {
  closed_ = true;
  zhandle_t* last = nullptr;
  {
    const std::lock_guard alone{handle_mutex_};
    last = std::exchange(handle_, nullptr);
  }
  connected_ = false;
  if (last) zk_.close(last);
  land_rest();
}

// ---- events -------------------------------------------------------------------------------------

void session::on_event(zhandle_t* zh, int type, int state, const char*, void* context) {
  spi::own_thread = true;
  if (type == number::session_event) static_cast<session*>(context)->event(zh, state);
}

void session::on_change(zhandle_t* zh, int type, int, const char*, void* watch) {
  spi::own_thread = true;
  if (type == number::session_event) return;  // told to every watch; event() has it
  auto* self = static_cast<session*>(const_cast<void*>(the_library().get_context(zh)));
  self->told_.changed(reinterpret_cast<std::uintptr_t>(watch));
}

void session::event(zhandle_t* zh, int state) {
  {
    const std::shared_lock inside{handle_mutex_};
    if (zh != handle_) return;  // one that is being closed
  }
  if (state == number::expired_session) {
    connected_ = false;
    id_ = 0;
    told_.expired();
    return keeper_.soon([this] { replace(); });
  }
  const bool is_connected = state == number::connected;
  {
    const std::lock_guard lock{m_};
    connected_ = is_connected;
    alone_since_ = boot_clock::now();
    if (state == number::auth_failed) refused_ = true;
    if (is_connected) {
      id_ = zk_.client_id(zh)->client_id;
      timeout_ = zk_.recv_timeout(zh);
    }
    opened_.notify_all();
  }
  if (is_connected) told_.connected();
}

// A handle whose session has expired is of no use any more.
void session::replace() {
  zhandle_t* old = nullptr;
  {
    const std::lock_guard alone{handle_mutex_};
    if (closed_) return;
    zhandle_t* next = connect();
    if (next) old = std::exchange(handle_, next);
    const std::lock_guard lock{m_};
    alone_since_ = boot_clock::now();
  }
  if (old)
    zk_.close(old);
  else  // no memory, or no name server
    keeper_.at(boot_clock::now() + std::chrono::seconds{1}, [this] { replace(); });
}

}  // namespace afar::engines::zookeeper
