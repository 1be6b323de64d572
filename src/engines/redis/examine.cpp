#include "engines/redis/examine.hpp"

#include "engines/redis/failure.hpp"
#include "engines/redis/info.hpp"
#include "engines/redis/request.hpp"

#include <fmt/format.h>

#include <chrono>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace afar::engines::redis {
namespace {

using grade = finding::grade;

constexpr std::int64_t mib = 1'024 * 1'024;

// What is asked in one go; the rights follow, in their order.
enum question : std::size_t { q_info, q_time, q_fsync, q_idle, q_rights };

struct right {
  std::string_view topic;
  std::vector<std::string_view>
      words;  // a command that needs it; an empty word: the client's channel
  grade without;
  std::string_view effect;  // of not having it
};

const std::vector<right>& rights() {
  static const std::vector<right> all{
      {"publish", {"PUBLISH", {}, "x"}, grade::failure, "waiters learn of their turn by polling"},
      {"subscribe", {"SUBSCRIBE", {}}, grade::failure, "waiters learn of their turn by polling"},
      {"client|kill",
       {"CLIENT", "KILL", "ID", "1"},
       grade::warning,
       "a request of a broken connection may be carried out late, and hold a name for a lease"},
      {"scan", {"SCAN", "0"}, grade::warning, "afar ls and afar gc do not work"}};
  return all;
}

// ---- rows ---------------------------------------------------------------------------------------

finding server(std::string_view info) {
  const auto up = info_number(info, "uptime_in_seconds").value_or(0);
  const auto text = fmt::format("Redis {}, {}, up for {} s", info_field(info, "redis_version"),
                                info_field(info, "role"), up);
  if (info_field(info, "role") != "master")
    return {grade::failure, "server", text + ": it refuses writes", "name the master"};
  if (info_field(info, "loading") == "1")
    return {grade::failure, "server", text + ": it is loading its data", "wait until it has"};
  return {grade::ok, "server", text, {}};
}

finding eviction(std::string_view info) {
  const std::string policy = info_field(info, "maxmemory_policy");
  if (policy == "noeviction") return {grade::ok, "eviction", "noeviction: no lock is dropped", {}};
  return {grade::failure, "eviction",
          "maxmemory-policy " + policy + " drops locks when the server is full",
          "CONFIG SET maxmemory-policy noeviction, or a server of its own for locks"};
}

finding memory(std::string_view info) {
  const auto used = info_number(info, "used_memory").value_or(0);
  const auto most = info_number(info, "maxmemory").value_or(0);
  if (most == 0) return {grade::ok, "memory", fmt::format("{} MiB used, no limit", used / mib), {}};
  auto text = fmt::format("{} of {} MiB used", used / mib, most / mib);
  if (used >= most)
    return {grade::failure, "memory", text + ": new locks are refused", "raise maxmemory"};
  if (used > most / 10 * 9)
    return {grade::warning, "memory", text + ": at the limit new locks are refused",
            "raise maxmemory"};
  return {grade::ok, "memory", std::move(text), {}};
}

finding durability(std::string_view info, const reply& fsync) {
  if (info_field(info, "aof_enabled") != "1")
    return {grade::warning, "durability",
            "AOF off: a restart forgets locks, and another may get what is still held (tokens grow "
            "all the same)",
            "CONFIG SET appendonly yes"};
  if (info_field(info, "aof_last_write_status") != "ok")
    return {grade::failure, "durability", "the last write of the AOF failed: writes are refused",
            "look at the server's log and disk"};
  const std::string& how = fsync.at(1).text;
  if (how == "always") return {grade::ok, "durability", "AOF, fsync always", {}};
  return {grade::ok,
          "durability",
          fmt::format("AOF, fsync {}: a crash of the server's machine may forget the last seconds",
                      how.empty() ? "unknown" : how),
          {}};
}

finding snapshots(std::string_view info) {
  if (info_field(info, "rdb_last_bgsave_status") == "ok")
    return {grade::ok, "snapshots", "none has failed", {}};
  return {grade::warning, "snapshots",
          "the last one failed: with stop-writes-on-bgsave-error every lock is refused",
          "look at the server's log and disk"};
}

finding failover(std::string_view info) {
  const auto replicas = info_number(info, "connected_slaves").value_or(0);
  // Only said where min-replicas-to-write is set.
  const auto good = info_number(info, "min_slaves_good_slaves");
  if (good && *good == 0)
    return {grade::failure, "failover",
            "min-replicas-to-write is set, and no replica is near enough: writes are refused",
            "mend the replicas"};
  if (replicas == 0)
    return {grade::ok, "failover", "no replica: nobody takes over, and nobody grants twice", {}};
  return {grade::warning, "failover",
          fmt::format("{} replica{}: one that takes over may not know the newest locks, and grant "
                      "them again (min-replicas-to-write does not prevent that)",
                      replicas, replicas == 1 ? "" : "s"),
          "check tokens where it matters (afar::fence, afar check-token)"};
}

finding clients(std::string_view info, const reply& timeout) {
  const auto now = info_number(info, "connected_clients").value_or(0);
  const auto most = info_number(info, "maxclients").value_or(0);
  auto text = fmt::format("{} of {} connections", now, most);
  if (now > most / 10 * 9)
    return {grade::warning, "clients", text + "; a client of afar needs three", "raise maxclients"};
  if (const auto idle = timeout.at(1).integer().value_or(0); idle > 0)
    text += fmt::format("; idle ones are ended after {} s, and dialed again", idle);
  return {grade::ok, "clients", std::move(text), {}};
}

finding clock(const reply& time, std::chrono::system_clock::time_point here) {
  using namespace std::chrono;
  const auto there = system_clock::time_point{seconds{time.at(0).integer().value_or(0)} +
                                              microseconds{time.at(1).integer().value_or(0)}};
  const auto ahead = duration_cast<milliseconds>(there - here).count();
  return {grade::ok,
          "clock",
          fmt::format("the server's is {} ms {} (leases and tokens are its own)",
                      ahead < 0 ? -ahead : ahead, ahead < 0 ? "behind" : "ahead"),
          {}};
}

// A missing right, or nothing. ACL DRYRUN answers OK, or in words what is missing.
std::optional<finding> lacking(const right& r, const reply& answer) {
  if (answer.failed() || answer.text == "OK") return std::nullopt;
  return finding{r.without, "rights", fmt::format("{}: {}", answer.text, r.effect),
                 fmt::format("ACL SETUSER … +{}, see docs/engines/redis.md", r.topic)};
}

void add_rights(std::vector<finding>& out, std::span<const reply> answers) {
  if (answers.front().failed()) {
    out.push_back(
        {grade::ok, "rights", "not known (ACL DRYRUN: " + answers.front().text + ")", {}});
    return;
  }
  bool all = true;
  for (std::size_t i = 0; i < rights().size(); ++i)
    if (auto f = lacking(rights()[i], answers[i])) {
      out.push_back(std::move(*f));
      all = false;
    }
  if (all) out.push_back({grade::ok, "rights", "publish, subscribe, client|kill and scan", {}});
}

std::vector<finding> judge(const std::vector<reply>& answers) {
  std::vector<finding> out;
  if (answers[q_info].failed()) {
    out.push_back({grade::warning, "server", "does not tell of itself: " + answers[q_info].text,
                   "ACL SETUSER … +info, else nobody sees a setting that drops locks"});
  } else {
    const std::string_view info = answers[q_info].text;
    out = {server(info),
           eviction(info),
           memory(info),
           durability(info, answers[q_fsync]),
           snapshots(info),
           failover(info),
           clients(info, answers[q_idle])};
  }
  if (!answers[q_time].failed())
    out.push_back(clock(answers[q_time], std::chrono::system_clock::now()));
  add_rights(out, std::span{answers}.subspan(q_rights));
  return out;
}

// ---- asking -------------------------------------------------------------------------------------

class examination : public std::enable_shared_from_this<examination> {
 public:
  examination(std::shared_ptr<link> to, spi::time_point by, spi::done<std::vector<finding>> done)
      : to_(std::move(to)), by_(by), done_(std::move(done)) {}

