"""Kafka's brokers without Kafka: librdkafka's mock cluster in this process, and a producer for it."""

import ctypes
import ctypes.util

_PRODUCER, _COPY = 0, 2


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
    lib.rd_kafka_produce.argtypes = [ctypes.c_void_p, ctypes.c_int32, ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t,
                                     ctypes.c_void_p]  # fmt: skip
    for name in ("rd_kafka_flush", "rd_kafka_poll"):
        getattr(lib, name).argtypes = [ctypes.c_void_p, ctypes.c_int]
    for name in ("rd_kafka_mock_broker_set_down", "rd_kafka_mock_broker_set_up"):
        getattr(lib, name).argtypes = [ctypes.c_void_p, ctypes.c_int32]
    for name in ("rd_kafka_destroy", "rd_kafka_topic_destroy", "rd_kafka_mock_cluster_destroy", "rd_kafka_outq_len"):
        getattr(lib, name).argtypes = [ctypes.c_void_p]
    return lib


class MockCluster:
    """Brokers 1 … n on ports of this machine; they end with close()."""

    def __init__(self, brokers=3):
        self._lib = _library()
        self._keeper = self._handle()
        self._cluster = self._lib.rd_kafka_mock_cluster_new(self._keeper, brokers)
        self.brokers = self._lib.rd_kafka_mock_cluster_bootstraps(self._cluster).decode()
        self._producer = self._handle(self.brokers)
        self._topics = {}

    def _handle(self, brokers=None):
        conf, reason = self._lib.rd_kafka_conf_new(), ctypes.create_string_buffer(512)
        for name, value in ({"bootstrap.servers": brokers, "enable.idempotence": "true"} if brokers else {}).items():
            assert self._lib.rd_kafka_conf_set(conf, name.encode(), value.encode(), reason, 512) == 0, reason.value
        handle = self._lib.rd_kafka_new(_PRODUCER, conf, reason, 512)
        assert handle, reason.value
        return handle

    def topic(self, name, partitions):
        assert self._lib.rd_kafka_mock_topic_create(self._cluster, name.encode(), partitions, 3) == 0
        self._topics[name] = self._lib.rd_kafka_topic_new(self._producer, name.encode(), None)

    def produce(self, topic, partition, messages):
        """Returns when the brokers have them; None is a message without a value."""
        for message in messages:
            data = None if message is None else message.encode()
            assert self._lib.rd_kafka_produce(self._topics[topic], partition, _COPY, data, len(data or b""), None, 0, None) == 0
            self._lib.rd_kafka_poll(self._producer, 0)
        assert self._lib.rd_kafka_flush(self._producer, 60_000) == 0

    def down(self, broker):
        assert self._lib.rd_kafka_mock_broker_set_down(self._cluster, broker) == 0

    def up(self, broker):
        assert self._lib.rd_kafka_mock_broker_set_up(self._cluster, broker) == 0

    def lead(self, topic, partition, broker):
        assert self._lib.rd_kafka_mock_partition_set_leader(self._cluster, topic.encode(), partition, broker) == 0

    def close(self):
        for topic in self._topics.values():
            self._lib.rd_kafka_topic_destroy(topic)
        self._lib.rd_kafka_destroy(self._producer)
        self._lib.rd_kafka_mock_cluster_destroy(self._cluster)
        self._lib.rd_kafka_destroy(self._keeper)
