#include "torture/hand.hpp"

#include <afar/counter.hpp>
#include <afar/stock.hpp>

namespace afar::torture {
namespace {

class counter_tool final : public tool {
 public:
  counter_tool(workplace& at, std::uint16_t object)
      : object_(object), counter_(at.locks, at.todo.objects[object].name) {}
  void take_a_turn(hand& me) override {
    std::error_code ec;
    if (me.chance(20)) {
      me.note(object_, {.what = act::reading});
      const auto value = counter_.load(ec);
      if (!ec) me.note(object_, {.what = act::saw, .value = value});
      return;
    }
    const auto number = me.next_number();
    me.note(object_, {.what = act::changing, .value = number});
    const auto before = counter_.fetch_add(1, ec);
    me.note(object_, ec ? fact{.what = act::unknown, .value = number}
                        : fact{.what = act::changed, .value = before});
  }

 private:
  const std::uint16_t object_;
  counter counter_;
};

class stock_tool final : public tool {
 public:
  stock_tool(workplace& at, std::uint16_t object)
      : object_(object), stock_(at.locks, at.todo.objects[object].name) {}
  void take_a_turn(hand& me) override {
    std::error_code ec;
    if (me.chance(20)) {
      me.note(object_, {.what = act::reading});
      const auto levels = stock_.levels(ec);
      if (!ec && levels) me.note(object_, {.what = act::saw, .value = levels->taken});
      return;
    }
    const auto number = me.next_number();
    me.note(object_, {.what = act::changing, .value = number});
    const auto sold = stock_.take(1, me.order(number), "anybody", ec);
    me.note(object_, ec ? fact{.what = act::unknown, .value = number}
                        : fact{.what = act::changed, .value = sold == take_result::taken});
  }

 private:
  const std::uint16_t object_;
  stock stock_;
};

}  // namespace

std::unique_ptr<tool> make_value_tool(workplace& at, std::uint16_t object) {
  const sort s = at.todo.objects[object].sort;
  if (s == sort::counter) return std::make_unique<counter_tool>(at, object);
  if (s == sort::stock) return std::make_unique<stock_tool>(at, object);
  return nullptr;
}

}  // namespace afar::torture
