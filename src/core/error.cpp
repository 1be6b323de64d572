// The category of afar's errors, the text of its exception, and the words of the observer.
#include <afar/error.hpp>
#include <afar/observer.hpp>

#include "core/visible.hpp"

#include <optional>

namespace afar {
namespace {

std::string_view message_of(errc e) noexcept {
  switch (e) {
    case errc::timed_out:
      return "timed out";
    case errc::cancelled:
      return "cancelled";
    case errc::not_owner:
      return "nothing is held that could be released";
    case errc::lost:
      return "lost before it was released";
    case errc::deadlock:
      return "this thread holds it already and would wait for itself";
    case errc::broken:
      return "broken: somebody left before all had arrived";
    case errc::wrong_use:
      return "in use as something else";
    case errc::unknown_outcome:
      return "no answer: it may or may not have been done";
    case errc::unavailable:
      return "unavailable";
    case errc::unsupported:
      return "not supported by this engine";
    case errc::bad_url:
      return "not a URL that afar can read";
    case errc::bad_argument:
      return "argument out of range";
    case errc::no_room:
      return "no room left in the engine's storage";
    case errc::denied:
      return "permission denied";
    case errc::damaged:
      return "damaged";
    case errc::overflow:
      return "the count would leave its range";
    case errc::closed:
      return "the client is closed";
    case errc::forked:
      return "the client belongs to the parent process; open one after fork()";
  }
  return {};
}

std::optional<std::errc> standard_form(errc e) noexcept {
  switch (e) {
    case errc::timed_out:
      return std::errc::timed_out;
    case errc::cancelled:
      return std::errc::operation_canceled;
    case errc::not_owner:
      return std::errc::operation_not_permitted;
    case errc::deadlock:
      return std::errc::resource_deadlock_would_occur;
    case errc::unsupported:
      return std::errc::not_supported;
    case errc::bad_url:
    case errc::bad_argument:
      return std::errc::invalid_argument;
    case errc::no_room:
      return std::errc::no_space_on_device;
    case errc::denied:
      return std::errc::permission_denied;
    case errc::overflow:
      return std::errc::value_too_large;
    case errc::lost:
    case errc::broken:
    case errc::wrong_use:
    case errc::unknown_outcome:
    case errc::unavailable:
    case errc::damaged:
    case errc::closed:
    case errc::forked:
      return std::nullopt;
  }
  return std::nullopt;
}

class afar_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "afar"; }

  std::string message(int value) const override {
    const auto known = message_of(static_cast<errc>(value));
    return known.empty() ? "unknown error " + std::to_string(value) : std::string{known};
  }

  std::error_condition default_error_condition(int value) const noexcept override {
    const auto standard = standard_form(static_cast<errc>(value));
    return standard ? std::make_error_condition(*standard) : std::error_condition{value, *this};
  }
};

constexpr std::size_t longest_shown_resource = 200;
constexpr std::size_t longest_shown_detail = 1'000;

}  // namespace

const std::error_category& category() noexcept {
  // Never destroyed: codes are compared and printed by destructors that run at exit.
  union undying {
    constexpr undying() noexcept : value{} {}
    ~undying() {}  // NOLINT(modernize-use-equals-default): that would be deleted
    afar_category value;
  };
  static constinit const undying instance;
  return instance.value;
}

lock_error::lock_error(std::error_code code, std::string resource, std::string_view detail)
    : std::system_error(code), resource_(std::move(resource)) {
  what_ = "afar: " + detail::visible(resource_, longest_shown_resource) + ": " + code.message();
  if (!detail.empty()) what_ += ": " + detail::visible(detail, longest_shown_detail);
}

lock_error::~lock_error() = default;

const char* lock_error::what() const noexcept { return what_.c_str(); }

std::string_view word(loss_reason reason) noexcept {
  switch (reason) {
    case loss_reason::none:
      return "none";
    case loss_reason::expired:
      return "expired";
    case loss_reason::evicted:
      return "evicted";
    case loss_reason::asked:
      return "asked";
    case loss_reason::session:
      return "session";
    case loss_reason::unreachable:
      return "unreachable";
    case loss_reason::closed:
      return "closed";
  }
  return "unknown reason";
}

observer::~observer() = default;

}  // namespace afar
