"""argosy serve --grpc_port, as a process, asked by curl over HTTP/2: predictions equal to the model's, statuses, health, new versions, SIGTERM."""

import pathlib
import shutil
import subprocess
import urllib.parse

import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from served import ARGOSY, ROOT, SAMPLES, Served, predictions_of, save

OK, INVALID_ARGUMENT, NOT_FOUND, RESOURCE_EXHAUSTED, UNIMPLEMENTED = 0, 3, 5, 8, 12
PREDICT, STATUS, HEALTH = "/argosy.serve.v1.Prediction/Predict", "/argosy.serve.v1.Prediction/Status", "/grpc.health.v1.Health/Check"


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    save(folder / "one", 1)
    save(folder / "two", 2)
    return folder


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    """The messages of both protos by name, made as a client makes them: of the files alone."""
    made = tmp_path_factory.mktemp("protos") / "set"
    protos = ROOT / "argosy/serve/grpc"
    subprocess.run(["protoc", f"--proto_path={protos}", f"--descriptor_set_out={made}", "predict.proto", "health.proto"], check=True, timeout=60)
    pool = descriptor_pool.DescriptorPool()
    found = {}
    for file in descriptor_pb2.FileDescriptorSet.FromString(made.read_bytes()).file:
        pool.Add(file)
        for message in file.message_type:
            found[message.name] = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.{message.name}"))
    return found


class GrpcServed(Served):
    def __init__(self, folder, *options):
        super().__init__(*options, "--grpc_port", "0")
        self.folder = pathlib.Path(folder)
        self.grpc = self.process.stdout.readline().strip()
        assert self.grpc.startswith("grpc://127.0.0.1:"), self.grpc

    def call(self, path, message, *options):
        """(status, text of the error, bytes of the answer)"""
        body = message if isinstance(message, bytes) else message.SerializeToString()
        frame = b"\0" + len(body).to_bytes(4, "big") + body
        headers, answer = self.folder / "headers", self.folder / "answer"
        answer.write_bytes(b"")
        command = ["curl", "-s", "--http2-prior-knowledge", "--max-time", "60", "-D", headers, "-o", answer, "--data-binary", "@-"]
        command += ["-H", "content-type: application/grpc", "-H", "te: trailers", *options, self.grpc.replace("grpc:", "http:") + path]
        # 92: the server has answered before it had read everything, and ended the stream, as it may; the answer is whole.
        assert subprocess.run(command, input=frame, check=False, timeout=90).returncode in (0, 92)
        told = dict(line.split(": ", 1) for line in headers.read_text().splitlines() if ": " in line)
        return int(told["grpc-status"]), urllib.parse.unquote(told.get("grpc-message", "")), answer.read_bytes()[5:]


@pytest.fixture
def serve(tmp_path):
    started = []

    def start(*words):
        started.append(GrpcServed(tmp_path, *words))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


def request_of(messages, **changes):
    """SAMPLES as a request."""
    x = np.array([sample["x"] for sample in SAMPLES], dtype="float32")
    ids = np.array([id for sample in SAMPLES for id in sample["ids"]], dtype="int64").reshape(-1, 1)
    request = messages["PredictRequest"](model="ctr")
    request.inputs.add(name="x", dtype="float32", shape=x.shape, data=x.tobytes())
    lod = messages["Level"](offsets=[0, *np.cumsum([len(sample["ids"]) for sample in SAMPLES])])
    request.inputs.add(name="ids", dtype="int64", shape=ids.shape, data=ids.tobytes(), lod=[lod])
    for name, value in changes.items():
        setattr(request.inputs[0], name, value)
    return request


def predicted(messages, answer):
    """(version, outputs of the one output)"""
    reply = messages["PredictReply"].FromString(answer)
    (output,) = reply.outputs
    return reply.version, np.frombuffer(output.data, output.dtype).reshape(output.shape)


def test_predictions_are_the_models_bit_by_bit(models, serve, messages):
    served = serve(models / "one")
    status, text, answer = served.call(PREDICT, request_of(messages))
    assert status == OK, text
    version, found = predicted(messages, answer)
    assert version == "1"
    np.testing.assert_array_equal(found, predictions_of(models / "one"))
    assert served.post({"instances": SAMPLES})[0] == 200  # and HTTP beside it
    metrics = served.get("/metrics")
    for line in ('argosy_serve_requests_total{code="ok",protocol="grpc"} 1', 'argosy_serve_requests_total{code="200"} 1'):
        assert line in metrics, metrics


def test_wrong_requests_are_statuses_that_say_why(models, serve, messages):
    served = serve(models / "one", "--max_body_bytes", "4096")
    for message, status, text in (
        (request_of(messages, name="z"), INVALID_ARGUMENT, "the model has no input 'z'"),
        (request_of(messages, dtype="float64"), INVALID_ARGUMENT, "input 'x': its data has 36 bytes, but float64 of shape [3, 3] has 72"),
        (messages["PredictRequest"](model="other"), NOT_FOUND, "there is no model 'other' here; 'ctr' is served"),
        (b"\xff\xff\xff", INVALID_ARGUMENT, "the request is no argosy.serve.v1.PredictRequest"),
        (b" " * 5000, RESOURCE_EXHAUSTED, "larger than max (5000 vs. 4096)"),
    ):
        found, told, _ = served.call(PREDICT, message)
        assert found == status and text in told, (found, told)
    found, told, _ = served.call("/argosy.serve.v1.Prediction/Other", b"")
    assert found == UNIMPLEMENTED and PREDICT in told
    assert served.call(PREDICT, request_of(messages))[0] == OK


def test_status_and_health_say_how_it_stands(models, serve, messages):
    served = serve(models / "one")
    status, text, answer = served.call(STATUS, messages["StatusRequest"]())
    assert status == OK, text
    reply = messages["StatusReply"].FromString(answer)
    assert (reply.model, reply.version, reply.ready, reply.not_ready_because) == ("ctr", "1", True, "")
    assert [(one.name, one.dtype, list(one.shape), one.lod_level) for one in reply.inputs] == [("x", "float32", [-1, 3], 0), ("ids", "int64", [-1, 1], 1)]
    for service in ("", "argosy.serve.v1.Prediction"):
        status, _, answer = served.call(HEALTH, messages["HealthCheckRequest"](service=service))
        assert status == OK and messages["HealthCheckResponse"].FromString(answer).status == 1  # SERVING
    assert served.call(HEALTH, messages["HealthCheckRequest"](service="other"))[0] == NOT_FOUND


def test_a_new_version_answers_grpc_too(models, serve, messages, tmp_path):
    versions = tmp_path / "versions"
    shutil.copytree(models / "one", versions / "1")
    served = serve(versions, "--reload_seconds", "0.05")
    assert predicted(messages, served.call(PREDICT, request_of(messages))[2])[0] == "1"
    shutil.copytree(models / "two", tmp_path / "new")
    (tmp_path / "new").rename(versions / "2")
    for _ in range(200):
        version, found = predicted(messages, served.call(PREDICT, request_of(messages))[2])
        if version == "2":
            break
    assert version == "2"
    np.testing.assert_array_equal(found, predictions_of(models / "two"))


def test_it_ends_by_sigterm_and_says_which_port_is_taken(models, serve):
    served = serve(models / "one")
    port = served.grpc.rsplit(":", 1)[1]
    second = subprocess.run([ARGOSY, "serve", models / "one", "--port", "0", "--grpc_port", port], capture_output=True, text=True, timeout=60)
    assert second.returncode == 1 and f"--grpc_port: cannot listen at 127.0.0.1:{port}" in second.stderr, second.stderr
    assert served.stop()[0] == 0
