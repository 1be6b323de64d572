#include "engines/embedded/environment.hpp"

#include "engines/embedded/failure.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace afar::engines::embedded {
namespace {

constexpr std::size_t smallest_page = 4'096;
constexpr std::size_t spare_pages = 24;      // free-list pages and splits of one transaction
constexpr std::size_t pages_per_change = 8;  // a path down the tree, copied, and a split
constexpr std::size_t least_growth = 32;     // pages
constexpr std::size_t node_bytes = 16;       // LMDB's own, per key

MDB_val to_val(std::string_view s) noexcept { return {s.size(), const_cast<char*>(s.data())}; }

std::string_view to_text(const MDB_val& v) noexcept {
  return {static_cast<const char*>(v.mv_data), v.mv_size};
}

std::span<std::byte> to_bytes(const MDB_val& v) noexcept {
  return {static_cast<std::byte*>(v.mv_data), v.mv_size};
}

// LMDB's answers, in our words.
spi::status to_status(int rc, const std::string& text) {
  switch (rc) {
    case MDB_MAP_FULL:
    case MDB_TXN_FULL:
    case MDB_PAGE_FULL:
      return {errc::no_room, text};
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
    case MDB_VERSION_MISMATCH:
    case MDB_PANIC:
      return {errc::damaged, text + "; remove the folder when nobody uses it"};
    default:
      return {system_failure(rc, "").code, text};
  }
}

// LMDB gives the file its full (sparse) size; beyond the limit that would be SIGXFSZ.
void check_size_limit(const std::string& path) {
  struct stat about{};
  rlimit limit{};
  const bool made = ::stat(path.c_str(), &about) == 0 &&
                    static_cast<std::size_t>(about.st_size) >= environment::map_bytes;
  if (made || ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= environment::map_bytes)
    return;
  throw failure{errc::no_room,
                "cannot make " + path + ": the limit on file sizes (ulimit -f) is below 1 GiB"};
}

// A process killed while it made the file leaves less than the two pages that LMDB begins with.
bool half_made(const std::string& path) {
  struct stat about{};
  return ::stat(path.c_str(), &about) == 0 && about.st_size > 0 &&
         static_cast<std::size_t>(about.st_size) < 2 * smallest_page;
}

}  // namespace

environment::environment(const std::string& path, bool durable, std::atomic<std::uint64_t>& room)
    : path_(path), durable_(durable), room_(room) {
  if (half_made(path)) ::unlink(path.c_str());
  check_size_limit(path);
  try {
    open(path);
  } catch (...) {
    if (env_ != nullptr) ::mdb_env_close(env_);
    throw;
  }
}

environment::~environment() {
  ::mdb_txn_abort(reading_);
  ::mdb_env_close(env_);
}

void environment::fail(int rc, const char* doing) const {
  throw failure{
      to_status(rc, std::string{"cannot "} + doing + " " + path_ + ": " + ::mdb_strerror(rc))};
}

void environment::open(const std::string& path) {
  const auto check = [&](int rc) {
    if (rc != MDB_SUCCESS) fail(rc, "open");
  };
  check(::mdb_env_create(&env_));
  check(::mdb_env_set_mapsize(env_, map_bytes));
  unsigned flags = MDB_NOSUBDIR | MDB_NOLOCK | MDB_WRITEMAP | MDB_NOMEMINIT | MDB_NORDAHEAD;
  if (!durable_) flags |= MDB_NOSYNC | MDB_NOMETASYNC;
  check(::mdb_env_open(env_, path.c_str(), flags, 0600));
  int file = -1;  // LMDB opens it so that programs which the user starts would inherit it
  check(::mdb_env_get_fd(env_, &file));
  ::fcntl(file, F_SETFD, FD_CLOEXEC);
  MDB_stat about;
  check(::mdb_env_stat(env_, &about));
  page_bytes_ = about.ms_psize;
  check(::mdb_txn_begin(env_, nullptr, MDB_RDONLY, &reading_));
  const int rc = ::mdb_dbi_open(reading_, nullptr, 0, &table_);
  ::mdb_txn_reset(reading_);
  check(rc);
}

