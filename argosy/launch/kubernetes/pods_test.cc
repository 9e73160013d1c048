// The parts of a manifest: what each role's container has, and which sections are refused.
#include "argosy/launch/kubernetes/pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "argosy/base/random.h"
#include "argosy/base/text.h"

namespace argosy::launch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Section = std::map<std::string, std::string>;

KubernetesSection section(Section more = {}) {
  more.try_emplace("image", "registry.example/ctr:7");
  auto made = KubernetesSection::of(more);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return *made;
}

std::string refusal_of(Section more) {
  more.try_emplace("image", "registry.example/ctr:7");
  const auto made = KubernetesSection::of(more);
  return made.ok() ? "taken" : made.status().message();
}

std::string spec_of(const std::string& role, Section more = {}) {
  const KubernetesJob job{.program = {"python"}, .environment = {{"ARGOSY_DIRECTORY", "/data"}}};
  return pod_spec({.role = role,
                   .container = role + "-box",
                   .restart = "Never",
                   .command = {"run"},
                   .port = role == "server" ? "6170" : "",
                   .variables = {{"RANK", "value: \"0\""}}},
                  job, section(std::move(more)));
}

// The text that a scalar of YAML in double quotes stands for, by the specification's escapes.
std::string unquoted(const std::string& scalar) {
  EXPECT_TRUE(scalar.size() >= 2 && scalar.front() == '"' && scalar.back() == '"') << scalar;
  std::string text;
  for (size_t i = 1; i + 1 < scalar.size(); ++i) {
    if (scalar[i] != '\\') {
      EXPECT_NE(scalar[i], '"') << scalar;
      text += scalar[i];
    } else if (scalar[++i] == 'x') {
      text += static_cast<char>(std::stoi(scalar.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      text += scalar[i];
    }
  }
  return text;
}

TEST(Pods, AnyTextIsAScalarOfOneLine) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    std::string text;
    for (uint64_t k = 0, length = random.below(12); k < length; ++k) text += static_cast<char>(random.below(128));
    const std::string scalar = yaml_text(text);
    EXPECT_EQ(unquoted(scalar), text);
    for (const char c : scalar) EXPECT_TRUE(c >= 0x20 && c != 0x7f) << "YAML takes no such character: " << static_cast<int>(c);
  }
}

TEST(Pods, IndentingMovesAllLinesButTheFirst) {
  EXPECT_EQ(indented("a", 4), "a");
  EXPECT_EQ(indented("a\n", 4), "a") << "what stands behind it brings the line's end";
  EXPECT_EQ(indented("a\nb\n  c\n", 4), "a\n    b\n      c");
}

// A server is ready when it can be reached, since its first worker waits for that; a worker when it says so.
TEST(Pods, ReadinessIsThatOfTheRole) {
  EXPECT_THAT(spec_of("server"), AllOf(HasSubstr("readinessProbe:\n    tcpSocket:\n      port: 6170\n"),
                                       HasSubstr("- name: ps\n    containerPort: 6170\n"), Not(HasSubstr("/readyz"))));
  EXPECT_THAT(spec_of("worker"), AllOf(HasSubstr("path: /readyz"), Not(HasSubstr("tcpSocket")), Not(HasSubstr("- name: ps"))));
  for (const char* role : {"server", "worker"})
    EXPECT_THAT(spec_of(role), AllOf(HasSubstr("startupProbe"), HasSubstr("livenessProbe"), HasSubstr("containerPort: 9100")));
}

// Memory is both asked for and the limit; processors are asked for only; a GPU is a limit, as Kubernetes wants it.
TEST(Pods, QuantitiesAreThoseOfTheRole) {
  const Section given = {{"worker.cpu", "2"}, {"worker.memory", "4Gi"}, {"worker.gpu", "1"}, {"server.memory", "64Gi"}};
  EXPECT_THAT(spec_of("worker", given),
              HasSubstr("resources:\n    requests:\n      cpu: \"2\"\n      memory: \"4Gi\"\n    limits:\n      memory: \"4Gi\"\n"
                        "      nvidia.com/gpu: \"1\"\n"));
  EXPECT_THAT(spec_of("server", given),
              HasSubstr("resources:\n    requests:\n      memory: \"64Gi\"\n    limits:\n      memory: \"64Gi\"\n"));
  EXPECT_THAT(spec_of("server", {{"worker.cpu", "2"}}), Not(HasSubstr("resources")));
}

