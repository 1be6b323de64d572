#include "contender.hpp"

#include <fcntl.h>
#include <lmdb.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <system_error>

namespace bench {

namespace {

constexpr char resource[] = "orders/42";

void check_errno(bool good, const char* what) {
  if (!good) throw std::system_error(errno, std::generic_category(), what);
}

// Without fsync, as afar has it.
class lmdb_store {
 public:
  lmdb_store(const scratch& s, std::size_t bytes) {
    const std::string folder = s.file("lmdb");
    check_errno(::mkdir(folder.c_str(), 0700) == 0, "mkdir");
    check(::mdb_env_create(&env_));
    check(::mdb_env_set_mapsize(env_, bytes));
    check(::mdb_env_open(env_, folder.c_str(), MDB_NOSYNC | MDB_WRITEMAP, 0600));
    MDB_txn* t = nullptr;
    check(::mdb_txn_begin(env_, nullptr, 0, &t));
    check(::mdb_dbi_open(t, nullptr, 0, &db_));
    check(::mdb_txn_commit(t));
  }
  lmdb_store(const lmdb_store&) = delete;
  lmdb_store& operator=(const lmdb_store&) = delete;
  ~lmdb_store() { ::mdb_env_close(env_); }

  // One write transaction: whether it is there, then another record, or none.
  bool change(std::string_view name, bool keep) {
    MDB_txn* t = nullptr;
    check(::mdb_txn_begin(env_, nullptr, 0, &t));
    MDB_val key{name.size(), const_cast<char*>(name.data())};
    MDB_val value{};
    const bool found = ::mdb_get(t, db_, &key, &value) == MDB_SUCCESS;
    ++record_[0];
    value = {sizeof record_, record_};
    check(keep ? ::mdb_put(t, db_, &key, &value, 0) : ::mdb_del(t, db_, &key, nullptr));
    check(::mdb_txn_commit(t));
    return found;
  }

 private:
  static void check(int rc) {
    if (rc != MDB_SUCCESS) throw std::runtime_error(::mdb_strerror(rc));
  }

  MDB_env* env_ = nullptr;
  MDB_dbi db_ = 0;
  std::uint64_t record_[8] = {};  // 64 bytes: about what a record of a holder needs
};

class lmdb final : public contender {
 public:
  explicit lmdb(const scratch& s)
      : contender("raw LMDB, two write transactions"), store_(s, 64U << 20U) {}

  void pair() override {
    if (store_.change(resource, true) || !store_.change(resource, false))
      throw std::logic_error("LMDB: wrong state");
  }

 private:
  lmdb_store store_;
};

class file_lock final : public contender {
 public:
  enum class kind { whole_file, open_description };

  file_lock(const scratch& s, kind k)
      : contender(k == kind::whole_file ? "open + flock + close"
                                        : "open + OFD lock + unlock + close"),
        kind_(k),
        path_(s.file(k == kind::whole_file ? "flock" : "ofd")) {}

  void pair() override {
    const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    check_errno(fd >= 0, "open");
    if (kind_ == kind::whole_file) {
      check_errno(::flock(fd, LOCK_EX) == 0, "flock");
    } else {
      set(fd, F_WRLCK);
      set(fd, F_UNLCK);
    }
    ::close(fd);
  }

 private:
  static void set(int fd, short type) {
    struct ::flock whole{};
    whole.l_type = type;
    whole.l_whence = SEEK_SET;
    check_errno(::fcntl(fd, F_OFD_SETLK, &whole) == 0, "F_OFD_SETLK");
  }

  const kind kind_;
  const std::string path_;
};

class sqlite final : public contender {
 public:
  explicit sqlite(const scratch& s) : contender("SQLite WAL, synchronous=OFF") {
    check(::sqlite3_open(s.file("sqlite").c_str(), &db_) == SQLITE_OK);
    run("PRAGMA journal_mode=WAL");
    run("PRAGMA synchronous=OFF");
    run("CREATE TABLE locks (name TEXT PRIMARY KEY, token INTEGER, owner BLOB) WITHOUT ROWID");
    begin_ = prepare("BEGIN IMMEDIATE");
    commit_ = prepare("COMMIT");
    find_ = prepare("SELECT token FROM locks WHERE name='orders/42'");
    put_ = prepare("INSERT INTO locks VALUES ('orders/42', ?1, zeroblob(48))");
    remove_ = prepare("DELETE FROM locks WHERE name='orders/42'");
  }
  ~sqlite() override {
    for (sqlite3_stmt* s : {begin_, commit_, find_, put_, remove_}) ::sqlite3_finalize(s);
    ::sqlite3_close(db_);
  }

  void pair() override {
    step(begin_, SQLITE_DONE);
    step(find_, SQLITE_DONE);
    ::sqlite3_bind_int64(put_, 1, ++token_);
    step(put_, SQLITE_DONE);
    step(commit_, SQLITE_DONE);
    step(begin_, SQLITE_DONE);
    step(find_, SQLITE_ROW);
    step(remove_, SQLITE_DONE);
    step(commit_, SQLITE_DONE);
  }

 private:
  void check(bool good) const {
    if (!good) throw std::runtime_error(::sqlite3_errmsg(db_));
  }
  void run(const char* sql) {
    check(::sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  }
  sqlite3_stmt* prepare(const char* sql) {
    sqlite3_stmt* s = nullptr;
    check(::sqlite3_prepare_v2(db_, sql, -1, &s, nullptr) == SQLITE_OK);
    return s;
  }
  void step(sqlite3_stmt* s, int expected) {
    check(::sqlite3_step(s) == expected);
    ::sqlite3_reset(s);
  }

  sqlite3* db_ = nullptr;
  sqlite3_stmt* begin_ = nullptr;
  sqlite3_stmt* commit_ = nullptr;
  sqlite3_stmt* find_ = nullptr;
  sqlite3_stmt* put_ = nullptr;
  sqlite3_stmt* remove_ = nullptr;
  std::int64_t token_ = 0;
};

}  // namespace

void afar_pairs::out_of_order() { throw std::logic_error("a token is not larger than the last"); }

std::unique_ptr<contender> lmdb_pairs(const scratch& s) { return std::make_unique<lmdb>(s); }

struct lmdb_names::store : lmdb_store {
  using lmdb_store::lmdb_store;
};
lmdb_names::lmdb_names(const scratch& s) : store_(std::make_unique<store>(s, 1U << 30U)) {}
lmdb_names::~lmdb_names() = default;
void lmdb_names::pair(const std::string& name) {
  store_->change(name, true);
  store_->change(name, true);
}
std::unique_ptr<contender> flock_pairs(const scratch& s) {
  return std::make_unique<file_lock>(s, file_lock::kind::whole_file);
}
std::unique_ptr<contender> ofd_pairs(const scratch& s) {
  return std::make_unique<file_lock>(s, file_lock::kind::open_description);
}
std::unique_ptr<contender> sqlite_pairs(const scratch& s) { return std::make_unique<sqlite>(s); }

}  // namespace bench