// With MDB_WRITEMAP a store into a hole of a full file system is SIGBUS. So the pages that a
// transaction may newly use are allocated before: a page that was ever used stays allocated.
void environment::allocate(std::size_t changes, std::size_t bytes) {
  MDB_envinfo info;
  ::mdb_env_info(env_, &info);
  const std::uint64_t used = info.me_last_pgno + 1;
  const std::uint64_t by_change = changes * pages_per_change + 2 * bytes / page_bytes_;
  const std::uint64_t by_page = used + 4 * bytes / page_bytes_;  // each page is copied once
  const std::uint64_t needed = (used + std::min(by_change, by_page) + spare_pages) * page_bytes_;
  const std::uint64_t have = room_.load(std::memory_order_relaxed);
  if (needed <= have || have >= map_bytes) return;  // beyond the map LMDB itself refuses
  const std::uint64_t growth = std::max<std::uint64_t>(least_growth * page_bytes_, have / 8);
  const std::uint64_t want = std::min<std::uint64_t>(std::max(needed, have + growth), map_bytes);
  int file = -1;
  ::mdb_env_get_fd(env_, &file);
  int rc = 0;
  do {
    rc = ::fallocate(file, 0, static_cast<off_t>(have), static_cast<off_t>(want - have));
  } while (rc != 0 && errno == EINTR);
  if (rc != 0 && errno != EOPNOTSUPP) fail(errno, "store more in");
  room_.store(want, std::memory_order_relaxed);
}

// ---- view -------------------------------------------------------------------------------------

environment::view::view(environment& env) : env_(env) {
  if (const int rc = ::mdb_txn_renew(env.reading_)) env.fail(rc, "read");
}

environment::view::~view() {
  if (cursor_ != nullptr) ::mdb_cursor_close(cursor_);
  ::mdb_txn_reset(env_.reading_);
}

std::optional<std::span<std::byte>> environment::view::find(std::string_view key) {
  MDB_val k = to_val(key);
  MDB_val v;
  const int rc = ::mdb_get(env_.reading_, env_.table_, &k, &v);
  if (rc == MDB_NOTFOUND) return std::nullopt;
  if (rc != MDB_SUCCESS) env_.fail(rc, "read");
  return to_bytes(v);
}

std::optional<environment::view::item> environment::view::move(MDB_cursor_op op,
                                                               std::string_view key) {
  MDB_val k = to_val(key);
  MDB_val v;
  const int rc = ::mdb_cursor_get(cursor_, &k, &v, op);
  if (rc == MDB_NOTFOUND) return std::nullopt;
  if (rc != MDB_SUCCESS) env_.fail(rc, "read");
  return item{to_text(k), to_bytes(v)};
}

std::optional<environment::view::item> environment::view::first_from(std::string_view key) {
  if (cursor_ == nullptr)
    if (const int rc = ::mdb_cursor_open(env_.reading_, env_.table_, &cursor_))
      env_.fail(rc, "read");
  return move(MDB_SET_RANGE, key);
}

std::optional<environment::view::item> environment::view::next() { return move(MDB_NEXT, {}); }

// ---- transaction ------------------------------------------------------------------------------

environment::transaction::transaction(environment& env) : env_(env) {
  if (const int rc = ::mdb_txn_begin(env.env_, nullptr, 0, &txn_)) env.fail(rc, "change");
}

environment::transaction::~transaction() { ::mdb_txn_abort(txn_); }

std::optional<std::span<const std::byte>> environment::transaction::find(std::string_view key) {
  MDB_val k = to_val(key);
  MDB_val v;
  const int rc = ::mdb_get(txn_, env_.table_, &k, &v);
  if (rc == MDB_NOTFOUND) return std::nullopt;
  if (rc != MDB_SUCCESS) env_.fail(rc, "read");
  return to_bytes(v);
}

std::optional<std::string_view> environment::transaction::first_key_from(std::string_view key) {
  MDB_cursor* cursor = nullptr;
  if (const int rc = ::mdb_cursor_open(txn_, env_.table_, &cursor)) env_.fail(rc, "read");
  MDB_val k = to_val(key);
  const int rc = ::mdb_cursor_get(cursor, &k, nullptr, MDB_SET_RANGE);
  ::mdb_cursor_close(cursor);
  if (rc == MDB_NOTFOUND) return std::nullopt;
  if (rc != MDB_SUCCESS) env_.fail(rc, "read");
  return to_text(k);
}

std::span<std::byte> environment::transaction::put(std::string_view key, std::size_t bytes) {
  bytes_ += key.size() + bytes + node_bytes;
  env_.allocate(++changes_, bytes_);
  MDB_val k = to_val(key);
  MDB_val v{bytes, nullptr};
  if (const int rc = ::mdb_put(txn_, env_.table_, &k, &v, MDB_RESERVE)) env_.fail(rc, "change");
  return to_bytes(v);
}

void environment::transaction::erase(std::string_view key) {
  env_.allocate(++changes_, bytes_);
  MDB_val k = to_val(key);
  const int rc = ::mdb_del(txn_, env_.table_, &k, nullptr);
  if (rc != MDB_SUCCESS && rc != MDB_NOTFOUND) env_.fail(rc, "change");
}

void environment::transaction::commit() {
  const int rc = ::mdb_txn_commit(std::exchange(txn_, nullptr));
  if (rc != MDB_SUCCESS) env_.fail(rc, "change");
}

}  // namespace afar::engines::embedded
