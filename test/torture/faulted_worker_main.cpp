// A worker of a torture run (see cli/torture.cpp) whose library has fault points.
#include "torture/points.hpp"
#include "torture/worker.hpp"

#include <afar/detail/fault.hpp>

#include <cstdlib>
#include <string>

namespace {

const afar::torture::points* points = nullptr;

}  // namespace

int main(int argc, char** argv) {
  const char* const url = std::getenv("AFAR_URL");
  if (argc != 5 || !url) return 64;
  const std::string folder = argv[2];
  points = new afar::torture::points{folder};  // never freed: late threads may still pass one
  afar::detail::fault_listener = [](std::string_view name) { points->passed(name); };
  const auto number = [&](int i) {
    return static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10));
  };
  return afar::torture::work(folder, url, number(3), number(4));
}
