// The parts of the contract in words: for traces, and for engines that store or send them. Never change
// one: servers remember them.
#pragma once

#include <afar/spi/engine.hpp>

#include <optional>
#include <string_view>

namespace afar::spi {

constexpr std::string_view word(loss l) noexcept {
  switch (l) {
    case loss::none:
      return "none";
    case loss::expired:
      return "expired";
    case loss::evicted:
      return "evicted";
    case loss::asked:
      return "asked";
    case loss::session:
      return "session";
    case loss::unreachable:
      return "unreachable";
    case loss::closed:
      return "closed";
  }
  return "?";
}

constexpr std::string_view word(cell_action a) noexcept {
  switch (a) {
    case cell_action::load:
      return "load";
    case cell_action::store:
      return "store";
    case cell_action::add:
      return "add";
    case cell_action::compare_exchange:
      return "compare_exchange";
    case cell_action::erase:
      return "erase";
  }
  return "?";
}

constexpr std::string_view word(ledger_action a) noexcept {
  switch (a) {
    case ledger_action::define:
      return "define";
    case ledger_action::load:
      return "load";
    case ledger_action::restock:
      return "restock";
    case ledger_action::take:
      return "take";
    case ledger_action::reserve:
      return "reserve";
    case ledger_action::commit:
      return "commit";
    case ledger_action::cancel:
      return "cancel";
    case ledger_action::put_back:
      return "put_back";
    case ledger_action::erase:
      return "erase";
  }
  return "?";
}

constexpr std::string_view word(ledger_outcome o) noexcept {
  switch (o) {
    case ledger_outcome::done:
      return "done";
    case ledger_outcome::sold_out:
      return "sold_out";
    case ledger_outcome::not_open_yet:
      return "not_open_yet";
    case ledger_outcome::closed:
      return "closed";
    case ledger_outcome::limit_reached:
      return "limit_reached";
    case ledger_outcome::already_taken:
      return "already_taken";
    case ledger_outcome::no_such_stock:
      return "no_such_stock";
    case ledger_outcome::no_such_order:
      return "no_such_order";
    case ledger_outcome::expired:
      return "expired";
  }
  return "?";
}

// The other way; empty: there is no such word.
constexpr std::optional<ledger_outcome> ledger_outcome_of(std::string_view text) noexcept {
  for (auto o = ledger_outcome::done; o <= ledger_outcome::expired;
       o = static_cast<ledger_outcome>(static_cast<int>(o) + 1))
    if (word(o) == text) return o;
  return std::nullopt;
}

}  // namespace afar::spi
