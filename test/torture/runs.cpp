#include "torture/runs.hpp"

#include "torture/report.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace afar::test {

torture::verdict torment(torture::settings s, const std::string& name) {
  s.program = AFAR_BINARY;
  torture::verdict v = torture::run(s);
  const std::string replay = "afar torture --seed " + std::to_string(v.seed);
  std::fputs(torture::as_text(v, replay).c_str(), stdout);
  if (const char* folder = std::getenv("AFAR_TORTURE_REPORTS")) {
    std::ofstream{std::string{folder} + "/" + name + ".html"} << torture::as_page(v, replay);
    std::ofstream{std::string{folder} + "/" + name + ".json"} << torture::as_json(v, replay);
  }
  return v;
}

}  // namespace afar::test
