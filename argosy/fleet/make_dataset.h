#pragma once

#include <memory>
#include <string>
#include <vector>

#include "argosy/data/arrow_table.h"
#include "argosy/data/dataset.h"
#include "argosy/data/in_memory_dataset.h"
#include "argosy/data/queue_dataset.h"
#include "argosy/data/vocabulary.h"
#include "argosy/graph/variable.h"

namespace argosy::fleet {
class Fleet;
}

namespace argosy {

// What a line of a file is: MultiSlot text without more, Criteo's, or a sentence. A file whose name ends with .parquet, .arrow or
// .feather is a table without more, too: its columns feed the variables of their names.
struct DatasetFormat {
  std::optional<data::CriteoOptions> criteo;
  std::optional<data::CorpusOptions> corpus;
  data::FileFormat files = data::FileFormat::by_name;
  data::ColumnOptions columns;  // of tables
};
inline DatasetFormat multislot() { return {}; }
inline DatasetFormat parquet(data::ColumnOptions columns = {}) {
  return {.files = data::FileFormat::parquet, .columns = std::move(columns)};
}
inline DatasetFormat arrow_files(data::ColumnOptions columns = {}) {
  return {.files = data::FileFormat::arrow, .columns = std::move(columns)};
}
inline DatasetFormat json_lines(data::ColumnOptions columns = {}) {
  return {.files = data::FileFormat::json, .columns = std::move(columns)};
}
inline DatasetFormat criteo(int64_t hash_dim) { return {.criteo = data::CriteoOptions{.hash_dim = hash_dim}}; }
// Sentences as samples of word2vec: `use` is the word, the words around it (lod_level 1: all of them; 0: a pair each), and, if it
// is there, words drawn at random. batch_size counts lines.
inline DatasetFormat corpus(data::CorpusOptions options) { return {.corpus = std::move(options)}; }

using data::Vocabulary;
// The words of a corpus. Throws argosy::Error.
std::shared_ptr<const Vocabulary> count_words(const data::VocabularyOptions& options);

struct DatasetRequest {
  std::vector<graph::Variable> use;  // the variables that the slots of a line feed, in order
  std::vector<std::string> files;
  std::shared_ptr<const data::ArrowTable> table = nullptr;  // in place of files
  DatasetFormat format;
  std::string pipe_command = "cat";
  int batch_size = 1;
  int threads = 1;
  int64_t max_bad_lines = 0;
  bool drop_last = false;
  data::RemoteStore store = {};  // of hdfs: and afs: files
  // Every worker has the whole list, and a file goes to a worker that is free; without it a worker reads all of `files`. Workers
  // make the same datasets and passes in the same order.
  bool file_handout = false;
  const fleet::Fleet* fleet = nullptr;  // whose job hands the files out; null: that of this process
};

// Streams the files; or reads them into memory first (call load_into_memory). Throw argosy::Error.
std::unique_ptr<data::QueueDataset> make_dataset(const DatasetRequest& request);
std::unique_ptr<data::InMemoryDataset> make_in_memory_dataset(const DatasetRequest& request);

// Variables and lists of variables as one list: inputs(dense, slots, label).
inline void append_inputs(std::vector<graph::Variable>& all, const graph::Variable& one) { all.push_back(one); }
inline void append_inputs(std::vector<graph::Variable>& all, const std::vector<graph::Variable>& more) {
  all.insert(all.end(), more.begin(), more.end());
}
template <typename... Parts>
std::vector<graph::Variable> inputs(const Parts&... parts) {
  std::vector<graph::Variable> all;
  (append_inputs(all, parts), ...);
  return all;
}

// The paths that match a shell pattern, sorted; of a URI, such as s3://bucket/day=*/part-*, the objects. No match is an error
// that names the pattern.
std::vector<std::string> glob(const std::string& pattern);

}  // namespace argosy
