// Counts the answers to a step that all voters do, and says what they come to.
#pragma once

#include "engines/quorum/voters.hpp"

#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace afar::engines::quorum {

class tally {
 public:
  tally(std::size_t voters, std::size_t needed) : missing_(voters), of_(voters), needed_(needed) {}

  struct verdict {
    spi::status failure = {};  // too few voters answered
    bool yes = false;          // enough of them said so; else so many said no that it cannot be
  };
  // Once, when it is certain.
  std::optional<verdict> count(const spi::status& failed, bool yes) {
    --missing_;
    if (failed)
      failures_.push_back(failed);
    else
      ++(yes ? yes_ : no_);
    if (over_) return std::nullopt;
    if (yes_ >= needed_) return decided({{}, true});
    if (no_ > of_ - needed_) return decided({{}, false});
    if (missing_ > 0) return std::nullopt;
    return decided({worst(failures_, of_), false});
  }

 private:
  std::optional<verdict> decided(verdict v) {
    over_ = true;
    return v;
  }

  std::size_t missing_;
  std::size_t of_;
  std::size_t needed_;
  std::size_t yes_ = 0;
  std::size_t no_ = 0;
  std::vector<spi::status> failures_ = {};
  bool over_ = false;
};

}  // namespace afar::engines::quorum
