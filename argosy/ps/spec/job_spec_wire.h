#pragma once

#include "argosy/ps/spec/job_spec.h"
#include "argosy/ps/spec/load_report.h"
#include "argosy/ps/spec/messages.pb.h"
#include "argosy/ps/spec/window.h"

// Plain structs as messages and back.
namespace argosy::ps {

wire::JobSpec to_wire(const JobSpec& spec);

// Unknown enum values are refused by name; the result still has to pass check().
Result<JobSpec> from_wire(const wire::JobSpec& message);

inline Position from_wire(const wire::Position& position) { return {position.round(), position.step()}; }

inline wire::Position to_wire(Position position) {
  wire::Position message;
  message.set_round(position.round);
  message.set_step(position.step);
  return message;
}

inline LoadedTable from_wire(const wire::TableReport& report) {
  return {.table = report.table(), .rows = report.rows(), .missing = report.missing(), .unused = report.unused()};
}

wire::Window to_wire(const Window& window);
Window from_wire(const wire::Window& message);

}  // namespace argosy::ps
