// What every engine must be able to do, tried on a name of its own: acquire, renew, contend, fence,
// release. And what any engine needs of the machine that it is used from.
#pragma once

#include <afar/upkeep.hpp>

#include <functional>
#include <string>
#include <vector>

namespace afar::cli::doctor {

using opener = std::function<client(client_options)>;

// "p50 0.3 ms p99 0.9 ms" and whether leases can be renewed at that pace.
finding round_trip(const client&);
// The steps one after the other; the first that fails ends it.
finding probe(const opener&);

// Of this machine: descriptors, CPU throttling, the calendar.
std::vector<finding> examine_machine();

}  // namespace afar::cli::doctor
