// Connects to the first server of a URL that may be used, and makes its tables on first use.
#pragma once

#include "engines/sql/address.hpp"
#include "engines/sql/connection.hpp"

#include <memory>

namespace afar::engines::sql {

// Throws failure. Ends by `by`, or soon after where a client library does not let itself be hurried.
std::unique_ptr<connection> dial(const target&, spi::time_point by);

// Creates the tables if there are none. Throws failure: errc::denied says what somebody with more
// rights has to run; errc::unsupported, if a newer afar made them.
void prepare_schema(connection&, product);

// The statements that prepare_schema runs.
std::vector<std::string> schema_of(product);

}  // namespace afar::engines::sql
