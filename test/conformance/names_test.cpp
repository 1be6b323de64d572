// Any name of 1 to 1,024 bytes is legal, and different names are different things.
#include "support/engines.hpp"
#include "support/errors.hpp"
#include "support/patience.hpp"

#include <afar/afar.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace afar::test {
namespace {

using namespace std::string_literals;

class names : public engine_test {
 protected:
  // Names that some engine might trip over, made fresh by a common beginning.
  std::vector<std::string> odd_names() const {
    std::vector<std::string> all;
    for (const auto& tail :
         {""s,   "\0"s,   "\0\0"s, "a\0b"s,     "a\0c"s,     "\r\n"s,     "\n"s,        "\r"s,
          ".."s, "."s,    "/"s,    "//"s,       "/../x"s,    "../x"s,     "{}"s,        "{"s,
          "}"s,  "{a}b"s, "'"s,    "\""s,       "\\"s,       "%00"s,      "%"s,         "?"s,
          "#"s,  "*"s,    "$(x)"s, "\xff\xfe"s, "\xc3\x28"s, "\xc3\xa9"s, "e\xcc\x81"s, " "s,
          "  "s, "case"s, "Case"s, "CASE"s,     "1"s,        "01"s})
      all.push_back(name + tail);
    const std::string room(1024 - name.size(), 'n');
    all.push_back(name + room);
    for (const std::size_t at : {std::size_t{0}, room.size() / 2, room.size() - 1}) {
      auto other = room;
      other[at] = 'N';
      all.push_back(name + other);
    }
    all.push_back(name + room.substr(1));
    all.push_back(name + std::string(511 - name.size(), 'n'));
    all.push_back(name + std::string(512 - name.size(), 'n'));
    return all;
  }
};

TEST_P(names, of_any_bytes_are_distinct_for_claims) {
  need<mutex>("mutex");
  if (IsSkipped()) return;
  const auto all = odd_names();
  std::vector<std::unique_ptr<mutex>> locked;
  for (const auto& n : all) {
    locked.push_back(std::make_unique<mutex>(one, n));
    EXPECT_TRUE(locked.back()->try_lock()) << ::testing::PrintToString(n);
  }
  for (const auto& n : all) EXPECT_FALSE(mutex(two, n).try_lock()) << ::testing::PrintToString(n);
}

TEST_P(names, of_any_bytes_are_distinct_for_cells) {
  need<counter>("counter");
  if (IsSkipped()) return;
  const auto all = odd_names();
  for (std::size_t i = 0; i < all.size(); ++i)
    counter(one, all[i]).store(static_cast<std::int64_t>(i) + 1);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(counter(two, all[i]).load(), static_cast<std::int64_t>(i) + 1)
        << ::testing::PrintToString(all[i]);
}

TEST_P(names, of_any_bytes_are_distinct_for_ledgers) {
  need<stock>("stock");
  if (IsSkipped()) return;
  const auto all = odd_names();
  for (std::size_t i = 0; i < all.size(); ++i)
    stock(one, all[i]).set(static_cast<std::int64_t>(i) + 1);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(stock(two, all[i]).remaining(), static_cast<std::int64_t>(i) + 1)
        << ::testing::PrintToString(all[i]);
}

TEST_P(names, without_a_common_beginning_work_too) {
  need<mutex>("mutex");
  if (IsSkipped()) return;
  for (const auto& n : {"\0"s, ".."s, "/"s, "{}"s, "\r\n"s, "\xff"s, "%"s}) {
    std::unique_ptr<mutex> m = std::make_unique<mutex>(one, n);
    ASSERT_TRUE(m->try_lock_for(long_time)) << ::testing::PrintToString(n);
    EXPECT_FALSE(mutex(two, n).try_lock()) << ::testing::PrintToString(n);
    EXPECT_EQ(m->name(), n);
    m->unlock();
  }
}

using maker = std::function<void(const client&, const std::string&)>;

template <class Primitive, class... Args>
maker making(Args... args) {
  return [=](const client& c, const std::string& n) { Primitive(c, n, args...); };
}

// Makes every primitive with this name; the results but "unsupported".
std::vector<std::error_code> made_with(const client& c, const std::string& n) {
  const std::vector<maker> all{making<mutex>(),
                               making<recursive_mutex>(),
                               making<fair_mutex>(),
                               making<shared_mutex>(),
                               making<leased_semaphore>(1U),
                               making<barrier>(1U),
                               making<election>(),
                               making<counter>(),
                               making<counting_semaphore<>>(1),
                               making<latch>(1),
                               making<latch>(),
                               making<stock>()};
  std::vector<std::error_code> codes;
  for (const auto& make : all) codes.push_back(thrown_by([&] { make(c, n); }));
  std::erase(codes, errc::unsupported);
  return codes;
}

TEST_P(names, must_not_be_empty) {
  for (const auto& code : made_with(one, "")) EXPECT_EQ(code, errc::bad_argument);
}

TEST_P(names, have_up_to_1024_bytes) {
  for (const auto& code : made_with(one, std::string(1024, 'n'))) EXPECT_FALSE(code);
  for (const auto& code : made_with(one, std::string(1025, 'n')))
    EXPECT_EQ(code, errc::bad_argument);
}

TEST_P(names, are_separated_by_a_prefix) {
  need<mutex>("mutex");
  if (IsSkipped()) return;
  const client apart = connect({.prefix = "apart/"});
  mutex here{one, name};
  mutex there{apart, name};
  EXPECT_TRUE(here.try_lock());
  EXPECT_TRUE(there.try_lock());
  EXPECT_EQ(there.name(), name);
}

TEST_P(names, are_the_prefix_and_the_rest_in_one) {
  need<mutex>("mutex");
  if (IsSkipped()) return;
  const client apart = connect({.prefix = "apart/"});
  const client by_url = connect({}, "prefix=apart/");
  mutex inside{apart, name};
  EXPECT_TRUE(inside.try_lock());
  EXPECT_FALSE(mutex(one, "apart/" + name).try_lock());
  EXPECT_FALSE(mutex(by_url, name).try_lock());
}

TEST_P(names, of_holds_are_without_the_prefix) {
  need<mutex>("mutex");
  if (IsSkipped()) return;
  const client apart = connect({.prefix = "apart/"});
  const hold h = mutex(apart, name).acquire();
  EXPECT_EQ(h.name(), name);
}

AFAR_FOR_EVERY_ENGINE(names);

}  // namespace
}  // namespace afar::test
