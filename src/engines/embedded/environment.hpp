// One LMDB environment: the file of one shard, as this process maps it. LMDB's own lock is off
// (MDB_NOLOCK): the gate in front lets one process in at a time, readers included, so there is no
// reader table, no stale reader, and nothing to wait for without a limit.
//
// Why that survives kill -9: a transaction writes only pages that neither of the two last states
// uses, and becomes valid by one store of its number into one of two meta pages; whoever comes next
// picks the meta page with the larger number (mdb_env_pick_meta).
//
// Every function: only inside the gate. All throw failure.
#pragma once

#include "engines/embedded/keys.hpp"

#include <lmdb.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace afar::engines::embedded {

class environment {
 public:
  // 1 GiB each, virtual: untouched pages cost nothing.
  static constexpr std::size_t map_bytes = std::size_t{1} << 30U;

  // `room`: how much of the file is allocated, shared by all processes.
  environment(const std::string& path, bool durable, std::atomic<std::uint64_t>& room);
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
  ~environment();

  // A view of the current state; at most one at a time. What it finds may be written in place
  // (see envelope); a transaction that begins meanwhile does not disturb it.
  class view {
   public:
    explicit view(environment&);
    view(const view&) = delete;
    view& operator=(const view&) = delete;
    ~view();

    std::optional<std::span<std::byte>> find(std::string_view key);
    // The first key that is not less. Keys and values are valid as long as the view.
    struct item {
      std::string_view key;
      std::span<std::byte> value;
    };
    std::optional<item> first_from(std::string_view key);
    std::optional<item> next();

   private:
    std::optional<item> move(MDB_cursor_op, std::string_view key);

    environment& env_;
    MDB_cursor* cursor_ = nullptr;
  };

  // Changes several keys, all or nothing. Without commit() nothing happens.
  class transaction {
   public:
    explicit transaction(environment&);
    transaction(const transaction&) = delete;
    transaction& operator=(const transaction&) = delete;
    ~transaction();

    std::optional<std::span<const std::byte>> find(std::string_view key);
    std::optional<std::string_view> first_key_from(std::string_view key);
    // Room for a value of that size, uninitialised, to be written before the next call.
    std::span<std::byte> put(std::string_view key, std::size_t bytes);
    void erase(std::string_view key);
    void commit();

   private:
    environment& env_;
    MDB_txn* txn_ = nullptr;
    std::size_t changes_ = 0;
    std::size_t bytes_ = 0;  // put so far
  };

  bool durable() const noexcept { return durable_; }

 private:
  void open(const std::string& path);
  void allocate(std::size_t changes, std::size_t bytes);
  [[noreturn]] void fail(int rc, const char* doing) const;

  const std::string path_;
  const bool durable_;
  std::atomic<std::uint64_t>& room_;
  MDB_env* env_ = nullptr;
  MDB_txn* reading_ = nullptr;  // kept, renewed for every view: no allocation on the way
  MDB_dbi table_ = 0;
  std::size_t page_bytes_ = 0;
};

}  // namespace afar::engines::embedded
