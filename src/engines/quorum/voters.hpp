// The engines that vote, shared with whatever is under way; and how many votes a claim needs.
#pragma once

#include <afar/spi/engine.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace afar::engines::quorum {

struct voters {
  std::vector<std::unique_ptr<spi::engine>> all;

  std::size_t size() const noexcept { return all.size(); }

  // Two claims that exclude each other must meet at one voter at least: a majority. Of permits each
  // voter gives `limit`, so n of them give n·limit votes; claims for more than `limit` permits cannot
  // all succeed if one permit needs more than n·limit/(limit+1) of them.
  std::size_t needed(spi::kind k, std::uint32_t limit) const noexcept {
    const std::size_t k_of = k == spi::kind::permits ? limit : 1;
    return size() * k_of / (k_of + 1) + 1;
  }
};
using voters_ptr = std::shared_ptr<voters>;

// A claim as one voter gets it: no line, no reserved tokens, and words that live as long as it does.
class ballot {
 public:
  explicit ballot(const spi::claim& of) : claim(of), name_(of.what.name), note_(of.note) {
    claim.what.name = name_;
    claim.note = note_;
    claim.place.clear();  // ours, not the voter's
    claim.queue = false;
    claim.handoffs = 0;
  }
  ballot(const ballot&) = delete;
  ballot& operator=(const ballot&) = delete;

  spi::claim claim;

 private:
  const std::string name_;
  const std::string note_;
};
using ballots = std::vector<std::unique_ptr<ballot>>;

inline ballots ballots_for(const spi::claim& a, std::size_t n) {
  ballots out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(std::make_unique<ballot>(a));
  return out;
}

// The failure that says most: one that will not pass by itself before one that may.
spi::status worst(const std::vector<spi::status>& failures, std::size_t of);

}  // namespace afar::engines::quorum
