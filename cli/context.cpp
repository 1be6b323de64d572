#include "context.hpp"

#include "config.hpp"
#include "failure.hpp"
#include "options.hpp"

#include <cstdlib>

namespace afar::cli {
namespace {

std::string url_of(const config& file, const std::string& name) {
  const auto found = file.contexts.find(name);
  if (found == file.contexts.end())
    throw failure{exit_code::configuration,
                  "there is no context '" + name + "' in " + config_path()};
  const auto& [url, url_file] = found->second;
  if (url.empty() == url_file.empty())
    throw failure{exit_code::configuration,
                  "context '" + name + "' in " + config_path() + " needs url or url_file"};
  return url.empty() ? read_url_file(url_file) : url;
}

}  // namespace

void context::add_to(command_line& line) {
  const auto url =
      line.add_option("--url", url_, "The engine; better in AFAR_URL if it has a password");
  const auto file =
      line.add_option("--url-file", url_file_, "The file whose first line is the URL");
  const auto name = line.add_option("--context", name_, "A context of the configuration file");
  url.type_name("URL").group("Engine").excludes(file).excludes(name);
  file.type_name("FILE").group("Engine").excludes(name);
  name.type_name("NAME").group("Engine");
}

bool context::named() const {
  const char* given = std::getenv("AFAR_URL");
  return !url_.empty() || !url_file_.empty() || !name_.empty() ||
         (given != nullptr && given[0] != '\0') || !read_config().default_context.empty();
}

std::string context::url() const {
  if (!url_.empty()) return url_;
  if (!url_file_.empty()) return read_url_file(url_file_);
  if (!name_.empty()) return url_of(read_config(), name_);
  const char* given = std::getenv("AFAR_URL");
  if (given != nullptr && given[0] != '\0') return given;
  const auto file = read_config();
  return file.default_context.empty() ? "local:" : url_of(file, file.default_context);
}

client context::open(client_options options) const { return client{url(), std::move(options)}; }

}  // namespace afar::cli
