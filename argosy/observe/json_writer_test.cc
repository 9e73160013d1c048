#include "argosy/observe/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace argosy::observe {
namespace {

std::string quoted(std::string_view text) {
  JsonWriter json;
  json.begin_array().text({}, text).end_array();
  return json.json();
}

TEST(JsonWriter, PutsCommasBetweenValuesOnly) {
  JsonWriter json;
  json.begin_object().text("a", "x").number("b", 1).begin_array("c").number({}, 1).number({}, 2).end_array();
  json.begin_object("d").end_object().boolean("e", true).boolean("f", false).begin_array("g").end_array().end_object();
  EXPECT_EQ(json.json(), R"({"a":"x","b":1,"c":[1,2],"d":{},"e":true,"f":false,"g":[]})");
}

// JSON has no NaN: what is not known is null, which readers of curves leave out.
TEST(JsonWriter, WhatIsNoFiniteNumberIsNull) {
  JsonWriter json;
  json.begin_array().number({}, std::nan("")).number({}, std::numeric_limits<double>::infinity()).number({}, 0.5).end_array();
  EXPECT_EQ(json.json(), "[null,null,0.5]");
}

TEST(JsonWriter, LargeCountsKeepAllTheirDigits) {
  JsonWriter json;
  json.begin_array().number({}, 9007199254740991.0).end_array();
  EXPECT_EQ(std::stod(json.json().substr(1)), 9007199254740991.0);
}

TEST(JsonWriter, EscapesWhatJsonMust) {
  EXPECT_EQ(quoted("a\"b\\c\nd\te"), R"(["a\"b\\c\nd\u0009e"])");
  EXPECT_EQ(quoted(std::string_view("\0\x1f\x7f", 3)), R"(["\u0000\u001f\u007f"])");
}

// The status page has its job within <script>: a text of a log cannot end it.
TEST(JsonWriter, ATextCannotEndTheScriptThatItStandsIn) { EXPECT_EQ(quoted("</script><b>").find('<'), std::string::npos); }

TEST(JsonWriter, KeepsUtf8AndReplacesWhatIsNone) {
  EXPECT_EQ(quoted("größe 日本 🚢"), "[\"größe 日本 🚢\"]");
  EXPECT_EQ(quoted("a\xffz"), R"(["a\ufffdz"])") << "no first byte";
  EXPECT_EQ(quoted("\xc3"), R"(["\ufffd"])") << "the end is missing";
  EXPECT_EQ(quoted("\xc0\xaf"), R"(["\ufffd\ufffd"])") << "longer than it need be";
  EXPECT_EQ(quoted("\xed\xa0\x80"), R"(["\ufffd\ufffd\ufffd"])") << "half of a pair";
  EXPECT_EQ(quoted("\xf4\x90\x80\x80"), R"(["\ufffd\ufffd\ufffd\ufffd"])") << "beyond Unicode";
  EXPECT_EQ(quoted("\xe0\x80\x80"), R"(["\ufffd\ufffd\ufffd"])");
  EXPECT_EQ(quoted("\xf0\x80\x80\x80"), R"(["\ufffd\ufffd\ufffd\ufffd"])");
}

}  // namespace
}  // namespace argosy::observe
