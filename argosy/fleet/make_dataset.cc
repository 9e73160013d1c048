#include "argosy/fleet/make_dataset.h"

#include <algorithm>

#include "argosy/base/error.h"
#include "argosy/data/message_log.h"
#include "argosy/data/object_store.h"
#include "argosy/engine/train/column_value.h"
#include "argosy/fleet/file_handout.h"
#include "argosy/fleet/fleet.h"

namespace argosy {
namespace {

data::DatasetOptions options_of(const DatasetRequest& request) {
  if (request.use.empty()) throw Error(Status::invalid_argument("a dataset needs the variables that it feeds: set `use`"));
  const fleet::Fleet& job = request.fleet != nullptr ? *request.fleet : fleet::fleet();
  if (!request.file_handout && std::ranges::any_of(request.files, data::is_message_range) && job.initialised() &&
      job.worker_num() > 1)
    throw Error(Status::invalid_argument(
        "every worker would train all messages of '{}': set file_handout, so that each range goes to one of them",
        request.files.front()));
  std::vector<std::string> names;
  for (const graph::Variable& variable : request.use) names.push_back(variable.name());
  return {.slots = value_or_throw(engine::slots_of(*request.use[0].program(), names)),
          .pipe_command = request.pipe_command,
          .batch_size = request.batch_size,
          .threads = request.threads,
          .files = request.files,
          .max_bad_lines = request.max_bad_lines,
          .store = request.store,
          .criteo = request.format.criteo,
          .corpus = request.format.corpus,
          .format = request.format.files,
          .columns = request.format.columns,
          .table = request.table,
          .drop_last = request.drop_last,
          .handout = request.file_handout ? fleet::make_file_handout(request.fleet != nullptr ? *request.fleet : fleet::fleet())
                                          : nullptr};
}

}  // namespace

std::unique_ptr<data::QueueDataset> make_dataset(const DatasetRequest& request) {
  return std::make_unique<data::QueueDataset>(options_of(request));
}

std::unique_ptr<data::InMemoryDataset> make_in_memory_dataset(const DatasetRequest& request) {
  return std::make_unique<data::InMemoryDataset>(options_of(request));
}

std::shared_ptr<const Vocabulary> count_words(const data::VocabularyOptions& options) {
  return std::make_shared<const Vocabulary>(value_or_throw(Vocabulary::count(options)));
}

std::vector<std::string> glob(const std::string& pattern) {
  std::vector<std::string> paths = value_or_throw(data::matching_files(pattern));
  if (paths.empty()) throw Error(Status::not_found("no file matches '{}'", pattern));
  return paths;
}

}  // namespace argosy
