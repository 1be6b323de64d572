#include "engines/redis/escaped_names.hpp"

#include <utility>

namespace afar::engines::redis {
namespace {

bool plain(std::string_view name) { return name.find_first_of("%{}") == std::string_view::npos; }

// A step's argument under another name. Shared with its completion, because the engine may look at it
// until then.
template <class Step>
struct renamed {
  explicit renamed(const Step& original) : step(original), name(escaped(original.what.name)) {
    step.what.name = name;
  }
  renamed(const renamed&) = delete;
  renamed& operator=(const renamed&) = delete;
  Step step;
  const std::string name;
};

template <class Reply, class Kept>
spi::done<Reply> keeping(Kept kept, spi::done<Reply> done) {
  return [kept = std::move(kept), done = std::move(done)](spi::status s, Reply r) mutable {
    done(std::move(s), std::move(r));
  };
}

}  // namespace

std::string escaped(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '%')
      out += "%25";
    else if (c == '{')
      out += "%7B";
    else if (c == '}')
      out += "%7D";
    else
      out += c;
  }
  return out;
}

std::string unescaped(std::string_view key) {
  std::string out;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const std::string_view three = key.substr(i, 3);
    const char c = three == "%25" ? '%' : three == "%7B" ? '{' : three == "%7D" ? '}' : '\0';
    out += c != '\0' ? c : key[i];
    if (c != '\0') i += 2;
  }
  return out;
}

void escaped_names::acquire(spi::claim& a, spi::time_point by, spi::done<spi::acquire_reply> done) {
  if (plain(a.what.name)) return inner_->acquire(a, by, std::move(done));
  const auto other = std::make_shared<renamed<spi::claim>>(a);
  inner_->acquire(other->step, by, keeping(other, std::move(done)));
}

void escaped_names::renew(std::span<spi::claim* const> claims, spi::time_point by,
                          spi::renewed each) {
  std::vector<std::shared_ptr<renamed<spi::claim>>> others;
  std::vector<spi::claim*> all;
  for (spi::claim* a : claims) {
    if (!plain(a->what.name)) {
      others.push_back(std::make_shared<renamed<spi::claim>>(*a));
      a = &others.back()->step;
    }
    all.push_back(a);
  }
  if (others.empty()) return inner_->renew(claims, by, std::move(each));
  inner_->renew(
      all, by,
      [others = std::move(others), each = std::move(each)](
          std::size_t i, spi::status s, spi::renew_reply r) mutable { each(i, std::move(s), r); });
}

void escaped_names::release(const spi::claim& a, spi::time_point by,
                            spi::done<spi::release_reply> done) {
  if (plain(a.what.name)) return inner_->release(a, by, std::move(done));
  const auto other = std::make_shared<renamed<spi::claim>>(a);
  inner_->release(other->step, by, keeping(other, std::move(done)));
}

void escaped_names::change(const spi::cell_change& ch, spi::time_point by,
                           spi::done<spi::cell_reply> done) {
  if (plain(ch.what.name)) return inner_->change(ch, by, std::move(done));
  const auto other = std::make_shared<renamed<spi::cell_change>>(ch);
  inner_->change(other->step, by, keeping(other, std::move(done)));
}

void escaped_names::record(const spi::ledger_change& ch, spi::time_point by,
                           spi::done<spi::ledger_reply> done) {
  if (plain(ch.what.name)) return inner_->record(ch, by, std::move(done));
  const auto other = std::make_shared<renamed<spi::ledger_change>>(ch);
  inner_->record(other->step, by, keeping(other, std::move(done)));
}

void escaped_names::evict(const spi::resource& what, const spi::owner_id& owner,
                          std::uint64_t token, spi::time_point by,
                          spi::done<spi::release_reply> done) {
  const auto name = std::make_shared<const std::string>(escaped(what.name));
  inner_->evict({what.kind, *name}, owner, token, by, keeping(name, std::move(done)));
}

void escaped_names::survey(const spi::survey_query& q, spi::time_point by,
                           spi::done<spi::survey_reply> done) {
  const auto name = std::make_shared<const std::string>(escaped(q.name));
  spi::survey_query other = q;
  other.name = *name;
  inner_->survey(other, by,
                 [name, done = std::move(done)](spi::status s, spi::survey_reply r) mutable {
                   for (auto& e : r.entries) e.name = unescaped(e.name);
                   done(std::move(s), std::move(r));
                 });
}

}  // namespace afar::engines::redis
