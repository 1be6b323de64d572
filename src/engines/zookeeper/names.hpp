// From names to paths and back, and what the names of nodes say. The only file that builds names.
//
// A name is one segment of a path, with everything but plain characters as %XX: were '/' a level, the
// lock "a/b" would be a child of "a", where Curator takes it for a contender. No name begins with '%'
// but by an escape, so a segment like "%afar" is nobody's name.
#pragma once

#include "engines/zookeeper/target.hpp"

#include <afar/spi/engine.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace afar::engines::zookeeper {

std::string escaped(std::string_view name);
std::optional<std::string> unescaped(std::string_view segment);

// Where a name lies. Not there: as a path it is not legal (?paths=curator).
std::optional<std::string> path_of(const target&, std::string_view name);

// Beside the names: what afar keeps for itself.
std::string tickets_folder(const target&);

// ---- the nodes of those who claim ---------------------------------------------------------------

// What a contender's node is, from its name. `order` is its sequence number.
enum class marker : std::uint8_t { lock, read, write, latch, lease, member, foreign };

struct contender {
  marker is = marker::foreign;
  std::int64_t order = 0;
  std::string_view name = {};  // of the node, without its folder: what was read

  bool before(const contender& other) const noexcept {
    return order != other.order ? order < other.order : name < other.name;
  }
};

contender read_contender(std::string_view node);
spi::kind kind_of(marker) noexcept;  // not of `foreign`

// "_c_<guid>-lock-", to which the server adds the sequence number.
std::string protected_prefix(std::string_view guid);
std::string node_prefix(std::string_view guid, marker);
std::string node_prefix(std::string_view folder, std::string_view guid, marker);  // with its path
// The read node that a writer leaves in its place (Curator 5.5): the same number, not a new one.
std::string downgraded_node(std::string_view guid, std::string_view write_node);

// Rings when that one goes.
std::string watch_key(std::string_view folder, const contender&);

// A new one for every create, so that a node whose answer was lost is found again.
std::string new_guid();

inline constexpr std::string_view locks_folder = "/locks";    // a semaphore's line
inline constexpr std::string_view leases_folder = "/leases";  //   and its permits
// Curator and kazoo lose exclusion when a parent's counter sticks at this number.
inline constexpr std::int64_t last_sequence = 2'147'483'647;
// From here on a folder is removed whenever it is empty: the next one counts from 0.
inline constexpr std::int64_t worn_sequence = 1'073'741'824;

}  // namespace afar::engines::zookeeper
