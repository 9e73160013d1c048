#include <string_view>

#include "argosy/base/address.h"
#include "argosy/serve/redis/redis_source.h"

namespace argosy::serve {

Result<RedisSourceOptions> parse_redis_url(const std::string& url) {
  constexpr std::string_view kScheme = "redis://";
  const std::string rest = url.starts_with(kScheme) ? url.substr(kScheme.size()) : "";
  const size_t slash = rest.find('/');
  const auto address = Address::parse(rest.substr(0, slash));
  if (slash == std::string::npos || slash + 1 == rest.size() || !address.ok() || address->port == 0)
    return Status::invalid_argument("'{}' is no address of published tables; expected redis://host:port/NAME", url);
  return RedisSourceOptions{.redis = rest.substr(0, slash), .name = rest.substr(slash + 1)};
}

}  // namespace argosy::serve
