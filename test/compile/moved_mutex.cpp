// A mutex has identity: it does not move.
#include <afar/mutex.hpp>

#include <utility>

afar::mutex moved(afar::mutex& m) { return std::move(m); }
