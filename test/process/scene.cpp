#include "scene.hpp"

#include "engines/registry.hpp"
#include "support/patience.hpp"

#include <afar/spi/url.hpp>

#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <future>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace afar::test {

namespace {

namespace fs = std::filesystem;

class deaf_host final : public spi::host {
 public:
  void wake(std::string_view) noexcept override {}
  void wake_all() noexcept override {}
  void granted(const spi::owner_id&, std::uint64_t, std::uint64_t,
               spi::milliseconds) noexcept override {}
  void asked(const spi::owner_id&) noexcept override {}
  void session_lost() noexcept override {}
};

spi::survey_reply survey_of(spi::engine& engine, const spi::survey_query& query) {
  std::promise<spi::survey_reply> promise;
  auto future = promise.get_future();
  engine.survey(query, boot_clock::now() + long_time,
                [&](const spi::status& status, spi::survey_reply reply) {
                  if (status)
                    promise.set_exception(std::make_exception_ptr(
                        lock_error(status.code, std::string{query.name}, status.detail.str())));
                  else
                    promise.set_value(std::move(reply));
                });
  return future.get();
}

std::vector<spi::entry> survey_folder(const std::string& folder, std::string_view name) {
  deaf_host host;
  spi::url where;
  where.scheme = "file";
  where.path = folder;
  where.printable = "file://" + folder;
  const auto engine = engines::open(where, host, boot_clock::now() + long_time);
  std::vector<spi::entry> all;
  std::string cursor;
  do {
    spi::survey_query query;
    query.name = name;
    query.cursor = cursor;
    spi::survey_reply reply = survey_of(*engine, query);
    std::move(reply.entries.begin(), reply.entries.end(), std::back_inserter(all));
    cursor = std::move(reply.cursor);
  } while (!cursor.empty());
  engine->close();
  return all;
}

std::size_t entries_of(const char* folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator{folder}, fs::directory_iterator{}));
}

}  // namespace

scene::scene() : folder_("/dev/shm/afar-process-XXXXXX") {
  if (::mkdtemp(folder_.data()) == nullptr)
    throw std::system_error(errno, std::generic_category(), folder_);
  fs::create_directory(path("engine"));
  fs::permissions(path("engine"), fs::perms::owner_all);
  url_ = "file://" + path("engine");
}

scene::~scene() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

afar::client scene::client(client_options o) const { return afar::client{url_, std::move(o)}; }

std::vector<spi::entry> scene::survey() const { return survey_folder(path("engine"), {}); }

spi::entry scene::look(const std::string& name) const {
  std::vector<spi::entry> found = survey_folder(path("engine"), name);
  return found.empty() ? spi::entry{} : std::move(found.front());
}

bool scene::becomes(const std::string& name, std::size_t holders, std::size_t waiters) const {
  return eventually([&] {
    const spi::entry seen = look(name);
    return seen.holders.size() == holders && seen.waiters.size() == waiters;
  });
}

std::size_t open_files() { return entries_of("/proc/self/fd"); }
std::size_t running_threads() { return entries_of("/proc/self/task"); }

long setting(const char* variable, long otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtol(text, nullptr, 10);
}

std::chrono::nanoseconds durations::at(double part) const {
  if (all_.empty()) return {};
  std::vector<std::chrono::nanoseconds> sorted = all_;
  std::sort(sorted.begin(), sorted.end());
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(last * part + 0.5)];
}

void durations::print(const std::string& what) const {
  const auto ms = [&](double part) { return static_cast<double>(at(part).count()) / 1e6; };
  std::printf("%s: n=%zu p50=%.2f p99=%.2f max=%.2f ms\n", what.c_str(), all_.size(), ms(0.5),
              ms(0.99), ms(1.0));
}

}  // namespace afar::test
