#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace argosy::data {

// How columns of a table fill the slots of a dataset.
struct ColumnOptions {
  // By slot: the columns that its values are in, in this order. A slot that is not here is the column of its name.
  std::map<std::string, std::vector<std::string>> columns;
  // By slot: the value that stands for one that is missing (null). Without it a missing value of a ragged slot is none, and that
  // of a dense slot makes the row a bad one.
  std::map<std::string, std::variant<int64_t, double>> defaults;
};

// What the files of a dataset are.
enum class FileFormat {
  by_name,  // what ends with .parquet, .arrow, .feather or .ipc is a table, where there is no pipe command; anything else is text
  text,
  json,  // an object a line, see json_lines.h
  parquet,
  arrow,  // Arrow's IPC file format, which is also Feather's second version
};

}  // namespace argosy::data
