#include <afar/detail/function.hpp>

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <stdexcept>
#include <string>

namespace afar::detail {
namespace {

// Counts its live objects; `Padding` makes it small or large for the function's own room.
template <std::size_t Padding>
struct counted {
  explicit counted(int& n) : alive(&n) { ++*alive; }
  counted(counted&& other) noexcept : alive(other.alive), calls(other.calls) { ++*alive; }
  counted(const counted& other) : alive(other.alive), calls(other.calls) { ++*alive; }
  ~counted() { --*alive; }
  int operator()(int x) { return x + calls++; }
  int* alive;
  int calls = 0;
  std::array<char, Padding> padding{};
};
using small_target = counted<1>;
using large_target = counted<200>;

template <class Target>
class function_of : public ::testing::Test {};
using targets = ::testing::Types<small_target, large_target>;
TYPED_TEST_SUITE(function_of, targets);

TYPED_TEST(function_of, a_target_calls_that_one_object_every_time) {
  int alive = 0;
  function<int(int)> f = TypeParam{alive};
  EXPECT_EQ(f(10), 10);
  EXPECT_EQ(f(10), 11);
  EXPECT_EQ(alive, 1);
}

TYPED_TEST(function_of, a_target_destroys_it_once) {
  int alive = 0;
  {
    const function<int(int)> f = TypeParam{alive};
  }
  EXPECT_EQ(alive, 0);
}

TYPED_TEST(function_of, a_target_moves_with_its_state_and_leaves_nothing) {
  int alive = 0;
  function<int(int)> from = TypeParam{alive};
  from(0);
  function<int(int)> to = std::move(from);
  EXPECT_EQ(alive, 1);
  EXPECT_FALSE(from);  // NOLINT(bugprone-use-after-move): that is what we test
  EXPECT_EQ(to(10), 11);
}

TYPED_TEST(function_of, a_target_destroys_it_when_another_is_assigned) {
  int alive = 0;
  int others = 0;
  function<int(int)> f = TypeParam{alive};
  f = function<int(int)>{TypeParam{others}};
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(others, 1);
  f = nullptr;
  EXPECT_EQ(others, 0);
  EXPECT_FALSE(f);
}

TYPED_TEST(function_of, a_target_survives_assignment_to_itself) {
  int alive = 0;
  function<int(int)> f = TypeParam{alive};
  auto& same = f;
  f = std::move(same);
  ASSERT_TRUE(f);
  EXPECT_EQ(f(1), 1);
  EXPECT_EQ(alive, 1);
}

TEST(function, is_empty_until_it_has_a_target) {
  function<void()> none;
  function<void()> null = nullptr;
  EXPECT_FALSE(none);
  EXPECT_FALSE(null);
  function<void()> moved = function<void()>{};
  EXPECT_FALSE(moved);
}

TEST(function, holds_what_can_only_be_moved) {
  function<int()> f = [p = std::make_unique<int>(7)] { return *p; };
  auto g = std::move(f);
  EXPECT_EQ(g(), 7);
}

TEST(function, keeps_a_target_whose_move_may_throw_at_its_place) {
  struct moves_with_throw {
    moves_with_throw() = default;
    moves_with_throw(moves_with_throw&& other) noexcept(false) : moves(other.moves + 1) {}
    int operator()() const { return moves; }
    int moves = 0;
  };
  function<int()> f = moves_with_throw{};
  const int before = f();
  auto g = std::move(f);
  EXPECT_EQ(g(), before);
}

TEST(function, respects_the_alignment_of_its_target) {
  struct alignas(64) aligned {
    bool operator()() const { return reinterpret_cast<std::uintptr_t>(this) % 64 == 0; }
  };
  function<bool()> f = aligned{};
  EXPECT_TRUE(f());
}

TEST(function, passes_references_values_and_results) {
  function<std::unique_ptr<int>(std::unique_ptr<int>, int&)> f = [](std::unique_ptr<int> p,
                                                                    int& n) {
    n += *p;
    return p;
  };
  int n = 1;
  const auto back = f(std::make_unique<int>(4), n);
  EXPECT_EQ(n, 5);
  EXPECT_EQ(*back, 4);
}

TEST(function, lets_exceptions_through) {
  function<void()> f = [] { throw std::runtime_error("x"); };
  EXPECT_THROW(f(), std::runtime_error);
  EXPECT_THROW(f(), std::runtime_error);
}

TEST(function, takes_plain_functions) {
  function<int(const std::string&)> f =
      +[](const std::string& s) { return static_cast<int>(s.size()); };
  EXPECT_EQ(f("four"), 4);
}

static_assert(!std::is_copy_constructible_v<function<void()>>);
static_assert(!std::is_constructible_v<function<void()>, int>);
static_assert(!std::is_constructible_v<function<int()>, void (*)()>);

}  // namespace
}  // namespace afar::detail
