// A ledger as nodes, for the rules in records/ledger: what a step touches is read first, the step runs
// over it, and what it changed is written by one transaction that checks the head's version.
//   <name>                        "afar 1 stock <remaining> <reserved> <taken> <per buyer> <opens> <closes>
//                                 [<op> <remaining after>]…", opens and closes in ms or -
//   <name>/orders/<order>         "<state> <amount> <expires in ms> <buyer>"
//   <name>/buyers/<buyer>         "<units>"
//   <name>/due/<expires>-<order>  empty
#pragma once

#include "engines/records/ledger.hpp"
#include "engines/zookeeper/request.hpp"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace afar::engines::zookeeper {

class ledger_pages final : public records::ledger_pages {
 public:
  // Thrown by the functions below when a node was not read yet.
  struct unread {
    std::string path;
  };

  explicit ledger_pages(std::string path) : path_(std::move(path)) {}

  // What was read. `folder`: its children.
  void know(const std::string& path, const answer&);
  void know_due(const answer&);
  const std::string& path() const noexcept { return path_; }
  std::string order_node(std::string_view id) const;
  std::string buyer_node(std::string_view buyer) const;
  std::string due_folder() const { return path_ + "/due"; }

  // Since the beginning of this run.
  std::vector<request> changes() const;
  bool erases() const noexcept { return erased_; }
  void start_run();

  std::optional<records::ledger_head> head() override;
  void put_head(const records::ledger_head&) override;
  std::optional<records::order> find(std::string_view id) override;
  void put(std::string_view id, const records::order&) override;
  std::int64_t units_of(std::string_view buyer) override;
  void put_units(std::string_view buyer, std::int64_t units) override;
  void put_deadline(spi::time_point, std::string_view id) override;
  void erase_deadline(spi::time_point, std::string_view id) override;
  std::optional<std::pair<spi::time_point, std::string>> first_deadline() override;
  void erase_all() override { erased_ = true; }

 private:
  struct page {
    std::optional<std::string> stored = {};  // none: no such node
    std::optional<std::string> text = {};
  };
  page& read(const std::string& path);
  std::string due_node(spi::time_point, std::string_view id) const;

  const std::string path_;
  std::map<std::string, page> pages_;
  int head_version_ = -1;
  std::optional<std::set<std::string>> due_stored_;
  std::set<std::string> due_;
  bool erased_ = false;
};

}  // namespace afar::engines::zookeeper
