#pragma once

#include <string>

#include "argosy/base/status.h"

namespace argosy::data {

// A shared library of ours that is opened when it is first needed, apart from everything else in the process: what it links has
// symbols that others have, too, and most processes never need it.
struct Module {
  std::string library;   // "libargosy_parquet.so"
  std::string function;  // what it exports: void* f(int version), null where the version is not its own
  int version = 0;
  std::string purpose;   // "Parquet and Arrow files are read with the libraries of pyarrow"
  std::string remedy;    // what to do where it, or what it links, is missing
};

// What the module's function gives; the library stays open. It is looked for beside what this code is a part of, and in lib/ of
// the folders above: a build, an installation and a wheel are laid out like that.
Result<void*> open_module(const Module& module);

}  // namespace argosy::data
