#include "torture/plan.hpp"

#include <fstream>
#include <stdexcept>

namespace afar::torture {

std::string_view word(sort s) {
  static constexpr std::string_view words[] = {
      "mutex",   "fair_mutex", "recursive_mutex", "shared_mutex", "leased_semaphore", "election",
      "counter", "stock"};
  return words[static_cast<std::size_t>(s)];
}

void plan::store() const {
  std::ofstream out{folder + "/plan"};
  out << seed << ' ' << threads << ' ' << lease.count() << '\n';
  for (const object& o : objects) out << static_cast<int>(o.sort) << ' ' << o.name << '\n';
  if (!out.flush()) throw std::runtime_error{"cannot write " + folder + "/plan"};
}

plan plan::load(const std::string& folder) {
  plan p;
  p.folder = folder;
  std::ifstream in{folder + "/plan"};
  std::int64_t lease = 0;
  in >> p.seed >> p.threads >> lease;
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
