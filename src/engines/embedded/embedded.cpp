#include "engines/embedded/embedded.hpp"

#include "engines/embedded/embedded_engine.hpp"

namespace afar::engines {

std::unique_ptr<spi::engine> open_embedded(const spi::url& where, spi::host& up,
                                           spi::time_point by) {
  try {
    auto store = embedded::store::open(embedded::address_of(where), by);
    return std::make_unique<embedded::embedded_engine>(std::move(store), up);
  } catch (const embedded::failure& failed) {
    throw lock_error{failed.why().code, where.printable, failed.why().detail};
  }
}

}  // namespace afar::engines
