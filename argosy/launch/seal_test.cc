#include "argosy/launch/seal.h"

#include <gmock/gmock.h>

namespace argosy::launch {
namespace {

using ::testing::HasSubstr;

TEST(Seal, OpensWhatWasSealedWithTheSameTokenForTheSamePlace) {
  const Seal first = Seal::fresh("secret");
  const Seal guest = *Seal::from_greeting("secret", first.greeting());
  for (const std::string text : {"", "join rank=-1", "x"}) {
    EXPECT_EQ(*first.opened(guest.sealed(text, "from/1/1"), "from/1/1"), text);
    EXPECT_EQ(first.opened(guest.sealed(text, "from/1/1"), "from/1/2").status().code(), Code::unauthenticated);
    EXPECT_FALSE(first.opened(Seal::fresh("secret").sealed(text, "from/1/1"), "from/1/1").ok()) << "of another meeting";
    EXPECT_FALSE(first.opened(Seal::from_greeting("Secret", first.greeting())->sealed(text, "from/1/1"), "from/1/1").ok());
  }
  EXPECT_THAT(guest.sealed("text", "a"), testing::Not(HasSubstr("secret")));
}

TEST(Seal, NothingThatWasChangedOpens) {
  const Seal seal = Seal::fresh("");
  const std::string good = seal.sealed("done round=1", "from/1/2");
  ASSERT_TRUE(seal.opened(good, "from/1/2").ok());
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_FALSE(seal.opened(bad, "from/1/2").ok()) << i;
    EXPECT_FALSE(seal.opened(good.substr(0, i), "from/1/2").ok()) << i;
  }
  EXPECT_FALSE(seal.opened(good + "0", "from/1/2").ok());
}

// RFC 4231 does not cover our layout; this pins the format that two nodes must share.
TEST(Seal, TheFormatStays) {
  const Seal seal = *Seal::from_greeting("key", "argosy-meeting-1 00");
  // printf 'argosy-meeting-1 00\nto/1/1\nend code=0' | openssl dgst -sha256 -hmac key
  EXPECT_EQ(seal.sealed("end code=0", "to/1/1"), "2332a772c859d188005c220c6422a090f55b5532e50a2cfa17c6e6961380940d end code=0");
}

TEST(Seal, AnotherVersionIsNamed) {
  EXPECT_THAT(Seal::from_greeting("", "argosy-meeting-0 ab").status().message(),
              HasSubstr("greets with 'argosy-meeting-0 ab', this one knows 'argosy-meeting-1'"));
  EXPECT_FALSE(Seal::from_greeting("", "").ok());
}

}  // namespace
}  // namespace argosy::launch
