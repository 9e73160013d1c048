#include "argosy/fleet/file_stream.h"
#include "argosy/fleet/fleet.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"
#include "argosy/python/interrupt.h"

// Data that comes while it is trained: lists of files, which a script asks for before every pass.
namespace argosy::python {

using fleet::FileStream;
using fleet::FolderStream;
using fleet::MessageStream;

namespace {

fleet::FileStreamOptions stream_options(double idle_seconds, double poll_seconds) {
  return {.idle_seconds = idle_seconds, .poll_seconds = poll_seconds, .fleet = nullptr};
}

}  // namespace

void bind_streams(py::module_& m) {
  py::class_<FileStream>(m, "FileStream", "Lists of files that come one after the other.").def("next", [](FileStream& stream) {
    std::vector<std::string> files;
    run_without_gil([&] { files = stream.next(); });
    return files;
  });
  py::class_<MessageStream, FileStream>(m, "MessageStream", "Messages of a Kafka topic.")
      .def(py::init([](const std::string& brokers, const std::string& topic, const std::string& group, const std::string& from,
                       int64_t most, int64_t range, double broker_seconds, double every_seconds,
                       std::optional<double> late_seconds, double idle_seconds, double poll_seconds) {
             return std::make_unique<MessageStream>(
                 fleet::MessageStreamOptions{.brokers = brokers,
                                             .topic = topic,
                                             .group = group,
                                             .from = from,
                                             .most = most,
                                             .range = range,
                                             .broker_seconds = broker_seconds,
                                             .every_seconds = every_seconds,
                                             .late_seconds = late_seconds,
                                             .stream = stream_options(idle_seconds, poll_seconds)});
           }),
           py::arg("brokers"), py::arg("topic"), py::arg("group"), py::arg("from_"), py::arg("most"), py::arg("range"),
           py::arg("broker_seconds"), py::arg("every_seconds"), py::arg("late_seconds"), py::arg("idle_seconds"),
           py::arg("poll_seconds"))
      .def_property_readonly(
          "as_of", &MessageStream::as_of,
          "The end of the window of event time that the list before the last one ended, in milliseconds since 1970.");
  py::class_<FolderStream, FileStream>(m, "FolderStream", "Files that appear.")
      .def(py::init([](const std::string& pattern, int64_t most, double idle_seconds, double poll_seconds) {
             return std::make_unique<FolderStream>(fleet::FolderStreamOptions{
                 .pattern = pattern, .most = most, .stream = stream_options(idle_seconds, poll_seconds)});
           }),
           py::arg("pattern"), py::arg("most"), py::arg("idle_seconds"), py::arg("poll_seconds"));
}

}  // namespace argosy::python
