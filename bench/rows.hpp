// The measurements, by the ids of the design's table. Each has its own folder and its own processes.
#pragma once

#include "options.hpp"
#include "report.hpp"

#include <string>
#include <vector>

namespace bench {

void redis_one_thread(const options&, report&);        // P1, P2
void redis_server_cpu(const options&, report&);        // cpu
void redis_many_callers(const options&, report&);      // P3, P3a
void redis_hand_off(const options&, report&);          // P4
void redis_saturated(const options&, report&);         // P4
void redis_local_line(const options&, report&);        // P5
void redis_renewals(const options&, report&);          // P6
void redis_many_coroutines(const options&, report&);   // P7
void redis_reentry(const options&, report&);           // P16
void redis_peers(const options&, report&);             // P17
void redis_sticky_alone(const options&, report&);      // P18
void redis_sticky_wanted(const options&, report&);     // P19
void zookeeper_one_thread(const options&, report&);    // P11
void zookeeper_many_callers(const options&, report&);  // P12
void zookeeper_one_lock(const options&, report&);      // P13
void mysql_alone(const options&, report&);             // P14
void postgres_alone(const options&, report&);          // P15
void uncontended(const options&, report&);             // P8
void two_processes(const options&, report&);           // P8a
void hand_off(const options&, report&);                // P9
void after_a_kill(const options&, report&);            // P10
void reentry(const options&, report&);                 // P16
void many_coroutines(const options&, report&);         // threads
void growth_of_stock(const options&, report&);         // growth
void growth_of_callers(const options&, report&);       // growth
void engines(const options&, report&);                 // engines

// What the children do: `--child role arguments...`.
using arguments = std::vector<std::string>;
int pairs_child(const arguments&);     // url core
int peer_child(const arguments&);      // unlock, awaited or coroutines
int hand_off_child(const arguments&);  // url folder core side
int rival_child(const arguments&);     // url core
int hold_child(const arguments&);      // url core name...
int wait_child(const arguments&);      // url core name

}  // namespace bench
