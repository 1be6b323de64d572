// Requests under way. What a flight needs is kept for the next one: so nothing is allocated for it but what
// the answers say.
#include "engines/zookeeper/session.hpp"

#include <afar/spi/own_thread.hpp>

#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>

namespace afar::engines::zookeeper {

namespace {
using namespace std::chrono_literals;
constexpr auto least_patience = 20ms;  // for an answer
constexpr auto most_patience = 200ms;
constexpr std::size_t most_kept = 64;  // requests of a flight that is used again
}  // namespace

// What libzookeeper carries for us as a pointer. The results of a multi must outlive it.
struct session::call {
  session& of;
  flights::iterator part_of;
  std::size_t index;
  bool under_way = false;
  std::vector<zoo_op_result_t> results = {};
  std::vector<std::string> created = {};

  void begin() {
    under_way = true;
    results.clear();
    created.clear();
  }
};

struct session::flight {
  std::vector<answer> answers = {};
  std::deque<call> calls = {};  // at least as many; they stay where they are
  std::size_t missing = 0;
  spi::time_point sent = {};
  landed then = nullptr;

  void tell() { std::exchange(then, nullptr)(answers); }
};

// libzookeeper's completions, one for each form of an answer.
struct trampoline {
  static session::call& begin(const void* data) {
    spi::own_thread = true;
    return *static_cast<session::call*>(const_cast<void*>(data));
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
    session::call& c = begin(data);
    answer a{.rc = rc};
    for (const zoo_op_result_t& r : c.results) a.parts.push_back(r.err);
    if (rc == ZOK)
      for (const std::string& path : c.created) a.names.emplace_back(path.c_str());
    end(c, std::move(a));
  }
  static void end(session::call& c, answer a) { c.of.land(c, std::move(a)); }
};

session::session(target to, keeper& k, session_events& told)
    : to_(std::move(to)), keeper_(k), told_(told), zk_(the_library()) {}

session::~session() { close(); }

void session::fly(std::span<const request> all, landed then) {
  flights one = idle_flight(all.size(), std::move(then));
  {
    const std::shared_lock inside{handle_mutex_};
    if (handle_ && !all.empty())
      one = send(std::move(one), all);
    else
      for (answer& a : one.front().answers) a.rc = ZCLOSING;
  }
  for (flight& f : one) f.tell();  // without the mutex: more may be sent then
}

session::flights session::idle_flight(std::size_t size, landed then) {
  flights one;
  {
    const std::lock_guard lock{m_};
    if (!idle_.empty()) one.splice(one.end(), idle_, idle_.begin());
  }
  if (one.empty()) one.emplace_back();
  flight& f = one.front();
  f.answers.resize(size);
  f.missing = size;
  f.then = std::move(then);
  while (f.calls.size() < size) f.calls.push_back({*this, one.begin(), f.calls.size()});
  return one;
}

// handle_mutex_ held, so nobody closes the handle meanwhile. What comes back has landed already, because not
// all of it could be sent.
session::flights session::send(flights one, std::span<const request> all) {
  flight& f = one.front();
  {
    const std::lock_guard lock{m_};
    f.sent = boot_clock::now();
    for (std::size_t i = 0; i < all.size(); ++i) f.calls[i].begin();
    flights_.splice(flights_.end(), one);
    if (!std::exchange(looking_, true)) look_again();
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    // It is there until its last call was answered, which is not sent before the others.
    call& c = f.calls[i];
    const int rc = submit(handle_, all[i], c);
    if (rc == ZOK) continue;
    const std::lock_guard lock{m_};
    one.splice(one.end(), answered(c, {.rc = rc}));
  }
  return one;
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

// m_ held. The flight, if that was its last answer.
session::flights session::answered(call& c, answer a) {
  flights whole;
  if (!std::exchange(c.under_way, false)) return whole;
  flight& f = *c.part_of;
  ++landed_;
  const auto took = std::min(boot_clock::now() - f.sent, patience());
  usual_ += (took - usual_) / 8;
  f.answers[c.index] = std::move(a);
  if (--f.missing == 0) whole.splice(whole.end(), flights_, c.part_of);
  return whole;
}

// Only libzookeeper calls this, and close() waits for it: so the session is still there after `then`, which
// may have been the last to hold it elsewhere. There a flight is not kept for the next one.
void session::land(call& c, answer a) {
  flights whole;
  {
    const std::lock_guard lock{m_};
    whole = answered(c, std::move(a));
  }
  if (whole.empty()) return;
  flight& f = whole.front();
  f.tell();
  f.answers.clear();
  if (f.calls.size() > most_kept) return;
  const std::lock_guard lock{m_};
  idle_.splice(idle_.begin(), whole);
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
    looking_ = !flights_.empty() && !closed_;
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
    flights whole;
    {
      const std::lock_guard lock{m_};
      if (flights_.empty()) return;
      for (call& c : flights_.front().calls)
        whole.splice(whole.end(), answered(c, {.rc = ZCLOSING}));
    }
    for (flight& f : whole) f.tell();
  }
}

}  // namespace afar::engines::zookeeper
