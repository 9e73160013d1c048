#include "argosy/serve/redis/redis_source.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "argosy/base/mutex.h"
#include "argosy/publish/published_tables.h"

namespace argosy::serve {
namespace {

class RedisSource final : public ParameterSource {
 public:
  RedisSource(const RedisSourceOptions& options, std::unique_ptr<publish::PublishedTables> tables)
      : options_(options), published_(std::move(tables)) {
    for (const ps::TableSpec& table : published_->spec().tables)
      tables_.push_back({.name = table.name, .sparse = table.sparse, .size = table.size, .width = table.width});
  }

  const std::vector<Table>& tables() const override { return tables_; }
  Status pull_rows(size_t table, std::span<const uint64_t> keys, std::span<float> rows) override {
    return published_->pull_rows(table, keys, rows);
  }
  Status pull_dense(size_t table, std::span<float> values) override { return published_->pull_dense(table, values); }

  Result<std::vector<Origin>> origins() override {
    ASSIGN_OR_RETURN(const auto found, published_->standing());
    const publish::PublishedHead& head = found.head;
    Origin origin{.address = fmt::format("redis://{}/{}", options_.redis, options_.name), .version = head.version};
    origin.lag_seconds = std::max(0.0, found.redis_seconds - head.current_seconds);
    origin.text = fmt::format("job '{}', run {}, published {:.0f} s ago from versions {} of its servers", head.job, head.run,
                              std::max(0.0, found.redis_seconds - head.unix_seconds), head.sources);
    return std::vector<Origin>{origin};
  }

 private:
  const RedisSourceOptions options_;
  const std::unique_ptr<publish::PublishedTables> published_;
  std::vector<Table> tables_;
};

}  // namespace

Result<std::shared_ptr<ParameterSource>> connect_redis_source(const RedisSourceOptions& options) {
  ASSIGN_OR_RETURN(auto tables, publish::PublishedTables::open(options.redis, options.name, options.wait_seconds));
  return std::shared_ptr<ParameterSource>(std::make_shared<RedisSource>(options, std::move(tables)));
}

}  // namespace argosy::serve
