#include "argosy/apps/rows_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/counted.h"
#include "argosy/base/settings.h"
#include "argosy/ps/client/row_reader.h"
#include "argosy/rpc/security_settings.h"

namespace argosy::apps {
namespace {

struct RowsArguments {
  std::vector<std::string> endpoints;
  std::string table, token;
  std::vector<uint64_t> keys;
  double wait = 10;
};

void print_row(uint64_t key, std::span<const float> row) {
  std::string line = std::to_string(key);
  for (const float value : row) line += fmt::format("\t{}", value);
  std::puts(line.c_str());
}

Status print_sources(ps::RowReader& reader) {
  ASSIGN_OR_RETURN(const auto sources, reader.sources());
  std::printf("job '%s', run %s\n", reader.job().c_str(), reader.run().c_str());
  for (size_t i = 0; i < sources.size(); ++i) {
    const auto& one = sources[i];
    std::string line = fmt::format("server {} at {}: version {}", i, one.endpoint, one.version);
    if (!one.follows.empty()) {
      line += fmt::format(", a follower of {}, {} and {:.1f} s behind", one.follows,
                          one.waits_for.empty() ? counted(one.lag_records, "record") : "an unknown number of records",
                          one.lag_seconds);
    }
    if (!one.waits_for.empty()) line += fmt::format("; waits for {}", one.waits_for);
    std::puts(line.c_str());
  }
  for (const ps::TableSpec& table : reader.spec().tables) {
    std::puts((table.sparse ? fmt::format("sparse table '{}', rows of {}", table.name, table.width)
                            : fmt::format("dense table '{}', {} elements", table.name, table.size))
                  .c_str());
  }
  return {};
}

// Rows of a follower whose server is away may be old, and nothing in them shows it.
Status warn_of_old_rows(ps::RowReader& reader) {
  ASSIGN_OR_RETURN(const auto sources, reader.sources());
  for (const auto& one : sources) {
    if (one.waits_for.empty()) continue;
    std::fprintf(stderr, "argosy rows: warning: %s is at version %llu, which may not be the newest: it waits for %s\n",
                 one.endpoint.c_str(), static_cast<unsigned long long>(one.version), one.waits_for.c_str());
  }
  return {};
}

Status print_dense(ps::RowReader& reader, size_t table) {
  std::vector<float> values(reader.spec().tables[table].size);
  RETURN_IF_ERROR(reader.pull_dense(table, values));
  for (size_t i = 0; i < values.size(); ++i) print_row(i, {&values[i], 1});
  return {};
}

Status print_rows(const RowsArguments& arguments) {
  ASSIGN_OR_RETURN(const Settings settings, Settings::from_environment());
  ps::RowReaderOptions options{.endpoints = arguments.endpoints, .run = settings.text("run_id"), .wait_seconds = arguments.wait};
  options.security = rpc::security_of(settings);
  if (!arguments.token.empty()) options.security.token = arguments.token;
  ASSIGN_OR_RETURN(const auto reader, ps::RowReader::connect(options));
  if (arguments.table.empty()) return print_sources(*reader);
  ASSIGN_OR_RETURN(const size_t table, reader->table(arguments.table));
  RETURN_IF_ERROR(warn_of_old_rows(*reader));
  const ps::TableSpec& spec = reader->spec().tables[table];
  if (!spec.sparse) return print_dense(*reader, table);
  ps::RowReader::Rows rows;
  if (arguments.keys.empty()) {
    ASSIGN_OR_RETURN(rows, reader->export_rows(table));
  } else {
    rows.keys = arguments.keys;
    rows.values.resize(rows.keys.size() * spec.width);
    RETURN_IF_ERROR(reader->pull_rows(table, rows.keys, rows.values));
  }
  for (size_t i = 0; i < rows.keys.size(); ++i)
    print_row(rows.keys[i], std::span(rows.values).subspan(i * spec.width, spec.width));
  return {};
}

}  // namespace

void add_rows(CLI::App& app, int& result) {
  auto* command = app.add_subcommand("rows", "What servers of a running job, or followers of them, hold now.");
  auto arguments = std::make_shared<RowsArguments>();
  command
      ->add_option("endpoints", arguments->endpoints, "host:port,host:port of all servers of the job, or of a follower of each")
      ->required()
      ->delimiter(',');
  auto* table = command->add_option("--table", arguments->table,
                                    "print this table: a line per row, key and values; none: how each server stands");
  command
      ->add_option("--keys", arguments->keys,
                   "only these rows of a sparse table; one that nobody has trained is shown by its first value")
      ->delimiter(',')
      ->needs(table);
  command->add_option("--token", arguments->token, "the job's token (or ARGOSY_TOKEN)");
  command->add_option("--wait", arguments->wait, "seconds to wait for a server that is away (10)")->check(CLI::PositiveNumber);
  command->callback([arguments, &result] {
    const Status status = print_rows(*arguments);
    if (!status.ok()) std::fprintf(stderr, "argosy rows: %s\n", status.message().c_str());
    result = status.ok() ? 0 : 1;
  });
}

}  // namespace argosy::apps
