// Verbs that print and end: run one, look at its answer.
#pragma once

#include "program.hpp"
#include "support/patience.hpp"

#include <afar/afar.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace afar::test {

class verbs : public ::testing::Test {
 protected:
  struct answer {
    int code = 0;
    std::string out;
    std::string err;
  };
  program start(words_of words) const { return program{on::pipes, afar(std::move(words)), env}; }
  answer run(words_of words) const {
    auto p = start(std::move(words));
    p.close_stdin();
    const int code = p.ends();
    return {code, p.out(), p.err()};
  }
  // With --json; null if it does not end with `code` or prints something else.
  nlohmann::json json_of(words_of words, int code = 0) const {
    words.emplace_back("--json");
    const answer a = run(std::move(words));
    EXPECT_EQ(a.code, code) << a.err;
    return nlohmann::json::parse(a.out, nullptr, false);
  }
  // A token that a program has printed, alone on its first line.
  static std::uint64_t token_of(program& p) {
    EXPECT_TRUE(eventually([&] { return p.out().find('\n') != std::string::npos; })) << p.err();
    return p.out().empty() ? 0 : std::stoull(p.out());
  }

  scene stage;
  program::environment env = [this] {
    auto e = engine_of(stage);
    e["AFAR_AUDIT"] = stage.path("audit");
    return e;
  }();
  const client locks = stage.client();
};

}  // namespace afar::test
