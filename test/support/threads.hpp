// Threads for tests: exceptions come out where the test can see them.
#pragma once

#include <barrier>
#include <functional>
#include <future>
#include <utility>
#include <vector>

namespace afar::test {

// Runs work in a thread of its own; get() gives its result or throws its exception.
template <class Work>
[[nodiscard]] auto start(Work work) {
  return std::async(std::launch::async, std::move(work));
}

// Runs work in another thread and waits for it.
template <class Work>
auto elsewhere(Work work) {
  return start(std::move(work)).get();
}

// Runs work(0) … work(n - 1) in n threads that start together, and waits for all of them.
inline void in_parallel(int n, const std::function<void(int)>& work) {
  std::barrier together{n};
  std::vector<std::future<void>> all;
  all.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    all.push_back(start([&, i] {
      together.arrive_and_wait();
      work(i);
    }));
  }
  for (auto& one : all) one.wait();
  for (auto& one : all) one.get();
}

}  // namespace afar::test
