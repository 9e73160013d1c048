#include "argosy/serve/sources/job_source.h"

#include "argosy/base/settings.h"
#include "argosy/ps/client/connect_server.h"
#include "argosy/ps/client/row_reader.h"
#include "argosy/rpc/security_settings.h"

namespace argosy::serve {
namespace {

class JobSource final : public ParameterSource {
 public:
  explicit JobSource(std::unique_ptr<ps::RowReader> reader) : reader_(std::move(reader)) {
    for (const ps::TableSpec& table : reader_->spec().tables)
      tables_.push_back({.name = table.name, .sparse = table.sparse, .size = table.size, .width = table.width});
  }

  const std::vector<Table>& tables() const override { return tables_; }
  Status pull_rows(size_t table, std::span<const uint64_t> keys, std::span<float> rows) override {
    return reader_->pull_rows(table, keys, rows);
  }
  Status pull_dense(size_t table, std::span<float> values) override { return reader_->pull_dense(table, values); }

  Result<std::vector<Origin>> origins() override {
    ASSIGN_OR_RETURN(const auto sources, reader_->sources());
    std::vector<Origin> all;
    for (size_t i = 0; i < sources.size(); ++i) {
      const auto& one = sources[i];
      all.push_back({.address = one.endpoint,
                     .version = one.version,
                     .lag_records = one.lag_records,
                     .lag_seconds = one.lag_seconds,
                     .text = described(i, one)});
    }
    return all;
  }

 private:
  std::string described(size_t server, const ps::RowReader::Source& one) const {
    std::string text = fmt::format("server {} of job '{}', run {}", server, reader_->job(), reader_->run());
    if (!one.follows.empty()) text += fmt::format(", by a follower of {}", one.follows);
    if (!one.wire_format.empty()) text += fmt::format(", to which gradients come rounded to {}", one.wire_format);
    if (!one.answers_from.empty()) text += fmt::format(", which answers from its version '{}'", one.answers_from);
    if (!one.waits_for.empty()) text += fmt::format("; waits for {}", one.waits_for);
    return text;
  }

  const std::unique_ptr<ps::RowReader> reader_;
  std::vector<Table> tables_;
};

}  // namespace

Result<std::shared_ptr<ParameterSource>> connect_job_source(const JobSourceOptions& options) {
  ASSIGN_OR_RETURN(const Settings settings, Settings::from_environment());
  ps::RowReaderOptions reading{.endpoints = options.endpoints,
                               .run = settings.text("run_id"),
                               .security = rpc::security_of(settings),
                               .wait_seconds = options.connect_seconds,
                               .read_wait_seconds = options.wait_seconds};
  if (!options.token.empty()) reading.security.token = options.token;
  ASSIGN_OR_RETURN(auto reader, ps::RowReader::connect(reading));
  return std::shared_ptr<ParameterSource>(std::make_shared<JobSource>(std::move(reader)));
}

Status check_job_endpoint(const std::string& endpoint) { return ps::check_server_endpoint(endpoint); }

}  // namespace argosy::serve
