#include "engines/zookeeper/session.hpp"

#include "engines/signals_off.hpp"

#include <afar/spi/own_thread.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace afar::engines::zookeeper {

namespace {
using namespace std::chrono_literals;
constexpr auto least_patience = 20ms;  // for an answer
constexpr auto most_patience = 200ms;
constexpr auto patience_to_open = 1s;
// Else it asks for the addresses of all servers whenever it reads or writes, which is more than half of its
// system calls. Without a connection it always asks.
constexpr std::chrono::milliseconds between_resolutions = 1s;
}  // namespace

struct session::flight {
  std::vector<answer> answers;
  std::atomic<std::size_t> missing;
  landed then;
};

// What libzookeeper carries for us as a pointer. The results of a multi must outlive it.
struct session::call {
  session& of;
  std::shared_ptr<flight> part_of;
  std::size_t index;
  spi::time_point sent = boot_clock::now();
  std::vector<zoo_op_result_t> results = {};
  std::vector<std::string> created = {};
};

// libzookeeper's completions, one for each form of an answer.
struct trampoline {
  static session::call* begin(const void* data) {
    spi::own_thread = true;
    return static_cast<session::call*>(const_cast<void*>(data));
  }
  static void string_stat(int rc, const char* text, const Stat* stat, const void* data) {
    answer a{.rc = rc};
    if (rc == ZOK && text) a.text = text;
    if (rc == ZOK && stat) a.stat = *stat;
    end(begin(data), std::move(a));
  }
  static void string(int rc, const char*, const void* data) { end(begin(data), {.rc = rc}); }
  static void stat(int rc, const Stat* stat, const void* data) {
    answer a{.rc = rc};
    if (rc == ZOK && stat) a.stat = *stat;
    end(begin(data), std::move(a));
  }
  static void data(int rc, const char* text, int size, const Stat* stat, const void* data) {
    answer a{.rc = rc};
    if (rc == ZOK && text && size > 0) a.text.assign(text, static_cast<std::size_t>(size));
    if (rc == ZOK && stat) a.stat = *stat;
    end(begin(data), std::move(a));
  }
  static void strings(int rc, const String_vector* names, const Stat* stat, const void* data) {
    answer a{.rc = rc};
    if (rc == ZOK && names) a.names.assign(names->data, names->data + names->count);
    if (rc == ZOK && stat) a.stat = *stat;
    end(begin(data), std::move(a));
  }
  static void nothing(int rc, const void* data) {
    session::call* c = begin(data);
    answer a{.rc = rc};
    for (const zoo_op_result_t& r : c->results) a.parts.push_back(r.err);
    if (rc == ZOK)
      for (const std::string& path : c->created) a.names.emplace_back(path.c_str());
    end(c, std::move(a));
  }
  static void end(session::call* c, answer a) { c->of.land(c, std::move(a)); }
};

session::session(target to, keeper& k, session_events& told)
    : to_(std::move(to)), keeper_(k), told_(told), zk_(the_library()) {}

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

// ---- requests -----------------------------------------------------------------------------------

void session::fly(request r, landed then) {
  std::vector<request> one;
  one.push_back(std::move(r));
  fly(std::move(one), std::move(then));
}

void session::fly(std::vector<request> all, landed then) {
  auto f = std::make_shared<flight>();
  f->answers.resize(all.size());
  f->missing = all.size();
  f->then = std::move(then);
  if (all.empty()) return f->then(f->answers);
  for (std::size_t i = 0; i < all.size(); ++i) send(f, i, all[i]);
}

void session::send(const std::shared_ptr<flight>& f, std::size_t index, const request& r) {
  auto* c = new call{*this, f, index};
  int rc = ZCLOSING;
  {
    const std::shared_lock inside{handle_mutex_};
    {
      const std::lock_guard lock{m_};
      calls_.insert(c);
      if (!std::exchange(looking_, true)) look_again();
    }
    if (handle_) rc = submit(handle_, r, *c);
  }
  if (rc != ZOK) land(c, {.rc = rc});
}

namespace {

const char* bytes(const request& r) { return r.data.data(); }
int size(const request& r) { return static_cast<int>(r.data.size()); }

constexpr int every_right = 31;
char world_scheme[] = "world";
char anyone[] = "anyone";
char auth_scheme[] = "auth";
char nobody[] = "";
ACL for_all{every_right, {world_scheme, anyone}};
ACL for_this_login{every_right, {auth_scheme, nobody}};
const ACL_vector open_acl{1, &for_all};
const ACL_vector login_acl{1, &for_this_login};

}  // namespace

