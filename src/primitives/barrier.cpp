#include <afar/barrier.hpp>

#include "primitives/claim_body.hpp"
#include "primitives/report.hpp"

#include <utility>

namespace afar {

bool barrier::arrive(detail::deadline by, std::stop_token stop, std::error_code* code) {
  spi::status s;
  body_->give(body_->acquire({.by = by, .options = {.stop = std::move(stop)}}, {}, s));
  report_wait(s, by, name(), code);
  return !s;
}

}  // namespace afar
