// A lock across machines is a lease: a holder that falls silent loses it, otherwise a crash would
// block everybody for ever. So a holder can be overtaken without noticing. A hold tells you when
// that happens, and its token lets the protected side refuse a write that comes too late.
#include <afar/afar.hpp>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <future>
#include <stop_token>
#include <string>

using namespace std::chrono_literals;

namespace {

// What is protected. It remembers the largest token it has seen and refuses smaller ones; check and
// write are one step. (Files, databases and servers can do the same: see afar::fence::in_file.)
struct ledger {
  afar::fence fence;
  std::string text;

  bool write(std::uint64_t token, const std::string& entry) {
    return fence.guard(token, [&] { text += entry + ";"; });
  }
};

int failures = 0;
void expect(bool right, const char* what) {
  std::printf("%s %s\n", right ? "  ok  " : "WRONG ", what);
  if (!right) ++failures;
}

}  // namespace

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : "local:";
  afar::client here{url};
  afar::client there{url};  // stands for another machine
  const std::string name = "ledger of " + std::to_string(::getpid());
  ledger books;

  // A hold is the lock as a value: it can be moved, kept, asked. Normally afar renews its lease in
  // the background for as long as the hold lives. Here renewal is off: that is what a holder looks
  // like that was suspended, swapped out or cut off from the network.
  afar::mutex mine{here, name};
  afar::hold slow = mine.acquire({.lease = 300ms, .renew = afar::renewal::off});
  expect(slow.valid() && books.write(slow.token(), "opening"), "the holder writes");

  // lost() is a std::stop_token. It fires before anybody else can get the lock.
  std::promise<void> told;
  std::stop_callback on_loss{slow.lost(), [&told] { told.set_value(); }};

  // Elsewhere somebody waits; when the lease has run out, it is their turn.
  afar::mutex theirs{there, name};
  afar::hold next = theirs.try_acquire_for(10s);
  expect(next.valid(), "another got it when the lease was over");
  expect(next.token() > slow.token(), "with a larger token");
  expect(books.write(next.token(), "closing"), "and writes");

  // The first holder wakes up.
  expect(!slow.valid(), "the first holder sees that it has lost it");
  expect(told.get_future().wait_for(10s) == std::future_status::ready, "and was told so");
  expect(slow.why() == afar::loss_reason::expired, "and why");
  expect(!books.write(slow.token(), "stale"), "its late write is refused by its token");
  expect(books.text == "opening;closing;", "so the books are right");

  // release() waits for the answer and says what happened; the destructor would not.
  std::error_code ec;
  slow.release(ec);
  expect(ec == afar::errc::lost, "releasing what was lost changes nothing");
  next.release(ec);
  expect(!ec, "releasing what is held works");
  return failures;
}
