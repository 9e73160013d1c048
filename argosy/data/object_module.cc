#include "argosy/data/object_module.h"

#include <atomic>

#include "argosy/data/module.h"

namespace argosy::data {
namespace {

std::atomic<ObjectStores*>& stores_of_tests() {
  static std::atomic<ObjectStores*> stores{nullptr};
  return stores;
}

}  // namespace

Result<ObjectStores*> object_stores() {
  if (ObjectStores* const stores = stores_of_tests().load()) return stores;
  static const Result<void*> stores = open_module(
      {.library = "libargosy_stores.so",
       .function = kObjectStoresFunction,
       .version = kObjectStoresVersion,
       .purpose = "object stores are reached with the libraries of pyarrow",
       .remedy = "install the pyarrow that this build was made with (tools/requirements.txt has its version), or build with "
                 "ARGOSY_STORES=ON where it is installed"});
  RETURN_IF_ERROR(stores.status());
  return static_cast<ObjectStores*>(*stores);
}

void set_object_stores(ObjectStores* stores) { stores_of_tests() = stores; }

}  // namespace argosy::data
