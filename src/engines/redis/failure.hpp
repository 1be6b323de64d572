// What Redis's error replies mean.
#pragma once

#include "engines/records/wrong_use.hpp"
#include "engines/redis/resp.hpp"

#include <afar/spi/engine.hpp>

#include <optional>

namespace afar::engines::redis {

// Every error reply says that nothing was done: scripts check before they write, and what can still
// fail then (memory, rights) fails at the first write.
spi::status failure_of(const reply& error, records::usage wanted = {});

// The letter under which a kind is stored, and back.
char letter(spi::kind) noexcept;
std::optional<spi::kind> kind_of(std::string_view letter) noexcept;

}  // namespace afar::engines::redis
