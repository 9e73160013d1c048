#pragma once

#include "argosy/graph/program.h"

// Between the program and the messages of framework.proto, for the files of this room that write them out: wire_write.cc as
// bytes, print.cc as text. The message types are only declared here, so that the generated header stays in those files.
namespace argosy::wire {
class BlockDesc;
class OpDesc;
class ProgramDesc;
class VarDesc;
}  // namespace argosy::wire

namespace argosy::graph {

// Whether to write the marks that only 2.x knows, and that of inputs whose feeds are checked: bytes have them, text does not.
enum class Marks { with, without };

void to_message(const VarDesc& variable, Marks marks, wire::VarDesc& message);
void to_message(const OpDesc& op, wire::OpDesc& message);
void to_message(const Block& block, Marks marks, wire::BlockDesc& message);
void to_message(const Program& program, Marks marks, wire::ProgramDesc& message);

}  // namespace argosy::graph