TEST(Pods, AVolumeIsMountedWhereItIsClaimed) {
  EXPECT_THAT(spec_of("server"), Not(HasSubstr("volume")));
  EXPECT_THAT(spec_of("server", {{"volume_claim", "shared"}, {"mount", "/mnt/job data"}}),
              AllOf(HasSubstr("volumes:\n- name: data\n  persistentVolumeClaim:\n    claimName: shared\n"),
                    HasSubstr("volumeMounts:\n  - name: data\n    mountPath: \"/mnt/job data\"\n")));
}

// What the role says comes first, so that a later variable may refer to it; the token is never text.
TEST(Pods, VariablesStandInTheirOrder) {
  const std::string spec = spec_of("worker", {{"token_secret", "secret-of-job"}, {"metrics_port", "9200"}});
  const size_t rank = spec.find("- name: RANK"), own = spec.find("- name: ARGOSY_DIRECTORY"),
               token = spec.find("- name: ARGOSY_TOKEN");
  EXPECT_TRUE(rank < own && own < token && token != std::string::npos) << spec;
  EXPECT_THAT(spec, AllOf(HasSubstr("name: secret-of-job\n"), HasSubstr("value: \"9200\""), HasSubstr("value: \"/data\"")));
}

TEST(Pods, TheNameIsThatOfTheSecretToo) {
  EXPECT_EQ(section()["token_secret"], "argosy-token");
  EXPECT_EQ(section({{"name", "ctr"}})["token_secret"], "ctr-token");
  EXPECT_EQ(section({{"name", "ctr"}, {"token_secret", "mine"}})["token_secret"], "mine");
}

TEST(Pods, NamesAreThoseThatHostsCanHave) {
  EXPECT_EQ(refusal_of({{"name", std::string(40, 'a')}}), "taken");
  for (const std::string name : {"", "-a", "a-", "A", "a_b", "a.b"}) {
    EXPECT_THAT(refusal_of({{"name", name}}),
                HasSubstr("kubernetes: 'name' is '" + name + "', expected 1 to 40 small letters, digits and dashes"));
    EXPECT_THAT(refusal_of({{"namespace", name}}), HasSubstr("kubernetes: 'namespace' is '" + name + "'"));
  }
  EXPECT_THAT(refusal_of({{"name", std::string(41, 'a')}}), HasSubstr("expected 1 to 40"));
}

// What is written into a manifest as it stands cannot bring lines of its own.
TEST(Pods, WhatStandsInAManifestIsWhatItMayBe) {
  for (const char* key : {"volume_claim", "token_secret"}) {
    EXPECT_EQ(refusal_of({{key, "data.of-2"}}), "taken") << key;
    EXPECT_THAT(refusal_of({{key, "data\n  evil: yes"}}),
                HasSubstr(std::string("kubernetes: '") + key + "' is 'data\n  evil: yes'"));
  }
  for (const char* policy : {"", "Always", "IfNotPresent", "Never"})
    EXPECT_EQ(refusal_of({{"image_pull_policy", policy}}), "taken");
  EXPECT_THAT(refusal_of({{"image_pull_policy", "always"}}),
              HasSubstr("kubernetes: 'image_pull_policy' is 'always', expected Always, IfNotPresent or Never"));
  EXPECT_THAT(refusal_of({{"mount", "data"}}), HasSubstr("kubernetes: 'mount' is 'data', expected a path from / on without ':'"));
  EXPECT_THAT(refusal_of({{"mount", "/a:b"}}), HasSubstr("'mount' is '/a:b'"));
}

TEST(Pods, PortsAreNumbersAndDifferent) {
  for (const char* port : {"0", "65536", "-1", "http", "80 ", ""})
    EXPECT_THAT(refusal_of({{"port", port}}), HasSubstr("expected a number from 1 to 65535")) << port;
  EXPECT_EQ(refusal_of({{"port", "1"}, {"metrics_port", "65535"}}), "taken");
  EXPECT_THAT(refusal_of({{"port", "9100"}}), HasSubstr("'port' and 'metrics_port' are both 9100"));
  EXPECT_THAT(refusal_of({{"grace_seconds", "86401"}}),
              HasSubstr("'grace_seconds' is '86401', expected a number from 1 to 86400"));
}

}  // namespace
}  // namespace argosy::launch
