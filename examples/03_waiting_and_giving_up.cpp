// Every wait in afar can be bounded by time and ended from outside, and every call that throws has
// a twin that reports a std::error_code instead. Busy is an answer, not an error.
#include <afar/afar.hpp>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <stop_token>
#include <string>
#include <thread>

using namespace std::chrono_literals;

namespace {

int failures = 0;
void expect(bool right, const char* what) {
  std::printf("%s %s\n", right ? "  ok  " : "WRONG ", what);
  if (!right) ++failures;
}

}  // namespace

int main(int argc, char** argv) {
  const char* url = argc > 1 ? argv[1] : "local:";
  afar::client here{url};
  afar::client there{url};  // stands for another program
  const std::string name = "printer of " + std::to_string(::getpid());

  afar::mutex theirs{there, name};
  afar::hold busy = theirs.acquire();  // from now on the printer is taken

  // 1. Do not wait at all, or not for long. As with std::timed_mutex, false means: not yours.
  afar::mutex mine{here, name};
  expect(!mine.try_lock(), "try_lock: busy");
  const auto start = std::chrono::steady_clock::now();
  expect(!mine.try_lock_for(50ms), "try_lock_for: still busy");
  expect(std::chrono::steady_clock::now() - start >= 50ms, "it waited for 50 ms");

  // 2. The same without exceptions: the code says why there is nothing.
  std::error_code ec;
  afar::hold none = mine.try_acquire_for(50ms, {}, ec);
  expect(!none && ec == afar::errc::timed_out, "try_acquire_for: an empty hold and a reason");
  expect(ec == std::errc::timed_out, "which is std's reason too");

  // 3. Give up because the program wants to end: a std::stop_token reaches into the wait. Nothing
  // stays behind, no place in the queue and no lock that arrives too late.
  std::stop_source program;
  std::jthread signal{[&program] { program.request_stop(); }};
  none = mine.acquire({.stop = program.get_token()}, ec);
  expect(!none && ec == afar::errc::cancelled, "acquire: cancelled by a stop token");

  // 4. Errors that are not "busy" are exceptions, unless you pass an error_code.
  try {
    afar::mutex nameless{here, ""};
    expect(false, "a name must not be empty");
  } catch (const afar::lock_error& error) {
    std::printf("       (%s)\n", error.what());
    expect(error.code() == afar::errc::bad_argument, "lock_error: it says which name and why");
  }
  afar::client nowhere{"no-such-engine://", {}, ec};
  expect(ec == afar::errc::bad_url, "a client that cannot be opened says so");

  // 5. Waiting pays: as soon as the other one is done, the next in line has it.
  std::jthread other{[&busy] { busy.release(); }};
  expect(mine.try_lock_for(10s), "try_lock_for: free at last");
  mine.unlock();
  return failures;
}
