// The report as a document: Markdown with pictures in a folder beside it, named as the file is.
#pragma once

#include "report.hpp"

#include <string>

namespace bench {

// `command`: what repeats the run.
void write_document(const report&, const std::string& file, const std::string& command);
void write_file(const std::string& file, const std::string& text);  // throws std::runtime_error

}  // namespace bench
