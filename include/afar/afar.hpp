// Everything of afar but <afar/asio.hpp>.
#pragma once

#include <afar/barrier.hpp>
#include <afar/boot_clock.hpp>
#include <afar/client.hpp>
#include <afar/counter.hpp>
#include <afar/counting_semaphore.hpp>
#include <afar/election.hpp>
#include <afar/error.hpp>
#include <afar/fair_mutex.hpp>
#include <afar/fence.hpp>
#include <afar/hold.hpp>
#include <afar/latch.hpp>
#include <afar/leased_semaphore.hpp>
#include <afar/multi_lock.hpp>
#include <afar/mutex.hpp>
#include <afar/observer.hpp>
#include <afar/recursive_mutex.hpp>
#include <afar/shared_mutex.hpp>
#include <afar/stock.hpp>
#include <afar/survey.hpp>
#include <afar/upkeep.hpp>
