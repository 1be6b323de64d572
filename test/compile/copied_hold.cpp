// A hold has one owner: it does not copy.
#include <afar/hold.hpp>

afar::hold copied(const afar::hold& h) { return h; }
