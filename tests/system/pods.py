"""A stand-in for Kubernetes: it starts the processes of a manifest's containers as controllers would, each pod in a network namespace of its own, with an
address of its own and a name that the other pods look up. Images, volumes and probes' timing are left out."""

import contextlib
import os
import pathlib
import re
import shutil
import subprocess

import yaml


def documents(text):
    """{kind: document} of a manifest."""
    return {one["kind"]: one for one in yaml.safe_load_all(text) if one}


class Network:
    """Pods' network: namespaces on one bridge, and one table of names, which changes while they run as a cluster's DNS does."""

    def __init__(self):
        self._stack = contextlib.ExitStack()
        self._prefix = f"pod{os.getpid()}"
        self._subnet = f"10.{90 + os.getpid() % 100}.{os.getpid() // 100 % 250}"
        self._count = 0
        self._names = {}
        self._hosts = []  # files that have the table
        self._hub = f"{self._prefix}-hub"

    def __enter__(self):
        self._add_namespace(self._hub)
        self._ip("-n", self._hub, "link", "add", "hub", "type", "bridge")
        self._ip("-n", self._hub, "link", "set", "hub", "up")
        return self

    def __exit__(self, *error):
        self._stack.close()

    @staticmethod
    def _ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def _add_namespace(self, name):
        self._ip("netns", "add", name)
        self._stack.callback(self._ip, "netns", "del", name)

    def add(self, name):
        """A new pod of that name, of which there may have been one before, elsewhere: (its address, words that run a command in it)."""
        self._count += 1
        space, cable, address = f"{self._prefix}-{self._count}", f"p{os.getpid() % 10**5}-{self._count}", f"{self._subnet}.{self._count}"
        self._add_namespace(space)
        folder = pathlib.Path("/etc/netns") / space  # `ip netns exec` puts its hosts over /etc/hosts
        folder.mkdir(parents=True)
        self._stack.callback(shutil.rmtree, folder)
        self._ip("-n", self._hub, "link", "add", cable, "type", "veth", "peer", "name", "net", "netns", space)
        self._ip("-n", self._hub, "link", "set", cable, "master", "hub", "up")
        self._ip("-n", space, "addr", "add", f"{address}/24", "dev", "net")
        for link in ("lo", "net"):
            self._ip("-n", space, "link", "set", link, "up")
        self._hosts.append(folder / "hosts")
        self._names[name] = address
        self._write()
        return address, ["ip", "netns", "exec", space]

    def _write(self):
        """In place: a file that is mounted stays the one that it was."""
        text = "127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in self._names.items())
        for file in self._hosts:
            file.write_text(text)


def expand(text, variables):
    """$(NAME) as a kubelet does it."""
    return re.sub(r"\$\((\w+)\)", lambda found: variables.get(found[1], found[0]), text)


def variables_of(container, fields, secrets):
    """The environment of a container: `fields` is what the downward API says by path, `secrets` {name: {key: value}}."""
    found = {}
    for entry in container.get("env", []):
        source = entry.get("valueFrom")
        if source is None:
            found[entry["name"]] = expand(entry["value"], found)
        elif "fieldRef" in source:
            found[entry["name"]] = fields[source["fieldRef"]["fieldPath"]]
        else:
            found[entry["name"]] = secrets[source["secretKeyRef"]["name"]][source["secretKeyRef"]["key"]]
    return found


class Pods:
    """The pods of a job in a folder, by name."""

    def __init__(self, job, network, secrets):
        self._job, self._network, self._secrets = job, network, secrets
        self.running = {}

    def start(self, name, host, spec, fields, more=None):
        """Starts a pod's container, or another one in its place; `more`: variables that a controller adds."""
        container = spec["containers"][0]
        address, inside = self._network.add(host)
        variables = {**variables_of(container, {**fields, "status.podIP": address}, self._secrets), **(more or {})}
        words = [expand(word, variables) for word in container["command"]]
        self.running[name] = self._job.start(*inside, *words, **variables)
        return inside

    def read(self, inside, container, probe):
        """Whether a probe of a container, run in it, finds what it looks for."""
        if "tcpSocket" in container[probe]:
            code = f"import socket; socket.create_connection(('127.0.0.1', {container[probe]['tcpSocket']['port']}), 2); print(200)"
        else:
            get = container[probe]["httpGet"]
            code = f"import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:{get['port']}{get['path']}', timeout=2).status)"
        done = subprocess.run([*inside, "python3", "-c", code], capture_output=True, text=True, timeout=10)
        return done.stdout.strip() == "200"


def start_jobset(pods, spec, name, only=None):
    """The pods of a JobSet as its controller and that of indexed jobs make them; {pod: words that run a command in it}. dependsOn is the caller's."""
    inside = {}
    for one in spec["replicatedJobs"]:
        job = one["template"]["spec"]
        for index in range(job["completions"]):
            pod = f"{one['name']}-{index}"
            if only is not None and pod not in only:
                continue
            fields = {"metadata.labels['jobset.sigs.k8s.io/jobset-name']": name, "metadata.annotations['batch.kubernetes.io/job-completion-index']": str(index)}
            inside[pod] = pods.start(pod, f"{name}-{one['name']}-0-{index}.{name}", job["template"]["spec"], fields)
    return inside
