#include "torture/plan.hpp"

#include <fstream>
#include <stdexcept>
#include <utility>

namespace afar::torture {

std::string_view word(sort s) {
  static constexpr std::string_view words[] = {
      "mutex",    "fair_mutex", "recursive_mutex", "shared_mutex", "leased_semaphore",
      "election", "counter",    "stock",           "latch",        "counting_semaphore",
      "barrier",  "multi_lock"};
  return words[static_cast<std::size_t>(s)];
}

std::vector<std::uint16_t> plan::members() const {
  constexpr std::pair<torture::sort, int> some[] = {
      {sort::mutex, 3}, {sort::fair_mutex, 1}, {sort::shared_mutex, 1}};
  std::vector<std::uint16_t> all;
  for (auto [sort, times] : some)
    for (std::uint16_t i = 0; i < static_cast<std::uint16_t>(objects.size()) && times > 0; ++i)
      if (objects[i].sort == sort) {
        all.push_back(i);
        --times;
      }
  return all;
}

void plan::store() const {
  std::ofstream out{folder + "/plan"};
  out << seed << ' ' << threads << ' ' << evicts << ' ' << lease.count() << '\n';
  for (const object& o : objects) out << static_cast<int>(o.sort) << ' ' << o.name << '\n';
  if (!out.flush()) throw std::runtime_error{"cannot write " + folder + "/plan"};
}

plan plan::load(const std::string& folder) {
  plan p;
  p.folder = folder;
  std::ifstream in{folder + "/plan"};
  std::int64_t lease = 0;
  in >> p.seed >> p.threads >> p.evicts >> lease;
  p.lease = std::chrono::milliseconds{lease};
  int sort = 0;
  for (std::string name; in >> sort && std::getline(in >> std::ws, name);)
    p.objects.push_back({static_cast<torture::sort>(sort), name});
  if (p.objects.empty()) throw std::runtime_error{folder + "/plan is no plan of afar torture"};
  return p;
}

std::string order_id(std::uint32_t worker, std::uint32_t life, std::uint32_t thread,
                     std::int64_t number) {
  return std::to_string(worker) + '.' + std::to_string(life) + '.' + std::to_string(thread) + '.' +
         std::to_string(number);
}

}  // namespace afar::torture
