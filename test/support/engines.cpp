#include "support/engines.hpp"

#include "support/process.hpp"
#include "support/redis_places.hpp"
#include "support/sql_server.hpp"
#include "support/zookeeper_server.hpp"

#include <unistd.h>

#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <ostream>
#include <sstream>
#include <stdexcept>

namespace afar::test {
namespace {

constexpr const char* default_urls =
    "memory:conf faulty+memory:conf"
#if defined(AFAR_WITH_EMBEDDED)
    " local: file://{temp}/store"
#endif
#if defined(AFAR_WITH_REDIS)
    " redis://{redis} redis://{redis}?layout=redisson faulty+redis://{redis}"
#endif
    ;

std::string make_folder(const char* where) {
  std::string path = std::string{where} + "/afar-test-XXXXXX";
  if (!::mkdtemp(path.data()))
    throw std::runtime_error{"cannot make a folder in " + std::string{where}};
  return path;
}

// The folders of this run, gone at its end. local: lives in XDG_RUNTIME_DIR, which must not be the
// user's: a test must never meet the locks of real programs.
class run final : public ::testing::Environment {
 public:
  void SetUp() override {
    threads_ = threads_of_this_process();
    temp_ = make_folder(std::filesystem::temp_directory_path().c_str());
    runtime_ = make_folder("/dev/shm");
    ::setenv("XDG_RUNTIME_DIR", runtime_.c_str(), 1);
  }
  void TearDown() override {
    std::error_code ignored;
    std::filesystem::remove_all(temp_, ignored);
    std::filesystem::remove_all(runtime_, ignored);
    redis_.reset();
    // What a server wrote is half of the story of a failure, and its folder goes away.
    if (::testing::UnitTest::GetInstance()->Failed())
      for (const auto& [size, servers] : zookeeper_) std::cerr << servers->complaints();
    zookeeper_.clear();
    databases_.clear();
  }
  const std::string& temp() const noexcept { return temp_; }
  std::size_t threads() const noexcept { return threads_; }
  // The address of servers of this kind, which the first test that wants them starts.
  std::string redis(std::string_view kind) {
    const std::lock_guard lock{mutex_};
    if (!redis_) redis_ = std::make_unique<redis_places>();
    return redis_->address(kind);
  }
  std::string sql(database kind) {
    const std::lock_guard lock{mutex_};
    auto& server = databases_[kind];
    if (!server) server = std::make_unique<sql_server>(kind);
    return server->address();
  }

  // So many of them, as one ensemble.
  std::string zookeeper(std::size_t servers) {
    const std::lock_guard lock{mutex_};
    auto& at = zookeeper_[servers];
    if (!at) at = std::make_unique<zookeeper_server>(servers);
    return at->address();
  }

 private:
  std::size_t threads_ = 0;
  std::string temp_;
  std::string runtime_;
  std::mutex mutex_;
  std::unique_ptr<redis_places> redis_;
  std::map<std::size_t, std::unique_ptr<zookeeper_server>> zookeeper_;
  std::map<database, std::unique_ptr<sql_server>> databases_;
};

// gtest owns it; made before main, used from SetUp on.
run* const this_run = [] {
  auto* made = new run;
  ::testing::AddGlobalTestEnvironment(made);
  return made;
}();

std::string name_of(std::string_view url) {
  std::string name{url.substr(0, url.find(':'))};
  // Where a scheme has several forms, which one.
  if (const auto at = url.find("layout="); at != std::string_view::npos)
    name.append("_").append(url.substr(at + 7));
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

std::vector<engine> read_engines() {
  const char* listed = std::getenv("AFAR_TEST_URLS");
  std::istringstream urls{listed ? listed : default_urls};
  std::vector<engine> found;
  std::map<std::string, int> seen;
  for (std::string url; urls >> url;) {
    std::string name = name_of(url);
    if (const int n = ++seen[name]; n > 1) name += "_" + std::to_string(n);
    found.push_back({std::move(name), std::move(url)});
  }
  return found;
}

std::string filled_in(std::string url) {
  const auto fill = [&](std::string_view mark, auto value) {
    if (const auto at = url.find(mark); at != std::string::npos)
      url.replace(at, mark.size(), value());
  };
  fill("{temp}", [] { return this_run->temp(); });
  fill("{mysql}", [] { return this_run->sql(database::mariadb); });
  fill("{postgresql}", [] { return this_run->sql(database::postgresql); });
  for (const std::string_view kind : redis_places::kinds)
    fill("{" + std::string{kind} + "}", [&] { return this_run->redis(kind); });
  fill("{zookeeper}", [] { return this_run->zookeeper(1); });
  fill("{zookeeper3}", [] { return this_run->zookeeper(3); });
  return url;
}

}  // namespace

void PrintTo(const engine& e, std::ostream* out) { *out << e.url; }

std::size_t threads_at_start() noexcept { return this_run->threads(); }

const std::vector<engine>& engines() {
  static const std::vector<engine> all = read_engines();
  return all;
}

client connect(const engine& e, client_options o, std::string_view query) {
  std::string url = filled_in(e.url);
  if (!query.empty()) {
    url += url.find('?') == std::string::npos ? '?' : '&';
    url += query;
  }
  return client{url, std::move(o)};
}

std::string fresh_name(std::string_view what) {
  static std::atomic<unsigned> number{0};
  static const auto run = std::chrono::system_clock::now().time_since_epoch().count();
  std::ostringstream name;
  // Of one width: a test that adds a digit to its name must not meet another's.
  name << "test/" << ::getpid() << '-' << run << '/' << std::setw(6) << std::setfill('0')
       << ++number;
  if (!what.empty()) name << '/' << what;
  return name.str();
}

}  // namespace afar::test
