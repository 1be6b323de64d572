// One statement that is sent ahead on one connection: whoever looks, and whatever becomes of it, the connection knows
// what was answered, or that nobody knows.
#include "sql_fixture.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace afar::test {
namespace {

using engines::sql::sent;
using engines::sql::statement;

class sql_ahead : public sql_test {
 protected:
  sql_ahead() {
    open_client(server.url());  // makes the tables
    admin = open_session(server);
    on = open_session(server);
    taken(*on, name);  // what is prepared can be sent
    given(*on, name);
  }

  template <class Say>
  static auto taking(const session& c, std::string_view what, Say say) {
    return say(statement::take, what, std::int64_t{1}, owner, std::int64_t{30'000'000},
               std::int64_t{0}, std::string_view{note}, c.server_us(boot_clock::now() + 1min));
  }
  static engines::sql::answer taken(session& c, std::string_view what) {
    return taking(c, what, [&](auto... all) { return c.ask(all...); });
  }
  static sent send_take(session& c, std::string_view what) {
    return taking(c, what, [&](auto... all) { return c.tell(all...); });
  }
  static engines::sql::answer given(session& c, std::string_view what) {
    return c.ask(statement::give, what, owner);
  }

  // Somebody's transaction holds the row.
  void lock_row() {
    admin->run("BEGIN");
    admin->run("SELECT 1 FROM afar_names WHERE name = '" + name + "' FOR UPDATE");
  }
  // What look() says when it is no longer under way.
  sent seen_on(session& c, sent first) {
    sent last = first;
    EXPECT_TRUE(eventually([&] {
      if (last == sent::under_way) last = c.look();
      return last != sent::under_way;
    }));
    return last;
  }
  // What the run() behind it throws.
  std::optional<engines::sql::failure> failed_on(session& c) {
    try {
      taken(c, name);
    } catch (const engines::sql::failure& f) {
      return f;
    }
    return std::nullopt;
  }
  bool works(session& c) { return first_field(c, "SELECT 41 + 1") == "42"; }

  static constexpr std::string_view owner = "somebody";
  inline static const std::string note = std::string(1'024, 'n');
  sql_server server{GetParam()};
  std::unique_ptr<session> admin;
  std::unique_ptr<session> on;
};

TEST_P(sql_ahead, is_answered_to_the_next_run) {
  const std::string longest(1'024, 'x');
  ASSERT_TRUE(on->can_send(statement::take));
  EXPECT_EQ(seen_on(*on, send_take(*on, longest)), sent::did_it);
  const auto took = taken(*on, longest);
  ASSERT_EQ(took.rows.size(), 1U);
  const auto token = took.rows[0][0].number;
  EXPECT_EQ(seen_on(*on, send_take(*on, longest)), sent::did_not) << "somebody has it";
  EXPECT_TRUE(taken(*on, longest).rows.empty());
  EXPECT_EQ(seen_on(*on, on->tell(statement::give, longest, owner)), sent::did_it);
  EXPECT_EQ(given(*on, longest).affected, 1);
  EXPECT_GT(taken(*on, longest).rows.at(0)[0].number, token);
  EXPECT_TRUE(works(*on));
}

TEST_P(sql_ahead, is_not_possible_before_it_is_prepared) {
  EXPECT_FALSE(open_session(server)->can_send(statement::take));
}

TEST_P(sql_ahead, is_read_by_another_thread_though_the_sender_has_ended) {
  lock_row();
  sent first = sent::nothing;
  std::thread{[&] { first = send_take(*on, name); }}.join();
  EXPECT_EQ(first, sent::under_way);
  for (int i = 0; i < 3; ++i) std::thread{[&] { EXPECT_EQ(on->look(), sent::under_way); }}.join();
  admin->run("COMMIT");
  EXPECT_EQ(seen_on(*on, first), sent::did_it);
  EXPECT_EQ(taken(*on, name).rows.size(), 1U);
  EXPECT_TRUE(works(*on));
}

// The server gives up waiting for a row after 2 s.
TEST_P(sql_ahead, is_worth_another_try_where_the_server_says_so) {
  lock_row();
  EXPECT_EQ(seen_on(*on, send_take(*on, name)), sent::did_not);
  const auto failed = failed_on(*on);
  ASSERT_TRUE(failed);
  EXPECT_TRUE(failed->again);
  EXPECT_FALSE(on->broken());
  admin->run("COMMIT");
  EXPECT_EQ(taken(*on, name).rows.size(), 1U);
}

TEST_P(sql_ahead, has_an_unknown_outcome_when_its_session_is_killed) {
  const std::string id =
      first_field(*on, maria() ? "SELECT CONNECTION_ID()" : "SELECT pg_backend_pid()");
  lock_row();
  const sent first = send_take(*on, name);
  const auto killer = open_session(server);
  killer->run(maria() ? "KILL " + id : "SELECT pg_terminate_backend(" + id + ")");
  EXPECT_EQ(seen_on(*on, first), sent::did_not);
  const auto failed = failed_on(*on);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->what.code, errc::unknown_outcome);
  EXPECT_FALSE(failed->again);
  EXPECT_TRUE(eventually([&] { return on->broken(); }));
}

TEST_P(sql_ahead, has_an_unknown_outcome_when_its_server_dies) {
  server.suspend();
  const sent first = send_take(*on, name);
  EXPECT_EQ(first, sent::under_way);
  server.stop();
  EXPECT_EQ(seen_on(*on, first), sent::did_not);
  const auto failed = failed_on(*on);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->what.code, errc::unknown_outcome);
  EXPECT_TRUE(eventually([&] { return on->broken(); }));
}

TEST_P(sql_ahead, is_skipped_when_nobody_wants_it) {
  EXPECT_EQ(seen_on(*on, send_take(*on, name)), sent::did_it);
  on->skip();
  on->skip();
  EXPECT_TRUE(works(*on));
  EXPECT_EQ(given(*on, name).affected, 1);
}

TEST_P(sql_ahead, does_not_hold_up_the_end_of_its_connection) {
  server.suspend();
  EXPECT_EQ(send_take(*on, name), sent::under_way);
  EXPECT_LT(time_of([&] { on.reset(); }), slowness * 1s);
  server.resume();
}

AFAR_FOR_EVERY_DATABASE(sql_ahead);

}  // namespace
}  // namespace afar::test
