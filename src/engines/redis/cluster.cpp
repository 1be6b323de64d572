#include "engines/redis/cluster.hpp"

#include "engines/redis/info.hpp"
#include "engines/redis/opening.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace afar::engines::redis {
namespace {

constexpr int most_detours = 8;

std::string_view take_word(std::string_view& text) {
  const auto end = text.find("\r\n");
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  return line;
}

// Of a script: behind the number of keys.
std::string_view key_of(const request& r) {
  std::string_view words = r.words;
  take_word(words);
  take_word(words);
  const std::string_view head = take_word(words);
  std::size_t size = 0;
  std::from_chars(head.data() + 1, head.data() + head.size(), size);
  return words.substr(0, size);
}

// "host:port"; an IPv6 address has no brackets here.
address address_from(std::string_view text, const address& login) {
  address to = login;
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return to;
  to.host = text.substr(0, colon);
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), to.port);
  return to;
}

}  // namespace

cluster::cluster(std::shared_ptr<io> thread, const target& to, std::shared_ptr<visits> v,
                 spi::host& up, const std::string& channel,
                 detail::function<spi::status(const server&)> greeted)
    : io_(std::move(thread)),
      to_(to),
      visits_(std::move(v)),
      up_(up),
      greeted_(std::make_shared<decltype(greeted)>(std::move(greeted))),
      channel_(channel),
      pause_(io_->context()) {}

void cluster::open(spi::time_point by, const std::string& printable) {
  told_ = std::make_shared<subscriber>(io_, shared_from_this(), visits_, up_, channel_,
                                       to_.pushes_grants);
  opening mapped;
  start([mapped](spi::status s) mutable { mapped.answer(std::move(s)); });
  mapped.await(by, printable);
  opening heard;
  told_->start([heard](spi::status s, spi::watch_reply) mutable { heard.answer(std::move(s)); });
  heard.await(by, printable);
}

void cluster::close() noexcept {
  std::vector<master_ptr> all;
  {
    const std::lock_guard lock{m_};
    if (std::exchange(closed_, true)) return;
    all = std::exchange(masters_, {});
    std::ranges::move(std::exchange(guests_, {}), std::back_inserter(all));
    serving_.fill(nullptr);
  }
  for (const auto& one : all)
    for (const auto& l : one->ways) l->close();
  if (told_) told_->close();
  asio::post(io_->context(), [self = shared_from_this()] {
    self->pause_.cancel();
    self->opened_ = {};
  });
}

// ---- requests -----------------------------------------------------------------------------------

void cluster::submit(std::unique_ptr<request> r, way over) {
  master_ptr to;
  bool closed = false;
  {
    const std::lock_guard lock{m_};
    closed = closed_;
    to = serving_[slot_of(key_of(*r))];
  }
  if (to) return to->ways[static_cast<int>(over)]->submit(std::move(r));
  if (!closed) look_again();
  r->fail(closed ? spi::status{errc::closed}
                 : spi::status{errc::unavailable, "no server of the cluster serves this name"});
}

std::size_t cluster::count() {
  const std::lock_guard lock{m_};
  return masters_.size();
}

void cluster::submit_to(std::size_t number, std::unique_ptr<request> r) {
  master_ptr to;
  {
    const std::lock_guard lock{m_};
    if (number < masters_.size()) to = masters_[number];
  }
  if (!to) return r->fail({errc::unavailable, "the cluster has changed; ask again"});
  to->ways[0]->submit(std::move(r));
}

void cluster::examine_group(spi::time_point by, spi::done<std::vector<finding>> then) {
  auto r = make_request(by, [masters = count(), then = std::move(then)](spi::status s,
                                                                        const reply& got) mutable {
    using grade = finding::grade;
    finding f{grade::ok, "cluster", {}, {}};
    if (s || got.failed()) {
      f = {grade::warning, "cluster", "does not tell its state: " + (s ? s.detail.str() : got.text),
           "ACL SETUSER … +cluster|info"};
    } else {
      const auto slots = info_number(got.text, "cluster_slots_ok").value_or(0);
      f.text = std::to_string(masters) + " masters serve " + std::to_string(slots) + " of " +
               std::to_string(slot_count) + " slots; rows below are of the first";
      if (info_field(got.text, "cluster_state") != "ok" || slots < std::int64_t{slot_count})
        f = {grade::failure, "cluster", f.text + ": names in the others cannot be locked",
             "redis-cli --cluster fix"};
    }
    std::vector<finding> rows;
    rows.push_back(std::move(f));
    then({}, std::move(rows));
  });
  append(r->words, {"CLUSTER", "INFO"});
  submit_to(0, std::move(r));
}

// "MOVED <slot> <host>:<port>": from now on; "ASK …": only this one, while the slot moves.
bool cluster::redirect(std::unique_ptr<request>& r, const reply& error, way over) {
  std::string_view text = error.text;
  const bool moved = text.starts_with("MOVED ");
  if (text.starts_with("CLUSTERDOWN")) look_again();
  if ((!moved && !text.starts_with("ASK ")) || !r->code || ++r->detours > most_detours)
    return false;
  const auto colon = text.rfind(' ');
  const address to = address_from(text.substr(colon + 1), to_.login);
  master_ptr other;
  {
    const std::lock_guard lock{m_};
    if (closed_ || to.host.empty()) return false;
    other = find(to);
    if (!other) guests_.push_back(other = make(to));
    if (moved) serving_[slot_of(key_of(*r))] = other;
  }
  if (moved) look_again();
  r->asking = !moved;
  other->ways[static_cast<int>(over)]->submit(std::move(r));
  return true;
}

cluster::master_ptr cluster::find(const address& at) {
  for (const auto* list : {&masters_, &guests_})
    for (const auto& one : *list)
      if (one->at.text() == at.text()) return one;
  return nullptr;
}

cluster::master_ptr cluster::make(const address& at) {
  const auto made = std::make_shared<master>();
  made->at = at;
  const auto where = std::make_shared<fixed_address>(at);
  for (const way over : {way::commands, way::renewals})
    made->ways[static_cast<int>(over)] = std::make_shared<link>(
        io_, where, visits_,
        link::events{
            .greeted = [g = greeted_](const server& s) { return (*g)(s); },
            .elsewhere =
                [weak = weak_from_this(), over](std::unique_ptr<request>& r, const reply& error) {
                  const auto self = weak.lock();
                  return self && self->redirect(r, error, over);
                },
            .trouble =
                [weak = weak_from_this()] {
                  if (const auto self = weak.lock()) self->look_again();
                },
            .has_rivals = true});
  return made;
}

}  // namespace afar::engines::redis
