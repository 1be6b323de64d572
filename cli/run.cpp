#include "context.hpp"
#include "failure.hpp"
#include "options.hpp"
#include "verbs.hpp"

#include <memory>

namespace afar::cli {

work add_run(CLI::App& app) {
  const auto where = std::make_shared<context>();
  where->add_to(app);
  return [where]() -> int { throw failure{exit_code::usage, "not yet"}; };
}

}  // namespace afar::cli
