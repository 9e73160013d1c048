#include "argosy/launch/process/training_program.h"

#include <filesystem>

#include "argosy/base/env_variable.h"

namespace argosy::launch {

Status TrainingProgram::check() const {
  if (command.empty()) return Status::invalid_argument("name the training script (or, with --no-python, the program) to run");
  if (kind == Kind::script && !std::filesystem::exists(command[0]))
    return Status::not_found("there is no script '{}'; a program that is not Python's needs --no-python, a module -m",
                             command[0]);
  return {};
}

std::string TrainingProgram::setting(const std::string& variable_name) const {
  const auto given = environment.find(variable_name);
  if (given != environment.end()) return given->second;
  const std::optional<EnvVariable> said = variable(variable_name.c_str());
  return said ? said->value : "";
}

std::vector<std::string> TrainingProgram::argv() const {
  std::vector<std::string> words;
  if (kind != Kind::executable) words = {python, "-u"};
  if (kind == Kind::module) words.push_back("-m");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace argosy::launch
