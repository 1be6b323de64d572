// Requests and replies in words, for traces.
#pragma once

#include <afar/spi/engine.hpp>

#include <string>
#include <string_view>

namespace afar::engines::wrap {

std::string quoted(std::string_view bytes);  // names and keys are any bytes

std::string in_words(const spi::resource&);
std::string in_words(const spi::claim&);
std::string in_words(const spi::cell_change&);
std::string in_words(const spi::ledger_change&);
std::string in_words(const spi::survey_query&);

std::string in_words(const spi::acquire_reply&);
std::string in_words(const spi::renew_reply&);
std::string in_words(spi::release_reply);
std::string in_words(const spi::cell_reply&);
std::string in_words(const spi::ledger_reply&);
std::string in_words(const spi::watch_reply&);
std::string in_words(const spi::survey_reply&);

}  // namespace afar::engines::wrap
