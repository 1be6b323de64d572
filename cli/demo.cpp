#include "context.hpp"
#include "demo/scene.hpp"
#include "demo/worker.hpp"
#include "failure.hpp"
#include "options.hpp"
#include "verbs.hpp"

#include <memory>

namespace afar::cli {
namespace {

struct options {
  context where;
  demo::options scene;
};

struct worker_options {
  demo::place where;
  std::uint32_t worker = 0;
  std::uint32_t life = 0;
  std::int64_t between_orders = 0;  // nanoseconds
};

}  // namespace

work add_demo(command_line& line) {
  const auto o = std::make_shared<options>();
  line.add_option("--workers", o->scene.workers, "How many processes (8)").within(2, 256);
  line.add_option("--stock", o->scene.stock, "Units to sell (1000)").within(1, 1'000'000);
  line.add_option("--seconds", o->scene.seconds, "How long (7)").within(1, 3'600);
  line.add_flag("--json", o->scene.json, "The figures as JSON");
  o->where.add_to(line);
  line.footer(
      "Without an engine named, it runs in a folder of its own. Exit code 1: a promise was "
      "broken.");
  return [o] {
    const bool kept = demo::play(o->scene, o->where.named() ? o->where.url() : std::string{});
    return number(kept ? exit_code::ok : exit_code::negative);
  };
}

// How the demo starts itself; the URL comes by environment, where others cannot read it.
work add_demo_worker(command_line& line) {
  const auto o = std::make_shared<worker_options>();
  line.add_option("FOLDER", o->where.folder).required();
  line.add_option("WORKER", o->worker).required();
  line.add_option("LIFE", o->life).required();
  line.add_option("BETWEEN", o->between_orders).required();
  return [o] {
    o->where.url = context{}.url();
    return demo::work(o->where, o->worker, o->life, std::chrono::nanoseconds{o->between_orders});
  };
}

}  // namespace afar::cli
