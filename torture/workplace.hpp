// What the threads of one worker share.
#pragma once

#include "torture/plan.hpp"
#include "torture/record.hpp"

#include <afar/client.hpp>
#include <afar/fence.hpp>
#include <afar/observer.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace afar::torture {

// What the calling thread is called in the record.
inline thread_local std::uint16_t this_thread = no_thread;

// The library's own word on when it lets go and when it knows of a loss; and what it got, of locks that a
// multi_lock may let go of without a word to its caller.
class library_log final : public observer {
 public:
  library_log(const plan& p, const recorder& to) : record_(to) {
    const auto members = p.members();
    for (std::uint16_t i = 0; i < static_cast<std::uint16_t>(p.objects.size()); ++i)
      objects_.emplace(p.objects[i].name, known{i, std::ranges::count(members, i) != 0});
  }
  void on(const afar::event& e) noexcept override {
    const act what = act_of(e.what);
    if (what == act::none) return;
    const auto found = objects_.find(e.name);
    if (found == objects_.end() || (what == act::acquired && !found->second.member)) return;
    record_.note({.what = what,
                  .object = found->second.object,
                  .thread = this_thread,
                  .at = stamp(e.at),
                  .token = e.token});
  }

 private:
  static act act_of(afar::event::kind k) noexcept {
    using kind = afar::event::kind;
    if (k == kind::lost) return act::told_lost;
    if (k == kind::releasing) return act::releasing;
    if (k == kind::released || k == kind::release_failed) return act::released;
    return k == kind::acquired ? act::acquired : act::none;
  }

  struct known {
    std::uint16_t object;
    bool member;
  };
  const recorder& record_;
  std::map<std::string, known, std::less<>> objects_;
};

struct workplace {
  workplace(const plan& p, control& c, const std::string& url, std::uint32_t w, std::uint32_t l)
      : todo(p),
        orders(c),
        worker(w),
        life(l),
        record(p.record(w, l)),
        protected_file(::open(p.protected_file().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC)),
        locks(url, {.lease = p.lease, .observer = std::make_shared<library_log>(p, record)}) {
    fences.reserve(p.objects.size());
    for (std::size_t i = 0; i < p.objects.size(); ++i)
      fences.push_back(afar::fence::in_file(p.fence(i)));
  }
  workplace(const workplace&) = delete;
  workplace& operator=(const workplace&) = delete;
  ~workplace() { ::close(protected_file); }

  const plan& todo;
  control& orders;
  const std::uint32_t worker;
  const std::uint32_t life;
  const recorder record;
  const int protected_file;
  std::vector<afar::fence> fences;
  client locks;
};

}  // namespace afar::torture