int session::submit(zhandle_t* zh, const request& r, call& c) {
  const char* path = r.path.c_str();
  const watcher_fn watcher = r.watch == 0 ? nullptr : &session::on_change;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a number, which nobody follows
  void* const watch = reinterpret_cast<void*>(static_cast<std::uintptr_t>(r.watch));
  const ACL_vector* acl = to_.login.empty() ? &open_acl : &login_acl;
  switch (r.what) {
    case request::verb::create:
      return zk_.acreate2(zh, path, bytes(r), size(r), acl, static_cast<int>(r.mode),
                          &trampoline::string_stat, &c);
    case request::verb::remove:
      return zk_.adelete(zh, path, r.version, &trampoline::nothing, &c);
    case request::verb::set:
      return zk_.aset(zh, path, bytes(r), size(r), r.version, &trampoline::stat, &c);
    case request::verb::get:
      return zk_.awget(zh, path, watcher, watch, &trampoline::data, &c);
    case request::verb::exists:
      return zk_.awexists(zh, path, watcher, watch, &trampoline::stat, &c);
    case request::verb::children:
      return zk_.awget_children2(zh, path, watcher, watch, &trampoline::strings, &c);
    case request::verb::sync:
      return zk_.async(zh, path, &trampoline::string, &c);
    case request::verb::check:  // only as a part of a multi
    case request::verb::multi:
      return submit_multi(zh, r, c);
  }
  return ZBADARGUMENTS;
}

int session::submit_multi(zhandle_t* zh, const request& r, call& c) {
  const ACL_vector* acl = to_.login.empty() ? &open_acl : &login_acl;
  std::vector<zoo_op_t> ops(r.parts.size());
  c.results.resize(r.parts.size());
  c.created.resize(r.parts.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const request& part = r.parts[i];
    const char* path = part.path.c_str();
    if (part.what == request::verb::create) {
      c.created[i].resize(part.path.size() + 16);
      zk_.create_op_init(&ops[i], path, bytes(part), size(part), acl, static_cast<int>(part.mode),
                         c.created[i].data(), static_cast<int>(c.created[i].size()));
    } else if (part.what == request::verb::remove) {
      zk_.delete_op_init(&ops[i], path, part.version);
    } else if (part.what == request::verb::set) {
      zk_.set_op_init(&ops[i], path, bytes(part), size(part), part.version, nullptr);
    } else {
      zk_.check_op_init(&ops[i], path, part.version);
    }
  }
  return zk_.amulti(zh, static_cast<int>(ops.size()), ops.data(), c.results.data(),
                    &trampoline::nothing, &c);
}

void session::land(call* c, answer a) {
  {
    const std::lock_guard lock{m_};
    if (calls_.erase(c) == 0) return;
    ++landed_;
    const auto took = std::min(boot_clock::now() - c->sent, patience());
    usual_ += (took - usual_) / 8;
  }
  const std::unique_ptr<call> ended{c};
  flight& f = *c->part_of;
  f.answers[c->index] = std::move(a);
  if (f.missing.fetch_sub(1) == 1) std::exchange(f.then, nullptr)(f.answers);
}

// A server of 3.6.0 to 3.8.0 may fall asleep on an answer (ZOOKEEPER-4537) until anything else is asked
// of it, or committed: with few clients that takes as long as a client's silence may last. So who gets no
// answer for a moment asks for something; who gets no session, by another one.
void session::look() {
  constexpr int most = 4;  // it may be a server that is gone
  bool nothing_came = false;
  bool is_alone = false;
  {
    const std::lock_guard lock{m_};
    looking_ = !calls_.empty() && !closed_;
    if (!looking_) return;
    nothing_came = landed_ == seen_ && connected_ && knocks_ < most;
    if (nothing_came) ++knocks_;
    const auto now = boot_clock::now();
    is_alone = !connected_ && now - alone_since_ > patience_to_open;
    if (is_alone) alone_since_ = now;
    look_again();
  }
  if (is_alone)
    if (zhandle_t* const other = knock())
      keeper_.at(boot_clock::now() + patience_to_open, [&zk = zk_, other] { zk.close(other); });
  if (nothing_came)
    fly(ask::exists("/"), [this](std::vector<answer>&) {
      const std::lock_guard lock{m_};
      --knocks_;
    });
}

// m_ held.
void session::look_again() {
  seen_ = landed_;
  keeper_.at(boot_clock::now() + patience(), [this] { look(); });
}

std::chrono::nanoseconds session::patience() const noexcept {
  return std::clamp<std::chrono::nanoseconds>(4 * usual_, least_patience, most_patience);
}

// libzookeeper forgets some of what is under way when a handle is closed (ZOOKEEPER-3868).
void session::land_rest() {
  for (;;) {
    call* left = nullptr;
    {
      const std::lock_guard lock{m_};
      if (calls_.empty()) return;
      left = *calls_.begin();
    }
    land(left, {.rc = ZCLOSING});
  }
}

}  // namespace afar::engines::zookeeper
