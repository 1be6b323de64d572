// One claims record with a clock that the test drives; claimants are small numbers.
#pragma once

#include "engines/records/claims.hpp"
#include "owner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace afar::test {

using namespace std::chrono_literals;
using engines::records::collectable;
using engines::records::describe;
using engines::records::effects;
using engines::records::evict;
using spi::access;
using spi::kind;
using spi::loss;
using spi::release_reply;

class claims_fixture : public ::testing::Test {
 protected:
  explicit claims_fixture(kind k = kind::mutex, std::uint32_t limit = 1) : kind_(k), limit_(limit) {
    m.now = spi::time_point{1h};
    m.calendar_us = 1'000'000;
    record = engines::records::fresh_claims(claim(1));
  }

  spi::claim claim(std::uint64_t number, access mode = access::exclusive) const {
    spi::claim a;
    a.what = {kind_, "x"};
    a.owner = owner(number);
    a.mode = mode;
    a.limit = limit_;
    a.lease = 10s;
    return a;
  }

  spi::acquire_reply acquire(const spi::claim& a) {
    e = {};
    spi::acquire_reply reply;
    failed = engines::records::acquire(record, a, m, reply, e);
    return reply;
  }
  spi::acquire_reply acquire(std::uint64_t n, access mode = access::exclusive) {
    return acquire(claim(n, mode));
  }
  bool granted(std::uint64_t n, access mode = access::exclusive) {
    return acquire(n, mode).granted;
  }
  bool tried(std::uint64_t n, access mode = access::exclusive) {
    spi::claim a = claim(n, mode);
    a.queue = false;
    return acquire(a).granted;
  }

  spi::renew_reply renew(const spi::claim& a) {
    e = {};
    return engines::records::renew(record, a, m, e);
  }
  loss renew(std::uint64_t n) { return renew(claim(n)).why; }
  release_reply release(std::uint64_t n) {
    e = {};
    return engines::records::release(record, owner(n), m, e);
  }
  void sweep() {
    e = {};
    engines::records::sweep(record, m, e);
  }

  // The claimants that the last step called.
  std::vector<std::uint64_t> called() const {
    std::vector<std::uint64_t> out;
    for (const auto& o : e.call) out.push_back(o.number);
    return out;
  }
  bool called_nobody() const { return e.call.empty(); }

  void pass(std::chrono::nanoseconds t) {
    m.now += t;
    m.calendar_us += static_cast<std::uint64_t>(t / 1us);
  }

  engines::records::claims record;
  engines::records::moment m;
  effects e;
  spi::status failed;

 private:
  kind kind_;
  std::uint32_t limit_;
};

using numbers = std::vector<std::uint64_t>;

}  // namespace afar::test
