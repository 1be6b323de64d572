// Opening a connection is never implicit.
#include <afar/mutex.hpp>

void implicit() { afar::mutex m{"memory:x", "name"}; }
