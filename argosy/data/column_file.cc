#include "argosy/data/column_file.h"

#include "argosy/data/module.h"

namespace argosy::data {

Result<ColumnFiles*> column_files() {
  static const Result<void*> files =
      open_module({.library = "libargosy_parquet.so",
                   .function = kColumnFilesFunction,
                   .version = kColumnFilesVersion,
                   .purpose = "Parquet and Arrow files are read with the libraries of pyarrow",
                   .remedy = "install the pyarrow that this build was made with (tools/requirements.txt has its "
                             "version), or build with ARGOSY_PARQUET=ON where it is installed"});
  RETURN_IF_ERROR(files.status());
  return static_cast<ColumnFiles*>(*files);
}

}  // namespace argosy::data
