// The fence between processes, some of which are killed.
#include "fence_support.hpp"
#include "support/patience.hpp"

#include <afar/fence.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <new>
#include <random>
#include <stdexcept>
#include <string>

namespace afar {
namespace {

using namespace test;
namespace fs = std::filesystem;

// Numbers that this process and its children see.
class shared_numbers {
 public:
  using numbers = std::array<std::atomic<std::uint64_t>, 4>;
  shared_numbers()
      : all_(::new(::mmap(nullptr, sizeof(numbers), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0)) numbers{}) {}
  shared_numbers(const shared_numbers&) = delete;
  shared_numbers& operator=(const shared_numbers&) = delete;
  ~shared_numbers() { ::munmap(all_, sizeof(numbers)); }
  std::atomic<std::uint64_t>& operator[](std::size_t i) { return (*all_)[i]; }

 private:
  numbers* all_;
};

template <class Work>
pid_t child(Work work) {
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  try {
    work();
  } catch (...) {
    ::_exit(1);
  }
  ::_exit(0);
}

int status_of(pid_t pid) {
  int status = -1;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return status;
}

TEST(file_fence, works_for_two_processes_at_once) {
  const folder here;
  shared_numbers shared;
  const auto work = [&](std::uint64_t offset) {
    fence f = fence::in_file(here.file());
    for (std::uint64_t i = 1; i <= 2'000; ++i) {
      f.guard(2 * i + offset, [&] {
        // Not a read-modify-write: only the fence keeps two processes apart.
        const auto before = shared[0].load();
        if (before > 2 * i + offset) throw std::logic_error("an old holder wrote over a new one");
        shared[0].store(2 * i + offset);
      });
    }
  };
  const pid_t other = child([&] { work(1); });
  work(0);
  EXPECT_EQ(status_of(other), 0);
  EXPECT_EQ(fence::in_file(here.file()).largest(), 4'001U);
  EXPECT_EQ(shared[0], 4'001U);
}

TEST(file_fence, may_be_used_by_a_child_that_inherited_it) {
  const folder here;
  fence f = fence::in_file(here.file());
  f.admit(1);
  EXPECT_EQ(status_of(child([&] {
              if (!f.admit(5)) throw std::logic_error("refused");
            })),
            0);
  EXPECT_FALSE(f.admit(4));
}

TEST(file_fence, never_goes_back_when_its_users_are_killed_200_times) {
  const folder here;
  shared_numbers shared;
  auto& asked = shared[0];     // the last token that a child began to admit
  auto& admitted = shared[1];  // the last one of which it had the answer
  std::minstd_rand random{7};
  for (int round = 0; round < 200; ++round) {
    const auto enough = admitted + 1 + random() % 40;
    const pid_t victim = child([&] {
      fence f = fence::in_file(here.file());
      for (;;) {
        asked.store(admitted + 1);
        if (!f.admit(asked)) ::_exit(2);
        admitted.store(asked);
      }
    });
    while (admitted < enough) {  // busy on purpose: the kill shall hit anywhere
      int status = 0;
      ASSERT_EQ(::waitpid(victim, &status, WNOHANG), 0) << "the child failed in round " << round;
    }
    ::kill(victim, SIGKILL);
    ASSERT_TRUE(WIFSIGNALED(status_of(victim)));
    const auto now = fence::in_file(here.file()).largest();
    ASSERT_GE(now, admitted) << "lost what was admitted";
    ASSERT_LE(now, asked) << "invented what nobody asked for";
  }
}

TEST(file_fence, is_free_again_when_its_holder_is_killed_inside_a_write) {
  const folder here;
  shared_numbers shared;
  const pid_t victim = child([&] {
    fence::in_file(here.file()).guard(3, [&] {
      shared[0] = 1;
      ::pause();
    });
  });
  ASSERT_TRUE(eventually([&] { return shared[0] == 1; }));
  fence f = fence::in_file(here.file() + "-other");  // another file is not concerned
  EXPECT_TRUE(f.admit(1));
  ::kill(victim, SIGKILL);
  status_of(victim);
  EXPECT_FALSE(fence::in_file(here.file()).admit(2));
  EXPECT_TRUE(fence::in_file(here.file()).admit(4));
}

TEST(file_fence, keeps_its_file_when_the_process_changes_its_folder) {
  const folder here;
  EXPECT_EQ(status_of(child([&] {
              fs::current_path(fs::path{here.file()}.parent_path());
              fence f = fence::in_file("fence");
              fs::current_path("/");
              if (!f.admit(3)) throw std::logic_error("refused");
            })),
            0);
  EXPECT_EQ(fence::in_file(here.file()).largest(), 3U);
}

}  // namespace
}  // namespace afar