  void start(std::vector<std::vector<std::string_view>> questions) {
    answers_.resize(questions.size());
    missing_ = questions.size();
    for (std::size_t i = 0; i < questions.size(); ++i) {
      auto r = make_request(by_, [self = shared_from_this(), i](spi::status s, reply answer) {
        self->answered(i, std::move(s), std::move(answer));
      });
      command words{r->words, questions[i].size()};
      for (const std::string_view w : questions[i]) words.add(w);
      to_->submit(std::move(r));
    }
  }

 private:
  void answered(std::size_t i, spi::status s, reply answer) {
    {
      const std::lock_guard lock{m_};
      if (s) failure_ = std::move(s);
      answers_[i] = std::move(answer);
      if (--missing_ > 0) return;
    }
    if (failure_) return done_(std::move(failure_), {});
    done_({}, judge(answers_));
  }

  const std::shared_ptr<link> to_;
  const spi::time_point by_;
  spi::done<std::vector<finding>> done_;

  std::mutex m_;  // answers come on any thread
  std::size_t missing_ = 0;
  spi::status failure_;
  std::vector<reply> answers_;
};

}  // namespace

void examine(const std::shared_ptr<link>& to, const address& where, const std::string& channel,
             spi::time_point by, spi::done<std::vector<finding>> done) {
  std::vector<std::vector<std::string_view>> questions(q_rights);
  questions[q_info] = {"INFO"};
  questions[q_time] = {"TIME"};
  questions[q_fsync] = {"CONFIG", "GET", "appendfsync"};
  questions[q_idle] = {"CONFIG", "GET", "timeout"};
  const std::string_view user = where.user.empty() ? std::string_view{"default"} : where.user;
  for (const right& r : rights()) {
    auto& words =
        questions.emplace_back(std::initializer_list<std::string_view>{"ACL", "DRYRUN", user});
    for (const std::string_view w : r.words) words.push_back(w.empty() ? channel : w);
  }
  std::make_shared<examination>(to, by, std::move(done))->start(std::move(questions));
}

}  // namespace afar::engines::redis
