#include "argosy/graph/print.h"

#include <google/protobuf/text_format.h>

#include "argosy/graph/framework.pb.h"
#include "argosy/graph/wire_message.h"

namespace argosy::graph {
namespace {

namespace pb = google::protobuf;

// Numbers as Python prints them: 1.0, not 1.
class PythonNumbers : public pb::TextFormat::FastFieldValuePrinter {
 public:
  void PrintFloat(float value, pb::TextFormat::BaseTextGenerator* out) const override {
    out->PrintString(attribute_to_string(value));
  }
  void PrintDouble(double value, pb::TextFormat::BaseTextGenerator* out) const override {
    out->PrintString(attribute_to_string(value));
  }
};

std::string text_of(const pb::Message& message) {
  pb::TextFormat::Printer printer;
  printer.SetDefaultFieldValuePrinter(new PythonNumbers);  // the printer owns it
  std::string text;
  printer.PrintToString(message, &text);
  return text;
}

}  // namespace

std::string to_string(const VarDesc& variable) {
  wire::VarDesc message;
  to_message(variable, Marks::without, message);
  return text_of(message);
}

std::string to_string(const OpDesc& op) {
  wire::OpDesc message;
  to_message(op, message);
  return text_of(message);
}

std::string to_string(const Block& block) {
  wire::BlockDesc message;
  to_message(block, Marks::without, message);
  return text_of(message);
}

std::string Program::to_string() const {
  wire::ProgramDesc message;
  to_message(*this, Marks::without, message);
  return text_of(message);
}

}  // namespace argosy::graph
