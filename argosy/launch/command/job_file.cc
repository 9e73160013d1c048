#include "argosy/launch/command/job_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "argosy/base/file.h"
#include "argosy/base/settings.h"
#include "argosy/base/text.h"
#include "argosy/launch/command/add_flags.h"
#include "argosy/launch/command/flags.h"

namespace argosy::launch {
namespace {

constexpr size_t kLargest = 1 << 20;
constexpr const char *kProgram = "program", *kKubernetes = "kubernetes";

// A place in a file, for messages: "job.yaml:3".
std::string place(const std::string& path, const YAML::Node& node) { return fmt::format("{}:{}", path, node.Mark().line + 1); }

std::string bare(const std::string& name) { return name.substr(name.find_first_not_of('-')); }

std::string underscored(std::string key) {
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

// Options that say what to do with a job instead of what it is.
bool is_of_files(const Flag& flag) {
  return flag.part != Flag::Part::refused && flag.names[0] != "--settings" && flag.names[0] != "--dump_config" &&
         flag.names[0] != "--to_kubernetes";
}

const Flag* find_flag(const std::string& key) {
  for (const Flag& flag : all_flags()) {
    if (is_of_files(flag) && std::ranges::any_of(flag.names, [&](const std::string& name) { return bare(name) == key; }))
      return &flag;
  }
  return nullptr;
}

Status no_such_key(const std::string& where, const std::string& key) {
  std::vector<std::string> known = {kProgram, kKubernetes};
  for (const Flag& flag : all_flags()) {
    if (is_of_files(flag)) known.push_back(bare(flag.names[0]));
  }
  const auto near = nearest_name(key, known);
  return Status::invalid_argument(
      "{}: there is no key '{}'{}; a job file has '{}' and the options of fleetrun --help without dashes", where, key,
      near ? fmt::format("; did you mean '{}'?", *near) : "", kProgram);
}

// A scalar, or a list of scalars.
Result<std::vector<std::string>> words_of(const std::string& where, const std::string& key, const YAML::Node& value) {
  if (value.IsScalar()) return std::vector<std::string>{value.Scalar()};
  std::vector<std::string> words;
  for (const YAML::Node& one : value.IsSequence() ? value : YAML::Node(YAML::NodeType::Sequence)) {
    if (!one.IsScalar()) return Status::invalid_argument("{}: '{}' has a list in its list, expected words", where, key);
    words.push_back(one.Scalar());
  }
  if (words.empty()) return Status::invalid_argument("{}: '{}' is empty, expected a value or a list of them", where, key);
  return words;
}

std::string variable_of(const Flag& flag) {
  for (const Setting& setting : all_settings()) {
    if (flag.part == Flag::Part::setting && "--" + setting.name == flag.names[0]) return setting.variable();
  }
  return "";
}

// Whether the command line has said it.
bool is_given(const CommandLine& line, const Flag& flag) {
  const std::string variable = variable_of(flag);
  return variable.empty() ? line.given.contains(bare(flag.names[0])) : line.program.environment.contains(variable);
}

Status set_option(const Flag& flag, const std::string& where, const std::vector<std::string>& words, CommandLine& line) {
  if (!flag.argument.empty()) return set_flag(flag, join(words, ","), line).with_context("{}", where);
  if (words[0] == "false" || words[0] == "False") return {};
  if (words[0] == "true" || words[0] == "True") return set_flag(flag, "True", line).with_context("{}", where);
  return Status::invalid_argument("{}: '{}' is '{}', expected true or false", where, bare(flag.names[0]), words[0]);
}

// {a: 1, b: {c: 2}} as {"a": "1", "b.c": "2"}; lists as words with spaces between them. REQUIRES: node is a map.
Status flatten(const std::string& path, const std::string& prefix, const YAML::Node& node,
               std::map<std::string, std::string>& flat) {
  for (const auto& entry : node) {
    const std::string key = (prefix.empty() ? "" : prefix + ".") + underscored(entry.first.Scalar());
    if (entry.second.IsMap()) {
      RETURN_IF_ERROR(flatten(path, key, entry.second, flat));
      continue;
    }
    ASSIGN_OR_RETURN(const auto words, words_of(place(path, entry.first), key, entry.second));
    flat[key] = join(words, " ");
  }
  return {};
}

// A line of a job file; options that the command line has, as `before` says, are left as they are.
Status read_key(const std::string& path, const YAML::Node& key_node, const YAML::Node& value, const CommandLine& before,
                CommandLine& line) {
  const std::string key = underscored(key_node.Scalar()), where = place(path, key_node);
  if (key == kKubernetes && !value.IsMap())
    return Status::invalid_argument("{}: '{}' is no map, expected lines of key: value", where, key);
  if (key == kKubernetes) return flatten(path, "", value, line.kubernetes);
  if (key == kProgram) {
    ASSIGN_OR_RETURN(auto words, words_of(where, key, value));
    line.program.command.insert(line.program.command.begin(), words.begin(), words.end());
    return {};
  }
  const Flag* flag = find_flag(key);
  if (flag == nullptr) return no_such_key(where, key);
  ASSIGN_OR_RETURN(const auto words, words_of(where, key, value));
  return is_given(before, *flag) ? Status() : set_option(*flag, where, words, line);
}

Result<YAML::Node> parse(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, read_file(path));
  if (text.size() > kLargest) return Status::invalid_argument("'{}' has {} bytes, expected a job's options", path, text.size());
  try {
    YAML::Node file = YAML::Load(text);
    if (file.IsMap()) return file;
  } catch (const YAML::Exception& error) {
    return Status::invalid_argument("{}:{}: {}", path, error.mark.line + 1, error.msg);
  }
  return Status::invalid_argument("'{}' is no map, expected lines of key: value", path);
}

bool is_digits(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos; }

// 0, 12, -3, 0.5: a number that every reader writes as it was.
bool is_canonical_number(std::string_view text) {
  constexpr size_t kMost = 15, kMostPart = 4;  // digits: a double keeps them, and nobody writes an exponent
  if (text == "-0") return false;
  if (text.starts_with('-')) text.remove_prefix(1);
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  if (!is_digits(whole) || (whole.size() > 1 && whole[0] == '0') || text.size() > kMost) return false;
  if (point == std::string_view::npos) return true;
  const std::string_view part = text.substr(point + 1);
  return is_digits(part) && part.size() <= kMostPart && (part == "0" || part.back() != '0');
}

// Whether some reader of YAML, 1.1 or 1.2, would take the plain word for something else than this text: 007, 1e3, 2026-01-01,
// yes, ~.
bool is_other_than_text(const std::string& text) {
  static const std::set<std::string> kWords = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", ".inf", ".nan"};
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool digit = text[0] >= '0' && text[0] <= '9';
  const bool like_a_float = text[0] == '.' && text.find_first_not_of(".0123456789_eE+-") == std::string::npos;
  return kWords.contains(lower) || digit || like_a_float;
}

// In double quotes where a reader of YAML would take it for something else than this text.
std::string as_scalar(const std::string& text) {
  if (is_canonical_number(text)) return text;
  const bool plain =
      !text.empty() && text[0] != '-' && !is_other_than_text(text) &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-") == std::string::npos;
  if (plain) return text;
  YAML::Emitter out;
  out << YAML::DoubleQuoted << text;
  return out.c_str();
}

std::string longest(const std::vector<std::string>& names) {
  return bare(names[0].size() > 2 || names.size() == 1 ? names[0] : names[1]);
}

}  // namespace

Status read_job_file(CommandLine& line) {
  const std::string path = line.program.command[0];
  line.program.command.erase(line.program.command.begin());
  ASSIGN_OR_RETURN(const YAML::Node file, parse(path));
  const CommandLine before = line;
  std::set<std::string> seen;
  for (const auto& entry : file) {
    if (!entry.first.IsScalar()) return Status::invalid_argument("{}: a key is no word", place(path, entry.first));
    if (!seen.insert(underscored(entry.first.Scalar())).second)
      return Status::invalid_argument("{}: '{}' is there twice", place(path, entry.first), entry.first.Scalar());
    RETURN_IF_ERROR(read_key(path, entry.first, entry.second, before, line));
  }
  if (seen.contains(kProgram)) return {};
  return Status::invalid_argument("'{}' does not say what is run; expected a line such as program: [train.py, --epochs, 3]",
                                  path);
}

Result<std::string> job_file_text(const CommandLine& line) {
  std::vector<std::string> words;
  for (const std::string& word : line.program.command) words.push_back(as_scalar(word));
  std::string text = fmt::format("{}: [{}]\n", kProgram, join(words, ", "));
  for (const Flag& flag : all_flags()) {
    const auto said = line.given.find(bare(flag.names[0]));
    const auto setting = line.program.environment.find(variable_of(flag));
    if (is_of_files(flag) && said != line.given.end() && flag.part != Flag::Part::setting)
      text += fmt::format("{}: {}\n", longest(flag.names), flag.argument.empty() ? "true" : as_scalar(said->second));
    const bool by_flag = line.given.contains("resume") || line.given.contains("fresh");  // of on_old_state
    if (setting == line.program.environment.end() || (setting->first == "ARGOSY_ON_OLD_STATE" && by_flag) ||
        (setting->first == "ARGOSY_JOB" && line.given.contains("rdzv_id")))
      continue;
    const bool secret = setting->first == "ARGOSY_TOKEN";
    text += secret ? "# token: is left out; give it as ARGOSY_TOKEN\n"
                   : fmt::format("{}: {}\n", bare(flag.names[0]), as_scalar(setting->second));
  }
  return text;
}

}  // namespace argosy::launch
