#include "engines/zookeeper/stored.hpp"

#include <charconv>
#include <limits>

namespace afar::engines::zookeeper {
namespace {

constexpr std::string_view magic = "afar 1 ";
constexpr std::string_view limit_word = "limit=";
constexpr spi::kind text_cells[] = {spi::kind::latch, spi::kind::semaphore};

template <class T>
std::optional<T> number(std::string_view text) {
  T n{};
  const auto got = std::from_chars(text.begin(), text.end(), n);
  if (text.empty() || got.ec != std::errc{} || got.ptr != text.end()) return std::nullopt;
  return n;
}

std::int64_t big_endian(std::string_view bytes) {
  std::uint64_t n = 0;
  for (const char c : bytes) n = n << 8U | static_cast<unsigned char>(c);
  if (bytes.size() == 4) return static_cast<std::int32_t>(n);
  return static_cast<std::int64_t>(n);
}

}  // namespace

std::optional<spi::kind> stored_kind(std::string_view data) {
  if (data.starts_with(stock_magic)) return spi::kind::stock;
  if (const auto cell = read_cell(data)) return cell->kind;
  return std::nullopt;
}

std::optional<stored_cell> read_cell(std::string_view data) {
  if (data.size() == 8 || data.size() == 4)
    return stored_cell{spi::kind::counter, big_endian(data)};
  for (const spi::kind k : text_cells) {
    const std::string head = std::string{magic}.append(spi::word(k)).append(" ");
    if (!data.starts_with(head)) continue;
    if (const auto value = number<std::int64_t>(data.substr(head.size())))
      return stored_cell{k, *value};
  }
  return std::nullopt;
}

std::optional<std::string> cell_text(spi::kind k, std::int64_t value, std::uint32_t counter_width) {
  if (k != spi::kind::counter)
    return std::string{magic}.append(spi::word(k)).append(" ").append(std::to_string(value));
  using narrow = std::numeric_limits<std::int32_t>;
  if (counter_width == 4 && (value < narrow::min() || value > narrow::max())) return std::nullopt;
  std::string out(counter_width, '\0');
  auto rest = static_cast<std::uint64_t>(value);
  for (std::size_t i = out.size(); i-- > 0; rest >>= 8U) out[i] = static_cast<char>(rest & 0xffU);
  return out;
}

std::optional<std::uint32_t> stored_limit(std::string_view data) {
  if (!data.starts_with(limit_word)) return std::nullopt;
  return number<std::uint32_t>(data.substr(limit_word.size()));
}

std::string limit_text(std::uint32_t limit) {
  return std::string{limit_word} + std::to_string(limit);
}

}  // namespace afar::engines::zookeeper
