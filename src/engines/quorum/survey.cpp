#include "engines/quorum/survey.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

namespace afar::engines::quorum {
namespace {

// One name at all voters.
class look : public std::enable_shared_from_this<look> {
 public:
  struct found {
    std::optional<spi::entry> entry = {};
    std::size_t first = 0;  // the voter that knows it
    std::string watch_key = {};
  };
  using then = detail::function<void(spi::status, found)>;

  look(voters_ptr who, std::string name, std::optional<spi::kind> kind, then t)
      : who_(std::move(who)),
        name_(std::move(name)),
        kind_(kind),
        replies_(who_->size()),
        missing_(who_->size()),
        then_(std::move(t)) {}

  void start(spi::time_point by) {
    for (std::size_t i = 0; i < who_->size(); ++i) {
      spi::survey_query q;
      q.name = name_;
      q.kind = kind_;
      who_->all[i]->survey(q, by,
                           [self = shared_from_this(), i](spi::status s, spi::survey_reply r) {
                             self->answered(i, std::move(s), std::move(r));
                           });
    }
  }

 private:
  void answered(std::size_t i, spi::status s, spi::survey_reply r) {
    {
      const std::lock_guard lock{m_};
      if (s)
        failures_.push_back(std::move(s));
      else
        replies_[i] = std::move(r);
      if (--missing_ > 0) return;
    }
    if (failures_.size() > who_->size() - (who_->size() / 2 + 1))
      return then_(worst(failures_, who_->size()), {});
    then_({}, merged());
  }

  found merged() {
    found out;
    out.first = who_->size();
    struct voted {
      spi::claimant who = {};
      std::vector<std::uint64_t> tokens = {};
    };
    std::map<spi::owner_id, voted> holders;
    for (std::size_t i = 0; i < replies_.size(); ++i) {
      if (!replies_[i].watch_key.empty()) out.watch_key = replies_[i].watch_key;
      for (spi::entry& e : replies_[i].entries) {
        out.first = std::min(out.first, i);
        for (const spi::claimant& c : e.holders) {
          voted& v = holders[c.owner];
          v.tokens.push_back(c.token);
          if (v.tokens.size() == 1) v.who = c;
        }
        const auto last = std::max(e.last_token, out.entry ? out.entry->last_token : 0);
        if (!out.entry) out.entry = std::move(e);
        out.entry->last_token = last;
      }
    }
    if (!out.entry) return out;
    out.entry->holders.clear();
    const std::size_t needed = who_->needed(out.entry->kind, out.entry->limit);
    for (auto& [owner, v] : holders) {
      if (v.tokens.size() < needed) continue;
      // What so many have confirmed; one whose vote came late may have given a larger one.
      std::ranges::sort(v.tokens, std::greater{});
      v.who.token = v.tokens[needed - 1];
      out.entry->holders.push_back(std::move(v.who));
    }
    if (out.entry->holders.empty()) out.entry.reset();  // votes on their way
    return out;
  }

  const voters_ptr who_;
  const std::string name_;
  const std::optional<spi::kind> kind_;
  std::mutex m_;
  std::vector<spi::survey_reply> replies_;
  std::vector<spi::status> failures_;
  std::size_t missing_;
  then then_;
};

// A page of one voter, every name of it looked at everywhere.
class page : public std::enable_shared_from_this<page> {
 public:
  page(voters_ptr who, const spi::survey_query& q, spi::time_point by,
       spi::done<spi::survey_reply> done)
      : who_(std::move(who)), kind_(q.kind), most_(q.most), by_(by), done_(std::move(done)) {
    // "<voter> <its cursor>"
    const char* at = q.cursor.data();
    const char* const end = at + q.cursor.size();
    at = std::from_chars(at, end, voter_).ptr;
    if (at != end) cursor_.assign(at + 1, end);
    voter_ = std::min(voter_, who_->size() - 1);
  }

