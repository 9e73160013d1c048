#include "argosy/apps/rows_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "argosy/base/counted.h"
#include "argosy/base/settings.h"
#include "argosy/cli/checks.h"
#include "argosy/ps/client/connect_server.h"
#include "argosy/ps/client/row_reader.h"
#include "argosy/rpc/security_settings.h"

namespace argosy::apps {
namespace {

// Where to read, and how.
struct RowsArguments {
  std::vector<std::string> endpoints;
  std::string table, token;
  std::vector<uint64_t> keys;
  double wait = 10;
};

void add_connection(CLI::App& command, RowsArguments& arguments, const char* endpoints) {
  command.add_option("endpoints", arguments.endpoints, endpoints)
      ->required()
      ->delimiter(',')
      ->check(cli::checked_by(ps::check_server_endpoint));
  command.add_option("--token", arguments.token, "the job's token (or ARGOSY_TOKEN)");
  command.add_option("--wait", arguments.wait, "seconds to wait for one that is away")
      ->capture_default_str()
      ->check(cli::number_above_zero());
}

void print_row(uint64_t key, std::span<const float> row, bool missing = false) {
  std::string line = std::to_string(key);
  for (const float value : row) line += fmt::format("\t{}", value);
  if (missing) line += "\tnot there; this is what it would begin with";
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
    if (!one.wire_format.empty()) line += fmt::format("; gradients come to it rounded to {}", one.wire_format);
    if (!one.answers_from.empty()) line += fmt::format("; answers from its version '{}'", one.answers_from);
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

Result<std::unique_ptr<ps::RowReader>> connect(const RowsArguments& arguments) {
  ASSIGN_OR_RETURN(const Settings settings, Settings::from_environment());
  ps::RowReaderOptions options{.endpoints = arguments.endpoints, .run = settings.text("run_id"), .wait_seconds = arguments.wait};
  options.security = rpc::security_of(settings);
  if (!arguments.token.empty()) options.security.token = arguments.token;
  return ps::RowReader::connect(options);
}

Status print_rows(const RowsArguments& arguments) {
  ASSIGN_OR_RETURN(const auto reader, connect(arguments));
  if (arguments.table.empty()) return print_sources(*reader);
  ASSIGN_OR_RETURN(const size_t table, reader->table(arguments.table));
  RETURN_IF_ERROR(warn_of_old_rows(*reader));
  const ps::TableSpec& spec = reader->spec().tables[table];
  if (!spec.sparse) return print_dense(*reader, table);
  ps::RowReader::Rows rows;
  std::vector<size_t> missing;
  if (arguments.keys.empty()) {
    ASSIGN_OR_RETURN(rows, reader->export_rows(table));
  } else {
    rows.keys = arguments.keys;
    rows.values.resize(rows.keys.size() * spec.width);
    RETURN_IF_ERROR(reader->pull_rows(table, rows.keys, rows.values, &missing));
  }
  for (size_t i = 0; i < rows.keys.size(); ++i)
    print_row(rows.keys[i], std::span(rows.values).subspan(i * spec.width, spec.width), std::ranges::binary_search(missing, i));
  return {};
}

using Action = ps::RowReader::VersionAction;

struct VersionsArguments {
  RowsArguments where;
  std::string keep, drop, go_back;
  bool newest = false;
};

void print_versions(const ps::RowReader::Versions& one) {
  std::printf("%s: newest version %llu%s\n", one.endpoint.c_str(), static_cast<unsigned long long>(one.newest),
              one.answers_from.empty() ? ", which reads are answered from" : "");
  for (const auto& kept : one.kept) {
    std::printf("  '%s': version %llu, kept %.0f s ago%s\n", kept.name.c_str(), static_cast<unsigned long long>(kept.version),
                kept.age_seconds, kept.name == one.answers_from ? "; reads are answered from it" : "");
  }
}

Status change_versions(const VersionsArguments& arguments) {
  ASSIGN_OR_RETURN(const auto reader, connect(arguments.where));
  const auto [action, name] = !arguments.keep.empty()      ? std::pair(Action::keep, arguments.keep)
                              : !arguments.drop.empty()    ? std::pair(Action::drop, arguments.drop)
                              : !arguments.go_back.empty() ? std::pair(Action::answer_from, arguments.go_back)
                              : arguments.newest           ? std::pair(Action::answer_from, std::string())
                                                           : std::pair(Action::list, std::string());
  ASSIGN_OR_RETURN(const auto all, reader->versions(action, name));
  for (const auto& one : all) print_versions(one);
  return {};
}

}  // namespace

void add_versions(CLI::App& app, int& result) {
  auto* command = app.add_subcommand("versions", "Versions that followers keep, and which one they answer reads from.");
  auto arguments = std::make_shared<VersionsArguments>();
  add_connection(*command, arguments->where, "host:port,host:port of a follower of each server of the job");
  auto* what = command->add_option_group("What to do; without one of these: list them");
  what->add_option("--keep", arguments->keep, "a name: keep the newest version under it, as a copy in memory");
  what->add_option("--go_back", arguments->go_back, "a name: answer reads from that version, while following goes on");
  what->add_flag("--newest", arguments->newest, "answer reads from the newest version again");
  what->add_option("--drop", arguments->drop, "a name: forget that version");
  what->require_option(0, 1);
  command->callback([arguments, &result] {
    const Status status = change_versions(*arguments);
    if (!status.ok()) std::fprintf(stderr, "argosy versions: %s\n", status.message().c_str());
    result = status.ok() ? 0 : 1;
  });
}

void add_rows(CLI::App& app, int& result) {
  auto* command = app.add_subcommand("rows", "What servers of a running job, or followers of them, hold now.");
  auto arguments = std::make_shared<RowsArguments>();
  add_connection(*command, *arguments, "host:port,host:port of all servers of the job, or of a follower of each");
  auto* table = command->add_option("--table", arguments->table,
                                    "print this table: a line per row, key and values; none: how each server stands");
  command
      ->add_option("--keys", arguments->keys,
                   "only these rows of a sparse table; one that is not there is shown by its first value, and marked")
      ->delimiter(',')
      ->needs(table);
  command->callback([arguments, &result] {
    const Status status = print_rows(*arguments);
    if (!status.ok()) std::fprintf(stderr, "argosy rows: %s\n", status.message().c_str());
    result = status.ok() ? 0 : 1;
  });
}

}  // namespace argosy::apps
