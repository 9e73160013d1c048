#pragma once

#include <filesystem>

#include "argosy/base/status.h"

namespace argosy::graph {

// Where a saved model lies: its program, and the file with all its parameters; `params` empty: one file per parameter beside
// the program.
struct ModelFiles {
  std::filesystem::path model, params;

  // The model that `path` means:
  //   a folder with __model__ (and __params__, or one file per parameter), with model and params, or with one x.pdmodel;
  //   the file of the program;  x, where there are x.pdmodel and x.pdiparams.
  // Where there is none, the error says what was looked for.
  static Result<ModelFiles> find(const std::filesystem::path& path);
};

}  // namespace argosy::graph
