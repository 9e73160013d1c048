#include "argosy/cli/program_arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "argosy/base/settings.h"
#include "argosy/base/text.h"

namespace argosy::cli {
namespace {

// The words as CLI11 takes them: each option by the name that it was declared with, its value a word of its own.
struct Words {
  std::vector<std::string> options, rest;
};

// "--worker-num=2" -> "--worker_num".
std::string name_in(const std::string& word) {
  std::string name = word.substr(0, word.find('='));
  if (name.starts_with("--")) std::replace(name.begin() + 2, name.end(), '-', '_');
  return name;
}

Status no_such_option(const CLI::App& app, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& one : option->get_lnames()) known.push_back("--" + one);
  }
  const auto near = nearest_name(name, known);
  return Status::invalid_argument("there is no option {}{}; see --help", name,
                                  near ? fmt::format(", did you mean {}?", *near) : "");
}

// Reads the option at `at`, and its value where that is the next word.
Status read_option(const CLI::App& app, const std::vector<std::string>& arguments, size_t& at, Words& words) {
  const std::string& word = arguments[at++];
  const std::string name = name_in(word);
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr) return no_such_option(app, name);
  const bool takes_value = option->get_items_expected_max() > 0;
  const size_t equals = word.find('=');
  words.options.push_back(name);
  if (equals != std::string::npos) {
    if (!takes_value) return Status::invalid_argument("option {} takes no value", name);
    words.options.push_back(word.substr(equals + 1));
  } else if (takes_value) {
    if (at == arguments.size()) return Status::invalid_argument("option {} needs a value: {}", name, option->get_type_name());
    words.options.push_back(arguments[at++]);
  }
  return {};
}

const CLI::App* subcommand_of(const CLI::App& app, const std::string& word) {
  const auto found = app.get_subcommands([&word](const CLI::App* one) { return one->check_name(word); });
  return found.empty() ? nullptr : found.front();
}

Result<Words> words_of(const CLI::App& top, const std::vector<std::string>& arguments) {
  Words words;
  const CLI::App* app = &top;
  for (size_t at = 0; at < arguments.size();) {
    const std::string& word = arguments[at];
    if (word.size() > 1 && word[0] == '-' && word != "--") {
      RETURN_IF_ERROR(read_option(*app, arguments, at, words));
      continue;
    }
    if (app->get_prefix_command()) {
      words.rest.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at + (word == "--" ? 1 : 0)), arguments.end());
      break;
    }
    if (const CLI::App* sub = subcommand_of(*app, word)) app = sub;
    words.options.push_back(word);
    ++at;
  }
  return words;
}

// The option or argument of that name, of the app or of the command that was given.
const CLI::Option* option_named(const CLI::App& app, const std::string& name) {
  if (const CLI::Option* own = app.get_option_no_throw(name)) return own;
  for (const CLI::App* sub : app.get_subcommands()) {
    if (const CLI::Option* found = option_named(*sub, name)) return found;
  }
  return nullptr;
}

std::string expected_of(const CLI::Option* option) {
  const std::string type = option == nullptr ? "" : option->get_type_name();
  if (type.starts_with("UINT")) return "a whole number from 0";
  if (type.starts_with("INT")) return "a whole number";
  return type.starts_with("FLOAT") ? "a number" : "another value";
}

std::string titled(const std::string& text) { return text.starts_with("--") ? "option " + text : text; }

// "Could not convert: --seed = x", as this project says it.
std::string not_converted(const CLI::App& app, const std::string& text) {
  constexpr std::string_view kBegin = "Could not convert: ", kIs = " = ";
  const size_t is = text.find(kIs);
  if (!text.starts_with(kBegin) || is == std::string::npos) return titled(text);
  const std::string name = text.substr(kBegin.size(), is - kBegin.size()), value = text.substr(is + kIs.size());
  return fmt::format("{}: found '{}', expected {}", titled(name), value, expected_of(option_named(app, name)));
}

}  // namespace

void add_common_options(CLI::App& app) {
  app.set_help_flag("-h,--help", "this text");
  app.set_version_flag("--version", ARGOSY_VERSION, "the version of this program");
}

Result<Parsed> parse(CLI::App& app, const std::vector<std::string>& arguments) {
  ASSIGN_OR_RETURN(Words words, words_of(app, arguments));
  std::reverse(words.options.begin(), words.options.end());  // CLI11 takes them from the end
  try {
    app.parse(std::move(words.options));
  } catch (const CLI::CallForVersion&) {
    return Parsed{.text = std::string(ARGOSY_VERSION) + "\n"};
  } catch (const CLI::CallForHelp&) {
    return Parsed{.text = app.help()};
  } catch (const CLI::ConversionError& error) {
    return Status::invalid_argument("{}", not_converted(app, error.what()));
  } catch (const CLI::ValidationError& error) {
    return Status::invalid_argument("{}", titled(error.what()));
  } catch (const CLI::ParseError& error) {
    return Status::invalid_argument("{}", error.what());
  }
  return Parsed{.rest = std::move(words.rest)};
}

std::optional<int> parse_or_exit(CLI::App& app, int argc, char** argv, const std::string& lenient) {
  app.parse_complete_callback([&app, lenient] {
    if (!lenient.empty() && app.got_subcommand(lenient)) return;
    if (const Status status = check_variable_names(); !status.ok()) throw CLI::ParseError(status.message(), kUsageError);
  });
  const auto parsed = parse(app, {argv + 1, argv + argc});
  if (!parsed.ok()) {
    std::fprintf(stderr, "%s: %s\n", app.get_name().c_str(), parsed.status().message().c_str());
    return kUsageError;
  }
  if (parsed->text.empty()) return std::nullopt;
  std::fputs(parsed->text.c_str(), stdout);
  return 0;
}

}  // namespace argosy::cli
