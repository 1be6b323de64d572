// Words that are mostly not there. While it is empty it costs a pointer: a std::string that is handed on from
// layer to layer with every answer costs more than all that is said by it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace afar::spi {

class rare_text {
 public:
  rare_text() noexcept = default;
  rare_text(std::string text) {  // NOLINT(google-explicit-constructor)
    if (!text.empty()) text_ = std::make_unique<const std::string>(std::move(text));
  }
  rare_text(const char* text)
      : rare_text(std::string{text}) {}  // NOLINT(google-explicit-constructor)
  rare_text(const rare_text& other) : rare_text(other.str()) {}
  rare_text& operator=(const rare_text& other) { return *this = rare_text{other}; }
  rare_text(rare_text&&) noexcept = default;
  rare_text& operator=(rare_text&&) noexcept = default;
  ~rare_text() = default;

  bool empty() const noexcept { return !text_; }
  const std::string& str() const noexcept {
    static const std::string none;
    return text_ ? *text_ : none;
  }
  operator const std::string&() const noexcept {
    return str();
  }  // NOLINT(google-explicit-constructor)
  operator std::string_view() const noexcept {
    return str();
  }  // NOLINT(google-explicit-constructor)
  friend bool operator==(const rare_text& a, std::string_view b) noexcept { return a.str() == b; }

 private:
  std::unique_ptr<const std::string> text_;
};

}  // namespace afar::spi
