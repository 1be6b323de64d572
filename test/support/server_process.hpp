// The processes of servers that must not run as root, and what is done to them.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace afar::test {

struct user {
  uid_t uid = 0;
  gid_t gid = 0;
};

// The one of that name, or nobody; ourselves, unless we are root.
user server_user(const std::string& name);

// A new folder of that user.
std::string make_folder(user, const std::string& within = {});
// What is in one folder, into another that does not exist yet, for that user.
void copy_folder(const std::string& from, const std::string& to, user);

// Starts it; it dies with the thread that does. What it prints is added to the file `log`;
// `environment` ("NAME=value") goes before ours.
pid_t launch(std::vector<std::string> words, user, const std::string& log,
             const std::vector<std::string>& environment = {});
// Runs it to its end; throws std::runtime_error unless that is a good one.
void run(std::vector<std::string> words, user, const std::string& log);

// It and its children: PostgreSQL has one per connection, each in a session of its own.
// SIGSTOP: when this returns they have stopped.
void signal_all(pid_t server, int signal) noexcept;
// The same with SIGKILL, and waits until all of them are gone: a PostgreSQL does not start in the folder
// of another one whose last child still lives.
void kill_all(pid_t server) noexcept;

}  // namespace afar::test