  void start() {
    spi::survey_query q;
    q.kind = kind_;
    q.most = most_;
    q.cursor = cursor_;
    who_->all[voter_]->survey(
        q, by_, [self = shared_from_this()](const spi::status& s, spi::survey_reply r) {
          self->listed(s, std::move(r));
        });
  }

 private:
  void listed(const spi::status& s, spi::survey_reply r) {
    if (!s && !r.cursor.empty())
      out_.cursor = std::to_string(voter_) + " " + r.cursor;
    else if (voter_ + 1 < who_->size())
      out_.cursor = std::to_string(voter_ + 1) + " ";
    missing_ = s ? 0 : r.entries.size();  // one that is away has nothing to say
    if (missing_ == 0) return done_({}, std::move(out_));
    for (spi::entry& e : r.entries)
      std::make_shared<look>(who_, std::move(e.name), e.kind,
                             [self = shared_from_this()](spi::status failed, look::found f) {
                               self->found(std::move(failed), std::move(f));
                             })
          ->start(by_);
  }

  void found(spi::status failed, look::found f) {
    {
      const std::lock_guard lock{m_};
      if (failed) failure_ = std::move(failed);
      if (f.entry && f.first == voter_) out_.entries.push_back(std::move(*f.entry));
      if (--missing_ > 0) return;
    }
    done_(std::move(failure_), std::move(out_));
  }

  const voters_ptr who_;
  const std::optional<spi::kind> kind_;
  const std::uint32_t most_;
  const spi::time_point by_;
  spi::done<spi::survey_reply> done_;
  std::size_t voter_ = 0;
  std::string cursor_;

  std::mutex m_;
  std::size_t missing_ = 0;
  spi::status failure_;
  spi::survey_reply out_;
};

struct examination {
  std::mutex m;
  std::vector<std::vector<finding>> rows;
  std::vector<spi::status> failures;
  std::size_t missing = 0;
  spi::done<std::vector<finding>> done;
};

finding votes(std::size_t answering, std::size_t of) {
  using grade = finding::grade;
  const std::size_t needed = of / 2 + 1;
  const auto text = std::to_string(answering) + " of " + std::to_string(of) + " servers answer, " +
                    std::to_string(needed) + " are needed";
  if (answering < needed) return {grade::failure, "quorum", text, "start the others"};
  if (answering < of) return {grade::warning, "quorum", text, "start the others"};
  return {grade::ok, "quorum", text, {}};
}

}  // namespace

void survey(const voters_ptr& who, const spi::survey_query& q, spi::time_point by,
            spi::done<spi::survey_reply> done) {
  if (q.name.empty()) return std::make_shared<page>(who, q, by, std::move(done))->start();
  std::make_shared<look>(who, std::string{q.name}, q.kind,
                         [done = std::move(done)](spi::status s, look::found f) mutable {
                           spi::survey_reply out;
                           if (f.entry) out.entries.push_back(std::move(*f.entry));
                           out.watch_key = std::move(f.watch_key);
                           done(std::move(s), std::move(out));
                         })
      ->start(by);
}

void examine(const voters_ptr& who, spi::time_point by, spi::done<std::vector<finding>> done) {
  const auto all = std::make_shared<examination>();
  all->rows.resize(who->size());
  all->missing = who->size();
  all->done = std::move(done);
  for (std::size_t i = 0; i < who->size(); ++i)
    who->all[i]->examine(by, [all, i](const spi::status& s, std::vector<finding> rows) {
      {
        const std::lock_guard lock{all->m};
        if (s) all->failures.push_back(s);
        for (finding& f : rows) f.text = "server " + std::to_string(i + 1) + ": " + f.text;
        all->rows[i] = std::move(rows);
        if (--all->missing > 0) return;
      }
      std::vector<finding> out{votes(all->rows.size() - all->failures.size(), all->rows.size())};
      for (auto& some : all->rows) std::ranges::move(some, std::back_inserter(out));
      all->done({}, std::move(out));
    });
}

}  // namespace afar::engines::quorum
