#include "argosy/data/arrow_table.h"
#include "argosy/data/in_memory_dataset.h"
#include "argosy/data/queue_dataset.h"
#include "argosy/data/vocabulary.h"
#include "argosy/engine/train/column_value.h"
#include "argosy/engine/train/trainer.h"
#include "argosy/python/bindings.h"
#include "argosy/python/casters.h"
#include "argosy/python/interrupt.h"
#include "argosy/python/numpy_array.h"

// Datasets, and runs over them. Everything that reads or computes releases the GIL and can be ended by Ctrl-C; lines that a run
// prints come back to Python's own print, so that they keep their place among the script's.
namespace argosy::python {

using data::BatchSource;
using data::DatasetOptions;
using data::InMemoryDataset;
using data::QueueDataset;
using engine::TrainOptions;
using engine::TrainReport;

namespace {

using Release = py::call_guard<py::gil_scoped_release>;

data::CriteoOptions criteo_options(int64_t hash_dim, const std::string& scheme) {
  if (scheme != "span" && scheme != "log1p") {
    throw Error(Status::invalid_argument("set_criteo: scheme is '{}', expected 'span' or 'log1p'", scheme));
  }
  return {.hash_dim = hash_dim, .scheme = scheme == "span" ? data::CriteoScheme::span : data::CriteoScheme::log1p};
}

using Defaults = std::map<std::string, std::variant<int64_t, double>>;

data::FileFormat file_format(const std::optional<std::string>& name) {
  if (!name) return data::FileFormat::by_name;
  if (*name == "text") return data::FileFormat::text;
  if (*name == "json") return data::FileFormat::json;
  if (*name == "parquet") return data::FileFormat::parquet;
  if (*name == "arrow") return data::FileFormat::arrow;
  throw Error(Status::invalid_argument(
      "set_format: '{}' is no format of files; expected 'text', 'json', 'parquet', 'arrow' or None", *name));
}

// What an object's __arrow_c_stream__() gave.
std::shared_ptr<data::ArrowTable> read_table(const py::capsule& stream) {
  auto* const pointer = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(stream.ptr(), "arrow_array_stream"));
  if (pointer == nullptr) throw py::error_already_set();
  return std::const_pointer_cast<data::ArrowTable>(value_or_throw(data::ArrowTable::read(pointer)));
}

DatasetOptions make_options(const std::vector<graph::Variable>& variables, std::vector<std::string> files,
                            const std::string& pipe_command, int batch_size, int threads, int64_t max_bad_lines,
                            const std::string& fs_name, const std::string& fs_ugi,
                            const std::optional<std::pair<int64_t, std::string>>& criteo,
                            const std::optional<data::CorpusOptions>& corpus, bool drop_last,
                            std::shared_ptr<data::FileHandout> handout, const std::optional<std::string>& format,
                            std::map<std::string, std::vector<std::string>> columns, Defaults defaults,
                            std::shared_ptr<data::ArrowTable> table) {
  std::vector<std::string> names;
  for (const graph::Variable& variable : variables) names.push_back(variable.name());
  DatasetOptions options{.slots = value_or_throw(engine::slots_of(*variables.at(0).program(), names)),
                         .pipe_command = pipe_command,
                         .batch_size = batch_size,
                         .threads = threads,
                         .files = std::move(files),
                         .max_bad_lines = max_bad_lines,
                         .store = {.fs_name = fs_name, .fs_ugi = fs_ugi},
                         .corpus = corpus,
                         .format = file_format(format),
                         .columns = {.columns = std::move(columns), .defaults = std::move(defaults)},
                         .table = std::move(table),
                         .drop_last = drop_last,
                         .handout = std::move(handout)};
  if (criteo) options.criteo = criteo_options(criteo->first, criteo->second);
  return options;
}

py::dict progress_object(const engine::TrainProgress& now) {
  py::dict result;
  result["batches"] = now.batches;
  result["samples"] = now.samples;
  result["seconds"] = now.seconds;
  result["samples_per_second"] = now.samples_per_second();
  result["read_seconds"] = now.read_seconds;
  result["compute_seconds"] = now.compute_seconds;
  return result;
}

py::list tensor_list(const std::vector<engine::Value>& values) {
  py::list list;
  for (const engine::Value& value : values) list.append(TensorHandle{std::make_shared<engine::Value>(value)});
  return list;
}

py::dict report_object(const TrainReport& report) {
  py::dict result = progress_object(report.total);
  result["bad_lines"] = report.data.bad_lines;
  result["fetched"] = tensor_list(report.last_fetches);
  return result;
}

// The functions of Python that a run calls from its threads. The first exception of any of them stops the run; it is raised
// where the run was started. Thread-safe.
class Callbacks {
 public:
  Callbacks(BatchSource& source, py::function print, py::object progress, py::object watch)
      : source_(source), print_(std::move(print)), progress_(std::move(progress)), watch_(std::move(watch)) {}

