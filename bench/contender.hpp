// What can lock and unlock a name, so that it can be timed beside the others.
#pragma once

#include "scratch.hpp"

#include <afar/client.hpp>
#include <afar/mutex.hpp>

#include <memory>
#include <string>

namespace bench {

class contender {
 public:
  virtual ~contender() = default;
  virtual void pair() = 0;  // one acquire and one release of one name, uncontended
  const std::string& name() const noexcept { return name_; }

 protected:
  explicit contender(std::string name) : name_(std::move(name)) {}
  contender(const contender&) = delete;
  contender& operator=(const contender&) = delete;

 private:
  const std::string name_;
};

class afar_pairs final : public contender {
 public:
  afar_pairs(std::string name, const afar::client& c, const std::string& resource)
      : contender(std::move(name)), client_(c), mutex_(c, resource) {}

  void pair() override {
    mutex_.lock();
    const std::uint64_t token = mutex_.token();
    if (token <= last_) out_of_order();
    last_ = token;
    mutex_.unlock();
  }

 private:
  [[noreturn]] static void out_of_order();
  afar::client client_;
  afar::mutex mutex_;
  std::uint64_t last_ = 0;
};

// Two write transactions: read and put, read and delete. LMDB's own locking, no token, no queue.
std::unique_ptr<contender> lmdb_pairs(const scratch&);
// The same on one of many names that are all there: read and put, twice.
class lmdb_names {
 public:
  explicit lmdb_names(const scratch&);
  lmdb_names(const lmdb_names&) = delete;
  lmdb_names& operator=(const lmdb_names&) = delete;
  ~lmdb_names();
  void pair(const std::string& name);

 private:
  struct store;
  std::unique_ptr<store> store_;
};
// A file per name: open, flock, close.
std::unique_ptr<contender> flock_pairs(const scratch&);
// The same with an open file description lock, set and unset.
std::unique_ptr<contender> ofd_pairs(const scratch&);
// Two immediate transactions in WAL mode without sync: read and insert, read and delete.
std::unique_ptr<contender> sqlite_pairs(const scratch&);

}  // namespace bench
