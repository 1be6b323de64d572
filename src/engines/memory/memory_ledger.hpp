// The pages of one ledger, in maps.
#pragma once

#include "engines/records/ledger.hpp"

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace afar::engines::memory {

class memory_ledger final : public records::ledger_pages {
 public:
  std::optional<records::ledger_head> head() override { return head_; }
  void put_head(const records::ledger_head& h) override { head_ = h; }

  std::optional<records::order> find(std::string_view id) override {
    const auto it = orders_.find(id);
    return it == orders_.end() ? std::nullopt : std::optional{it->second};
  }
  void put(std::string_view id, const records::order& o) override {
    orders_.insert_or_assign(std::string{id}, o);
  }

  std::int64_t units_of(std::string_view buyer) override {
    const auto it = units_.find(buyer);
    return it == units_.end() ? 0 : it->second;
  }
  void put_units(std::string_view buyer, std::int64_t units) override {
    if (units != 0)
      units_.insert_or_assign(std::string{buyer}, units);
    else if (const auto it = units_.find(buyer); it != units_.end())
      units_.erase(it);
  }

  void put_deadline(spi::time_point t, std::string_view id) override {
    deadlines_.emplace(t, std::string{id});
  }
  void erase_deadline(spi::time_point t, std::string_view id) override {
    deadlines_.erase({t, std::string{id}});
  }
  std::optional<std::pair<spi::time_point, std::string>> first_deadline() override {
    if (deadlines_.empty()) return std::nullopt;
    return *deadlines_.begin();
  }

  void erase_all() override { *this = memory_ledger{}; }

  bool exists() const noexcept { return head_.has_value(); }
  std::int64_t remaining() const noexcept { return head_ ? head_->remaining : 0; }

 private:
  std::optional<records::ledger_head> head_;
  std::map<std::string, records::order, std::less<>> orders_;
  std::map<std::string, std::int64_t, std::less<>> units_;
  std::set<std::pair<spi::time_point, std::string>> deadlines_;
};

}  // namespace afar::engines::memory