  void add_to(TrainOptions& options) {
    options.print = [this](std::string_view line) { call([&] { print_(py::str(line.data(), line.size())); }); };
    if (!progress_.is_none())
      options.on_progress = [this](const engine::TrainProgress& now) { call([&] { progress_(progress_object(now)); }); };
    if (!watch_.is_none())
      options.on_watch = [this](const std::vector<engine::Value>& values) { call([&] { watch_(tensor_list(values)); }); };
  }

  void throw_if_raised() {
    if (raised_ != nullptr) std::rethrow_exception(raised_);
  }

 private:
  template <typename Call>
  void call(Call&& function) {
    {
      const py::gil_scoped_acquire acquire;
      if (raised_ != nullptr) return;
      try {
        function();
        return;
      } catch (...) {
        raised_ = std::current_exception();
      }
    }
    source_.stop();
  }

  BatchSource& source_;
  const py::function print_;
  const py::object progress_, watch_;
  std::exception_ptr raised_;  // the GIL guards it
};

py::dict train(engine::Runner& runner, const graph::Program& program, BatchSource& source,
               const std::vector<std::pair<std::string, std::string>>& fetch, int print_period, int threads, bool debug,
               engine::Scope& scope, const py::function& print, const py::object& progress, const std::vector<std::string>& watch,
               double watch_seconds, const py::object& on_watch) {
  TrainOptions options{.fetch = fetch, .print_period = print_period, .threads = threads, .debug = debug};
  options.watch = watch;
  options.watch_seconds = watch_seconds;
  Callbacks callbacks(source, print, progress, on_watch);
  callbacks.add_to(options);
  std::optional<Result<TrainReport>> report;
  run_interruptibly([&] { report = engine::train(runner, program, source, options, scope); }, [&source] { source.stop(); });
  callbacks.throw_if_raised();
  return report_object(value_or_throw(std::move(*report)));
}

void start_pass(BatchSource& source) {
  Status status;
  run_interruptibly([&] { status = source.start(1); }, [&source] { source.stop(); });
  throw_if_error(status);
}

// The next batch of a pass that start(1) began: a tensor with memory of its own for each variable; None at the end.
py::object next_batch(BatchSource& source, const graph::Program& program) {
  data::Batch batch;
  std::optional<Result<bool>> more;
  run_interruptibly([&] { more = source.next(0, batch); }, [&source] { source.stop(); });
  if (!value_or_throw(std::move(*more))) return py::none();
  const auto& slots = source.options().slots;
  std::vector<engine::Value> values;
  for (size_t i = 0; i < slots.size(); ++i) {
    const graph::VarDesc* variable = program.global_block().find_var(slots[i].name);
    if (variable == nullptr) throw Error(Status::not_found("the program has no variable '{}' any more", slots[i].name));
    values.push_back(engine::column_value(batch.columns[i], batch.size, *variable));
    values.back().tensor = values.back().tensor.clone();
  }
  return tensor_list(values);
}

// One of the calls of a dataset that read files.
template <Status (InMemoryDataset::*call)()>
void load(InMemoryDataset& dataset) {
  Status status;
  run_interruptibly([&] { status = (dataset.*call)(); }, [&dataset] { dataset.stop(); });
  throw_if_error(status);
}

std::shared_ptr<data::Vocabulary> count_words(const std::vector<std::string>& files, int64_t min_count, int64_t max_words,
                                              const std::string& pipe_command) {
  std::optional<Result<data::Vocabulary>> counted;
  run_interruptibly([&] {
    counted =
        data::Vocabulary::count({.files = files, .min_count = min_count, .max_words = max_words, .pipe_command = pipe_command});
  });
  return std::make_shared<data::Vocabulary>(value_or_throw(std::move(*counted)));
}

int64_t id_in(const data::Vocabulary& vocabulary, int64_t id) {
  if (id < 0 || id >= vocabulary.size())
    throw py::index_error(fmt::format("id {} of a vocabulary of {} words", id, vocabulary.size()));
  return id;
}

void bind_corpus(py::module_& m) {
  using data::Vocabulary;
  py::class_<Vocabulary, std::shared_ptr<Vocabulary>>(m, "Vocabulary", "The words of a corpus, the most frequent first.")
      .def_static("count", &count_words, py::arg("files"), py::arg("min_count"), py::arg("max_words"), py::arg("pipe_command"))
      .def_static("read",
                  [](const std::string& path) { return std::make_shared<Vocabulary>(value_or_throw(Vocabulary::read(path))); })
      .def("write", [](const Vocabulary& v, const std::string& path) { throw_if_error(v.write(path)); })
      .def("__len__", &Vocabulary::size)
      .def("word", [](const Vocabulary& v, int64_t id) { return std::string(v.word(id_in(v, id))); })
      .def("count_of", [](const Vocabulary& v, int64_t id) { return v.count(id_in(v, id)); })
      .def("find", [](const Vocabulary& v, const std::string& word) { return v.find(word); })
      .def("keep_probability",
           [](const Vocabulary& v, int64_t id, double sample) { return v.keep_probability(id_in(v, id), sample); })
      .def("expected_words", &Vocabulary::expected_words, py::arg("sample"))
      .def_property_readonly("total", &Vocabulary::total)
      .def_property_readonly("lines", &Vocabulary::lines);
  py::class_<data::CorpusOptions>(m, "CorpusOptions", "How sentences become samples of word2vec.")
      .def(py::init([](std::shared_ptr<Vocabulary> vocabulary, int window, double sample, double power, uint64_t seed) {
             return data::CorpusOptions{
                 .vocabulary = std::move(vocabulary), .window = window, .sample = sample, .power = power, .seed = seed};
           }),
           py::arg("vocabulary"), py::arg("window"), py::arg("sample"), py::arg("power"), py::arg("seed"));
}

}  // namespace

