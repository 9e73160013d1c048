#include "argosy/base/settings.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "argosy/base/env.h"
#include "argosy/base/identity.h"
#include "argosy/base/log.h"
#include "argosy/base/mutex.h"
#include "argosy/base/text.h"

extern char** environ;

namespace argosy {
namespace {

using Kind = Setting::Kind;

constexpr std::string_view kPrefix = "ARGOSY_";

struct DrawnToken {
  Mutex mutex;
  std::string value ARGOSY_GUARDED_BY(mutex);
};

DrawnToken& drawn_token() {
  static DrawnToken& instance = *new DrawnToken;
  return instance;
}

const Setting* find_setting(std::string_view name) {
  const auto rows = all_settings();
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const Setting& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

// Settings whose value is a folder, or several, that processes write as they go: no place of a store can be one.
constexpr std::array<std::string_view, 3> kFolders = {"directory", "snapshot_roots", "trace"};

Status check_text(const std::string& name, std::string_view text) {
  const bool remote = text.find("://") != std::string_view::npos || text.starts_with("hdfs:") || text.starts_with("afs:");
  if (!remote || std::ranges::find(kFolders, name) == kFolders.end()) return {};
  return Status::invalid_argument(
      "found '{}', expected a folder on a disk of this machine, or on one that all machines mount (/shared/ctr); a URI is for "
      "data and for models that are saved",
      text);
}

Status unknown_setting(const std::string& name) {
  std::vector<std::string> names;
  for (const Setting& setting : all_settings()) names.push_back(setting.name);
  const auto near = nearest_name(name, names);
  return Status::invalid_argument("there is no setting '{}'{}; there are {}", name,
                                  near ? fmt::format(", did you mean '{}'?", *near) : "", join(names, ", "));
}

}  // namespace

std::string Setting::variable() const {
  std::string upper = std::string(kPrefix) + name;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

std::string Setting::argument() const {
  switch (kind) {
    case Kind::text: return "TEXT";
    case Kind::choice: return join(choices, "|");
    case Kind::choice_by_name: return "NAME=" + join(choices, "|") + ",…";
    case Kind::seconds: return "SECONDS";
    case Kind::bytes: return "BYTES";
    case Kind::port: return "PORT|off";
  }
  return "";
}

Status Setting::check(std::string_view text) const {
  const auto unlike = [&](const std::string& expected) {
    return Status::invalid_argument("found '{}', expected {}", text, expected);
  };
  switch (kind) {
    case Kind::text: return check_text(name, text);
    case Kind::choice:
      return std::find(choices.begin(), choices.end(), text) != choices.end() ? Status() : unlike(join(choices, ", "));
    case Kind::choice_by_name: return read_named_choices(text, choices).status();
    case Kind::seconds: {
      const auto number = parse_number(text);
      return number && *number > 0 && *number <= 1e9 ? Status() : unlike("a number of seconds above 0");
    }
    case Kind::bytes: return parse_bytes(text) ? Status() : unlike("a number of bytes, such as 512M or 8G");
    case Kind::port: {
      const auto number = parse_integer(text);
      return text == "off" || (number && *number >= 0 && *number <= 65535) ? Status() : unlike("a port from 0 to 65535, or off");
    }
  }
  return {};
}

Status check_variable_names() {
  std::vector<std::string> known;
  for (const Setting& row : all_settings()) known.push_back(row.variable());
  for (const OtherVariable& row : other_variables()) known.push_back(row.name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string name(text.substr(0, text.find('=')));
    if (!name.starts_with(kPrefix) || std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto near = nearest_name(name, known);
    return Status::invalid_argument("there is no environment variable {}{}; `fleetrun --settings` lists all, unset it", name,
                                    near ? fmt::format(", did you mean {}?", *near) : "");
  }
  return {};
}

std::string settings_document() {
  std::string text = "| field and flag | variable | value | default | what it is |\n|---|---|---|---|---|\n";
  for (const Setting& row : all_settings()) {
    std::string argument = row.argument();
    for (size_t at = 0; (at = argument.find('|', at)) != std::string::npos; at += 2) argument.insert(at, 1, '\\');
    text += fmt::format("| `{}` | `{}` | {} | {} | {} |\n", row.name, row.variable(), argument, row.default_value, row.help);
  }
  text += "\nOther variables, of one process instead of the job:\n\n| variable | what it is |\n|---|---|\n";
  for (const OtherVariable& row : other_variables()) text += fmt::format("| `{}` | {} |\n", row.name, row.help);
  return text;
}

Result<Settings> Settings::from_environment(const std::map<std::string, std::string>& fields) {
  RETURN_IF_ERROR(check_variable_names());
  Settings settings;
  for (const auto& [name, value] : fields) {
    const Setting* row = find_setting(name);
    if (row == nullptr) return unknown_setting(name);
    RETURN_IF_ERROR(row->check(value).with_context("setting '{}'", name));
    settings.values_[name] = value;
  }
  for (const Setting& row : all_settings()) {
    const auto value = env_text(row.variable().c_str());
    if (!value) continue;
    RETURN_IF_ERROR(row.check(*value).with_context("environment variable {}", row.variable()));
    if (settings.given(row.name) && settings.values_[row.name] != *value && row.name != "token")
      log_info("{}={} wins over the script's {}", row.variable(), *value, settings.values_[row.name]);
    settings.values_[row.name] = *value;
  }
  MutexLock lock(drawn_token().mutex);
  if (settings.text("token").empty() && !drawn_token().value.empty()) settings.values_["token"] = drawn_token().value;
  return settings;
}

void set_drawn_token(const std::string& token) {
  MutexLock lock(drawn_token().mutex);
  drawn_token().value = token;
}

std::string draw_token() { return fmt::format("{:016x}{:016x}", draw_identity(), draw_identity()); }

const std::string& Settings::value(std::string_view name, bool (*fits)(Kind)) const {
  const Setting* row = find_setting(name);
  ARGOSY_CHECK(row != nullptr && fits(row->kind), "a setting of the table, asked for as what it is");
  const auto found = values_.find(row->name);
  return found != values_.end() ? found->second : row->default_value;
}

const std::string& Settings::text(std::string_view name) const {
  return value(name, [](Kind kind) { return kind == Kind::text || kind == Kind::choice || kind == Kind::port; });
}

NamedChoices Settings::choices_by_name(std::string_view name) const {
  const std::string& text = value(name, [](Kind kind) { return kind == Kind::choice_by_name; });
  return *read_named_choices(text, find_setting(name)->choices);
}

double Settings::seconds(std::string_view name) const {
  return *parse_number(value(name, [](Kind kind) { return kind == Kind::seconds; }));
}

int64_t Settings::bytes(std::string_view name) const {
  return *parse_bytes(value(name, [](Kind kind) { return kind == Kind::bytes; }));
}

}  // namespace argosy
