// What a survey knows, as people and programs read it. Names and notes may hold any byte: everything
// that goes to a terminal passes here.
#pragma once

#include "json.hpp"

#include <afar/survey.hpp>

#include <string>
#include <string_view>

namespace afar::cli {

// Control characters and bytes that are no UTF-8 as \xNN; cut if it is long.
std::string shown(std::string_view);
// The word for a shell: quoted if it needs it.
std::string shell_word(std::string_view);

std::string place_of(const claimant&);      // "web-2:4711", "-" if it does not say
std::string in_words(const claimant&);      // "web-2 pid 4711 user cron  cmd report.sh  label …"
std::string state_of(const survey_entry&);  // "held", "3/5", "7 left"
std::string_view ending(loss_reason) noexcept;  // of a past hold: "released", "expired", "died"

json json_of(const survey_entry&);

}  // namespace afar::cli
