// Published tables in a build without servers, which has no Redis either.
#include "argosy/serve/redis/redis_source.h"

namespace argosy::serve {

Result<std::shared_ptr<ParameterSource>> connect_redis_source(const RedisSourceOptions& options) {
  return Status::unimplemented(
      "the tables in redis://{}/{} cannot be read: this build has no servers and no Redis (ARGOSY_SERVERS=OFF)", options.redis,
      options.name);
}

}  // namespace argosy::serve
