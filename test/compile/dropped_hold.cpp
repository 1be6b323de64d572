// A hold that nobody keeps is released at once, which is never meant.
#include <afar/mutex.hpp>

void dropped(afar::mutex& m) { m.acquire(); }
