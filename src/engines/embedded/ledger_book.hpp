// The pages of one ledger in a shard: its head under its name, its orders, buyers and deadlines
// under keys of their own that begin with the ledger's number, so that a step touches few of them.
#pragma once

#include "engines/embedded/environment.hpp"
#include "engines/embedded/keys.hpp"
#include "engines/records/codec.hpp"
#include "engines/records/ledger.hpp"

#include <cstdint>
#include <string_view>

namespace afar::engines::embedded {

class ledger_book final : public records::ledger_pages {
 public:
  // Every call throws failure if the storage fails. Nothing lasts before commit().
  ledger_book(environment&, std::string_view name, std::uint64_t now_us);

  bool changed() const noexcept { return changed_; }
  void commit() { change_.commit(); }

  std::optional<records::ledger_head> head() override;
  void put_head(const records::ledger_head&) override;
  std::optional<records::order> find(std::string_view id) override;
  void put(std::string_view id, const records::order&) override;
  std::int64_t units_of(std::string_view buyer) override;
  void put_units(std::string_view buyer, std::int64_t units) override;
  void put_deadline(spi::time_point, std::string_view id) override;
  void erase_deadline(spi::time_point, std::string_view id) override;
  std::optional<std::pair<spi::time_point, std::string>> first_deadline() override;
  void erase_all() override;

 private:
  key page(key_kind) const noexcept;
  key page(key_kind, std::string_view text) const noexcept;
  key deadline(spi::time_point, std::string_view id) const noexcept;
  std::uint64_t free_number(std::uint64_t from);

  environment::transaction change_;
  const std::string_view name_;
  const key key_;
  const std::uint64_t now_us_;
  std::uint64_t number_ = 0;  // 0: there is no such ledger yet
  bool changed_ = false;
};

}  // namespace afar::engines::embedded
