// The text; tests/system/check_manifests.py holds it to the schemas, and test_kubernetes.py runs what it says.
#include "argosy/launch/kubernetes/manifests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/launch/kubernetes/pods.h"

namespace argosy::launch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

KubernetesJob job() {
  return {.servers = 2,
          .workers = 3,
          .max_restarts = 4,
          .program = {"python", "train.py", "it's \"quoted\""},
          .environment = {{"ARGOSY_DIRECTORY", "/data/ctr"}},
          .section = {{"image", "registry.example/ctr:7"}, {"name", "ctr"}, {"volume_claim", "shared"}, {"worker.cpu", "8"}}};
}

std::string text_of(const std::string& kind, const KubernetesJob& of = job()) {
  const auto text = kubernetes_manifests(kind, of);
  return text.ok() ? *text : text.status().message();
}

TEST(KubernetesManifests, AJobSetHasARestartForEachRole) {
  const std::string text = text_of("jobset");
  EXPECT_THAT(text, AllOf(HasSubstr("kind: JobSet"), HasSubstr("action: RestartJob"), HasSubstr("backoffLimitPerIndex: 4"),
                          HasSubstr("status: Ready"), HasSubstr("targetReplicatedJobs: [worker]")));
  EXPECT_THAT(text, HasSubstr("\"$(JOBSET_NAME)-server-0-0.$(JOBSET_NAME):6170,$(JOBSET_NAME)-server-0-1.$(JOBSET_NAME):6170\""));
  EXPECT_THAT(text, HasSubstr("[\"python\", \"train.py\", \"it's \\\"quoted\\\"\"]"));
  EXPECT_THAT(text, HasSubstr("claimName: shared"));
}

TEST(KubernetesManifests, OtherKindsHaveWhatTheirControllersLookFor) {
  EXPECT_THAT(text_of("trainer"),
              AllOf(HasSubstr("trainjob-ancestor-step: trainer"), HasSubstr("- name: node"), HasSubstr("numNodes: 3")));
  EXPECT_THAT(text_of("paddlejob"),
              AllOf(HasSubstr("intranet: Service"), HasSubstr("\"--max_restart=4\""), Not(HasSubstr("TRAINING_ROLE"))));
}

// A manifest is shown to many people.
TEST(KubernetesManifests, NoSecretIsInThem) {
  for (const char* kind : {"jobset", "trainer", "paddlejob"})
    EXPECT_THAT(text_of(kind), AllOf(HasSubstr("secretKeyRef"), HasSubstr("name: ctr-token")));
}

TEST(KubernetesManifests, WrongSectionsAreRefused) {
  const auto refused = [](const std::string& key, const std::string& value) {
    KubernetesJob wrong = job();
    wrong.section[key] = value;
    return text_of("jobset", wrong);
  };
  EXPECT_THAT(refused("imgae", "x"), AllOf(HasSubstr("there is no key 'imgae'"), HasSubstr("did you mean 'image'?")));
  EXPECT_THAT(refused("image", ""), HasSubstr("'image' is not given"));
  EXPECT_THAT(refused("name", "Ctr_1"), HasSubstr("small letters"));
  EXPECT_THAT(refused("port", "0"), HasSubstr("expected a number from 1 to 65535"));
  EXPECT_THAT(text_of("helm"), HasSubstr("expected jobset, trainer or paddlejob"));
}

TEST(KubernetesManifests, TextsAreTheTextsWhateverIsInThem) {
  EXPECT_EQ(yaml_text("a\"b\\c\n"), "\"a\\\"b\\\\c\\x0a\"");
  EXPECT_EQ(indented("a\nb\n", 2), "a\n  b");
}

}  // namespace
}  // namespace argosy::launch
