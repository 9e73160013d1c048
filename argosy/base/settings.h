#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "argosy/base/named_choices.h"
#include "argosy/base/status.h"

namespace argosy {

// A setting of a job: one row of the table behind a strategy's field, an ARGOSY_* variable, a flag of the
// launcher and a line of docs/settings.md.
struct Setting {
  enum class Kind { text, choice, choice_by_name, seconds, bytes, port };

  std::string name;  // "on_worker_loss": the strategy's field; the launcher's flag is --on_worker_loss
  Kind kind = Kind::text;
  std::string default_value;  // as text
  std::vector<std::string> choices = {};
  std::string help;

  std::string variable() const;  // "ARGOSY_ON_WORKER_LOSS"
  // What the help shows for a value: "fail|wait|shrink", "NAME=float32|int8,…", "SECONDS", "BYTES", "PORT|off", "TEXT".
  std::string argument() const;
  // Whether `text` can be its value; the message says what was expected, and leaves the name to the caller.
  Status check(std::string_view text) const;
};

// A variable of the name ARGOSY_* that is not a setting: of a process or a program instead of the job.
struct OtherVariable {
  std::string name;  // "ARGOSY_DEVICE"
  std::string help;
};

// Every ARGOSY_* variable there is besides the settings'. Code that reads a new one adds it here: others are refused.
std::span<const OtherVariable> other_variables();

// An ARGOSY_* variable of this process that no table has is misspelt, and would be ignored: an error with the nearest name.
Status check_variable_names();

// Every setting there is, in the order in which documents show them. Thread-safe.
std::span<const Setting> all_settings();

// The tables of docs/settings.md, in Markdown.
std::string settings_document();

// A token for a run whose starter gave none: what a process draws and its peers have learned from it. Settings made afterwards
// have it where neither a variable nor a field says another. Thread-safe.
void set_drawn_token(const std::string& token);

// 128 random bits, in hexadecimal digits.
std::string draw_token();

// The settings of one job, each with its value. A plain value.
class Settings {
 public:
  Settings() = default;  // the defaults

  // The ARGOSY_* variables of this process over `fields`, which a script's strategy gave, over the defaults: who starts
  // a job has the last word. A field that is no setting, and a value that cannot be, is an error that names field or
  // variable; so is an ARGOSY_* variable that nobody knows (check_variable_names).
  static Result<Settings> from_environment(const std::map<std::string, std::string>& fields = {});

  // REQUIRES: the name is one of the table's and its kind is the one asked for.
  const std::string& text(std::string_view name) const;  // of a text, a choice or a port
  NamedChoices choices_by_name(std::string_view name) const;  // no name twice
  double seconds(std::string_view name) const;
  int64_t bytes(std::string_view name) const;

  // Whether a variable or a field said something.
  bool given(std::string_view name) const { return values_.contains(std::string(name)); }

 private:
  const std::string& value(std::string_view name, bool (*fits)(Setting::Kind)) const;

  std::map<std::string, std::string> values_;  // what differs from the default
};

}  // namespace argosy