void bind_data(py::module_& m) {
  bind_corpus(m);
  py::class_<data::FileHandout, std::shared_ptr<data::FileHandout>>(m, "FileHandout", "Deals files to the workers of a job.");
  py::class_<data::ArrowTable, std::shared_ptr<data::ArrowTable>>(m, "ArrowTable",
                                                                  "A table of another library, as it lies in memory.")
      .def(py::init(&read_table), py::arg("stream"))
      .def("__len__", &data::ArrowTable::rows);
  py::class_<DatasetOptions>(m, "DatasetOptions", "What a dataset reads and how it cuts it into batches.")
      .def(py::init(&make_options), py::arg("variables"), py::arg("files"), py::arg("pipe_command"), py::arg("batch_size"),
           py::arg("threads"), py::arg("max_bad_lines"), py::arg("fs_name"), py::arg("fs_ugi"), py::arg("criteo"),
           py::arg("corpus"), py::arg("drop_last"), py::arg("handout"), py::arg("format"), py::arg("columns"),
           py::arg("defaults"), py::arg("table"));
  py::class_<BatchSource>(m, "BatchSource", "Batches for trainer threads.")
      .def("stop", &BatchSource::stop, Release())
      .def("start", &start_pass)
      .def("next_batch", &next_batch, py::arg("program"));
  py::class_<QueueDataset, BatchSource>(m, "QueueDataset", "Streams files.").def(py::init<DatasetOptions>(), py::arg("options"));
  py::class_<InMemoryDataset, BatchSource>(m, "InMemoryDataset", "Reads files into memory first.")
      .def(py::init<DatasetOptions>(), py::arg("options"))
      .def("load_into_memory", &load<&InMemoryDataset::load_into_memory>)
      .def(
          "preload_into_memory", [](InMemoryDataset& d) { throw_if_error(d.preload_into_memory()); }, Release())
      .def("wait_preload_done", &load<&InMemoryDataset::wait_preload_done>)
      .def(
          "local_shuffle", [](InMemoryDataset& d, uint64_t seed) { throw_if_error(d.local_shuffle(seed)); }, py::arg("seed"),
          Release())
      .def(
          "shuffle_slots",
          [](InMemoryDataset& d, const std::vector<std::string>& slots, int64_t candidates, uint64_t seed) {
            throw_if_error(d.shuffle_slots(slots, candidates, seed));
          },
          py::arg("slots"), py::arg("candidates"), py::arg("seed"), Release())
      .def("memory_data_size", &InMemoryDataset::memory_data_size);
  m.def("train", &train, py::arg("runner"), py::arg("program"), py::arg("source"), py::arg("fetch"), py::arg("print_period"),
        py::arg("threads"), py::arg("debug"), py::arg("scope"), py::arg("print"), py::arg("progress"), py::arg("watch"),
        py::arg("watch_seconds"), py::arg("on_watch"), "Runs the program once for every batch of a dataset.");
}

}  // namespace argosy::python
