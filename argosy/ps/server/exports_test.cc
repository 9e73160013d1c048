#include "argosy/ps/server/exports.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "argosy/ps/server/server_scratch.h"

namespace argosy::ps {
namespace {

using namespace scratch;
using ::testing::HasSubstr;

class ExportsTest : public ::testing::Test {
 protected:
  ExportsTest() {
    std::vector<uint64_t> keys(100);
    std::iota(keys.begin(), keys.end(), 0);
    const std::vector<float> values(200, 3);
    EXPECT_TRUE(tables->sparse(0).set_rows(keys, values).ok());
  }
  Result<wire::ExportRowsReply> ask(uint64_t session, uint64_t number, uint32_t table = 0) {
    wire::ExportRowsRequest request;
    request.set_table(table);
    request.set_session(session);
    request.set_number(number);
    request.set_max_bytes(256);
    auto piece = exports.piece(*tables, request);
    if (!piece.ok()) return piece.status();
    wire::ExportRowsReply reply;
    EXPECT_TRUE(reply.ParseFromString(piece->header));
    last = std::move(*piece);
    return reply;
  }

  std::unique_ptr<Tables> tables = std::move(Tables::make(job(Mode::async, 1, {counting_rows(), counting_dense()}), {})).value();
  Limit count{"open_exports", 2, "exports", "finish some"};
  Limit answer{"answer", 1 << 20, "bytes", "ask for less"};
  Exports exports{"server 0", count, answer};
  Outgoing last;
};

TEST_F(ExportsTest, GivesEveryRowPieceByPiece) {
  uint64_t rows = 0, session = 0;
  for (uint64_t number = 0;; ++number) {
    const auto reply = ask(session, number);
    ASSERT_TRUE(reply.ok()) << reply.status().message();
    rows += reply->count();
    session = reply->session();
    if (reply->done()) break;
    ASSERT_LT(number, 100u);
  }
  EXPECT_EQ(rows, 100u);
}

TEST_F(ExportsTest, APieceThatIsAskedForAgainIsTheSame) {
  const auto first = ask(0, 0);
  ASSERT_TRUE(first.ok());
  const auto second = ask(first->session(), 1);
  ASSERT_TRUE(second.ok());
  const std::string once = last.header;
  ASSERT_TRUE(ask(first->session(), 1).ok());
  EXPECT_EQ(last.header, once);
  EXPECT_THAT(ask(first->session(), 5).status().message(), HasSubstr("piece 5 of an export was asked for; the next is 2"));
}

TEST_F(ExportsTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(ask(77, 1).status().code(), Code::not_found);
  EXPECT_FALSE(ask(0, 0, 1).ok()) << "a dense table has no rows";
}

// There are only so many, and one that is over makes room.
TEST_F(ExportsTest, AreLimited) {
  const auto first = ask(0, 0);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(ask(0, 0).ok());
  EXPECT_THAT(ask(0, 0).status().message(), HasSubstr("open_exports"));
  for (uint64_t number = 1;; ++number) {
    const auto reply = ask(first->session(), number);
    ASSERT_TRUE(reply.ok());
    if (reply->done()) break;
  }
  EXPECT_TRUE(ask(0, 0).ok());
  EXPECT_EQ(ask(first->session(), 0).status().code(), Code::not_found);
  exports.drop_idle();
  EXPECT_EQ(count.now(), 2u) << "nobody has been idle for a minute";
}

}  // namespace
}  // namespace argosy::ps
