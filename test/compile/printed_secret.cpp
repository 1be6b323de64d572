// A password cannot be printed by accident.
#include <afar/spi/url.hpp>

#include <ostream>

void printed(std::ostream& out, const afar::spi::secret& s) { out << s; }
