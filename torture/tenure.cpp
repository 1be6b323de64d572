#include "torture/tenure.hpp"

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

namespace afar::torture {

using namespace std::chrono_literals;
using std::chrono::microseconds;

tenure::tenure(hand& me, std::vector<held_lock> locks, std::function<bool()> valid,
               std::function<boot_clock::time_point()> until)
    : me_(me), locks_(std::move(locks)), valid_(std::move(valid)), until_(std::move(until)) {
  const auto end = stamp(until_());
  for (const held_lock& l : locks_)
    me_.note(l.object, {.what = act::granted, .until = end, .token = l.token, .weight = l.weight});
  me_.count_grant();
  me_.be(doing::working);
  if (end == 0) look();
}

void tenure::spend() {
  rest();
  write_something();
  look();
}

void tenure::rest() {
  const auto n = me_.any(1000);
  const auto lease = static_cast<std::uint64_t>(microseconds{me_.at.todo.lease}.count());
  std::uint64_t us = 0;
  if (n >= 900) us = me_.any(1'000);
  if (n >= 980) us = me_.any(10'000);
  if (n >= 999) us = me_.any(2 * lease);
  const auto end = boot_clock::now() + microseconds{us};
  while (!gone_) {
    const auto left = end - boot_clock::now();
    if (left <= 0ns) break;
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(left, 5ms));
    look();
  }
}

// Half of them do not ask before they write, so that the fence is what protects; as when a pause comes
// right after the question. It is aimed at.
void tenure::write_something() {
  const held_lock& l = locks_[me_.any(locks_.size())];
  const bool mine_alone = l.weight == me_.at.todo.objects[l.object].capacity();
  if (!mine_alone || !me_.chance(20)) return;  // a fence is for one holder at a time
  if (me_.chance(50)) {
    look();
  } else {
    me_.be(doing::about_to_write);
    std::this_thread::sleep_for(100us);
  }
  const entry line{l.token, l.object};
  const bool admitted = me_.at.fences[l.object].guard(l.token, [&] {
    if (::write(me_.at.protected_file, &line, sizeof line) != sizeof line)
      std::perror("protected file");
  });
  me_.note(l.object, {.what = admitted ? act::wrote : act::refused, .token = l.token});
  if (!admitted) me_.at.record.head().refused++;
}

// Stamped before the question: what is valid later was valid then.
void tenure::look() {
  const auto asked = now();
  const bool yes = valid_();
  if (yes && gone_) broke(broken_here::valid_after_loss, locks_.front().token);
  gone_ = !yes;
  if (!yes) return;
  const auto until = stamp(until_());
  for (const held_lock& l : locks_)
    me_.note(l.object, {.what = act::valid, .at = asked, .until = until, .token = l.token});
}

void tenure::end() const {
  for (const held_lock& l : locks_) me_.note(l.object, {.what = act::done, .token = l.token});
  me_.be(doing::releasing);
}

void tenure::broke(broken_here what, std::uint64_t token) const {
  me_.note(locks_.front().object,
           {.what = act::broke, .token = token, .value = static_cast<std::int64_t>(what)});
}

}  // namespace afar::torture
