// Writes what is made from the operators' entries at build time: argosy-ops header | stub | reference OUTPUT.
//
// A file whose text stays the same is left alone, so that nothing that depends on it is compiled again.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "argosy/graph/function_text.h"

namespace {

std::string text_of(std::string_view kind) {
  const auto functions = argosy::graph::OpSchemas::instance().functions("fluid.layers");
  if (kind == "header") return argosy::graph::cpp_header(functions);
  if (kind == "stub") return argosy::graph::python_stub(functions);
  if (kind == "reference") return argosy::graph::reference_page(functions);
  return "";
}

}  // namespace

int main(int count, char** arguments) {
  const std::string text = count == 3 ? text_of(arguments[1]) : "";
  if (text.empty()) {
    std::fputs("usage: argosy-ops header|stub|reference OUTPUT\n", stderr);
    return 2;
  }
  std::ifstream before(arguments[2]);
  if (before && std::string(std::istreambuf_iterator<char>(before), {}) == text) return 0;
  std::ofstream file(arguments[2]);
  file << text;
  file.close();
  if (!file) std::fprintf(stderr, "argosy-ops: %s cannot be written\n", arguments[2]);
  return file ? 0 : 1;
}
