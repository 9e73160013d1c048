"""Kafka's brokers without Kafka: librdkafka's mock cluster in this process, and a producer for it."""

import ctypes
import ctypes.util

_PRODUCER, _COPY = 0, 2
_END, _TOPIC, _PARTITION, _VALUE, _FLAGS, _TIME = 0, 2, 3, 4, 7, 8  # what rd_kafka_producev takes, each before its value


def _library():
    lib = ctypes.CDLL("librdkafka.so.1")
    pointers = {
        "rd_kafka_conf_new": [],
        "rd_kafka_new": [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t],
        "rd_kafka_topic_new": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
        "rd_kafka_mock_cluster_new": [ctypes.c_void_p, ctypes.c_int],
    }
    for name, arguments in pointers.items():
        getattr(lib, name).argtypes, getattr(lib, name).restype = arguments, ctypes.c_void_p
    lib.rd_kafka_mock_cluster_bootstraps.argtypes, lib.rd_kafka_mock_cluster_bootstraps.restype = [ctypes.c_void_p], ctypes.c_char_p
    lib.rd_kafka_conf_set.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
    lib.rd_kafka_mock_topic_create.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_int]
    lib.rd_kafka_mock_partition_set_leader.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_int32]
    for name in ("rd_kafka_flush", "rd_kafka_poll"):
        getattr(lib, name).argtypes = [ctypes.c_void_p, ctypes.c_int]
    for name in ("rd_kafka_mock_broker_set_down", "rd_kafka_mock_broker_set_up"):
        getattr(lib, name).argtypes = [ctypes.c_void_p, ctypes.c_int32]
    for name in ("rd_kafka_destroy", "rd_kafka_topic_destroy", "rd_kafka_mock_cluster_destroy", "rd_kafka_outq_len"):
        getattr(lib, name).argtypes = [ctypes.c_void_p]
    return lib


def _handle(lib, brokers=None):
    conf, reason = lib.rd_kafka_conf_new(), ctypes.create_string_buffer(512)
    for name, value in ({"bootstrap.servers": brokers, "enable.idempotence": "true"} if brokers else {}).items():
        assert lib.rd_kafka_conf_set(conf, name.encode(), value.encode(), reason, 512) == 0, reason.value
    handle = lib.rd_kafka_new(_PRODUCER, conf, reason, 512)
    assert handle, reason.value
    return handle


class Producer:
    """Writes messages to brokers, "host:port,host:port"; close() ends it."""

    def __init__(self, brokers):
        self._lib = _library()
        self.brokers, self._producer = brokers, _handle(self._lib, brokers)
        self._topics = {}

    def topic(self, name, partitions):
        """Names a topic that is there, with so many partitions."""
        self._topics[name] = self._lib.rd_kafka_topic_new(self._producer, name.encode(), None)

    def produce(self, topic, partition, messages, times=None):
        """Returns when the brokers have them, of text or bytes; None is a message without a value. times: of each, in seconds since 1970 (now)."""
        for message, time in zip(messages, times or [None] * len(messages), strict=True):
            data = message.encode() if isinstance(message, str) else message
            words = [_TOPIC, ctypes.c_void_p(self._topics[topic]), _PARTITION, ctypes.c_int32(partition), _FLAGS, ctypes.c_int(_COPY)]
            words += [_VALUE, ctypes.c_char_p(data), ctypes.c_size_t(len(data or b""))]
            words += [] if time is None else [_TIME, ctypes.c_int64(round(time * 1000))]
            assert self._lib.rd_kafka_producev(ctypes.c_void_p(self._producer), *words, _END) == 0
            self._lib.rd_kafka_poll(self._producer, 0)
        assert self._lib.rd_kafka_flush(self._producer, 60_000) == 0

    def close(self):
        for topic in self._topics.values():
            self._lib.rd_kafka_topic_destroy(topic)
        self._lib.rd_kafka_destroy(self._producer)


class MockCluster(Producer):
    """Brokers 1 … n on ports of this machine, and a producer for them; all end with close()."""

    def __init__(self, brokers=3):
        lib = _library()
        self._keeper = _handle(lib)
        self._cluster = lib.rd_kafka_mock_cluster_new(self._keeper, brokers)
        super().__init__(lib.rd_kafka_mock_cluster_bootstraps(self._cluster).decode())

    def topic(self, name, partitions):
        """Makes it."""
        assert self._lib.rd_kafka_mock_topic_create(self._cluster, name.encode(), partitions, 3) == 0
        super().topic(name, partitions)

    def down(self, broker):
        assert self._lib.rd_kafka_mock_broker_set_down(self._cluster, broker) == 0

    def up(self, broker):
        assert self._lib.rd_kafka_mock_broker_set_up(self._cluster, broker) == 0

    def lead(self, topic, partition, broker):
        assert self._lib.rd_kafka_mock_partition_set_leader(self._cluster, topic.encode(), partition, broker) == 0

    def close(self):
        super().close()
        self._lib.rd_kafka_mock_cluster_destroy(self._cluster)
        self._lib.rd_kafka_destroy(self._keeper)
