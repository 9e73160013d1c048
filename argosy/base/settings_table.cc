// The rows of settings.h.
#include <vector>

#include "argosy/base/settings.h"

namespace argosy {
namespace {

using Kind = Setting::Kind;

// What a job is, and what servers keep of it.
std::vector<Setting> kept_state() {
  return {
      {.name = "job", .default_value = "job", .help = "the job's name; servers refuse workers of another one"},
      {.name = "run_id",
       .help = "the same for all processes of one run, and of no other; servers refuse who has another one. A launcher of all "
               "processes draws "
               "it; else it is the scheduler's job id, or server 0 draws it"},
      {.name = "directory",
       .help = "where servers keep logs, snapshots and cold rows, each in a folder of its own; none: in memory only"},
      {.name = "on_old_state",
       .kind = Kind::choice,
       .default_value = "stop",
       .choices = {"stop", "resume", "fresh"},
       .help = "when a new start finds a run in the directory: refuse, go on with it, or move it aside and begin anew; flags "
               "--resume and "
               "--fresh"},
      {.name = "durability",
       .kind = Kind::choice,
       .default_value = "auto",
       .choices = {"auto", "none", "snapshot", "wal", "wal_sync"},
       .help =
           "what a server that dies may lose: everything, what came after the last snapshot, nothing, nothing even by a power "
           "cut; auto: wal with a directory, none without"},
      {.name = "snapshot_seconds", .kind = Kind::seconds, .default_value = "600", .help = "between two snapshots of a server"},
      {.name = "log_limit",
       .kind = Kind::bytes,
       .default_value = "4G",
       .help = "what a server logs after a snapshot before the next is due at once; the log of the last three is kept"},
      {.name = "snapshot_roots",
       .help = "folders, separated by ':', below which servers write snapshots that workers ask for; none: the server's working "
               "directory and --directory"},
      {.name = "log_sync_seconds",
       .kind = Kind::seconds,
       .default_value = "1",
       .help = "with durability=wal, how often a server's log is brought to the disk: what a power cut may take"},
      {.name = "replicas",
       .kind = Kind::choice,
       .default_value = "0",
       .choices = {"0", "1"},
       .help = "1: each server has a second process, the follower, which has every change in its own log before the change is "
               "acknowledged, and takes over when the first one dies; needs --directory"},
      {.name = "followers",
       .help =
           "with replicas=1: the followers' host:port, one per server in the servers' order, comma-separated; a launcher on one "
           "machine makes them up"},
      {.name = "mem_limit",
       .kind = Kind::bytes,
       .default_value = "0",
       .help = "memory for a server's rows, beyond which cold ones go to disk; 0: no limit"},
  };
}

// Whom servers wait for, and how much may wait meanwhile.
std::vector<Setting> workers_and_limits() {
  return {
      {.name = "on_worker_loss",
       .kind = Kind::choice,
       .default_value = "fail",
       .choices = {"fail", "wait", "shrink"},
       .help = "when a worker dies: end the job, wait for it to come back, or go on without it"},
      {.name = "lease_seconds",
       .kind = Kind::seconds,
       .default_value = "10",
       .help = "silence after which a worker counts as dead"},
      {.name = "worker_wait_seconds",
       .kind = Kind::seconds,
       .default_value = "600",
       .help = "how much longer on_worker_loss=wait waits for a worker that counts as dead, and a server while it hears of no "
               "worker at all"},
      {.name = "worker_start_seconds",
       .kind = Kind::seconds,
       .default_value = "3600",
       .help = "how long a server that hears of no worker waits while some have not come yet: they may read data first"},
      {.name = "mailbox_limit",
       .kind = Kind::bytes,
       .default_value = "1G",
       .help = "messages between workers (global_shuffle) that a server keeps for a worker that is started again"},
      {.name = "unread_mail_limit",
       .kind = Kind::bytes,
       .default_value = "16G",
       .help = "messages between workers that a server holds for workers that have not taken them; beyond it they are refused"},
      {.name = "parked_limit",
       .kind = Kind::bytes,
       .default_value = "4G",
       .help = "calls that a server holds while they wait for others: at barriers, for a step, for a snapshot"},
      {.name = "reply_limit",
       .kind = Kind::bytes,
       .default_value = "4G",
       .help = "answers that a server holds for workers whose connections are slower than they ask"},
      {.name = "waiting_keys_limit",
       .kind = Kind::bytes,
       .default_value = "16G",
       .help = "keys that a server counts and has not admitted to a table; beyond it pushes are refused"},
      {.name = "nonfinite",
       .kind = Kind::choice,
       .default_value = "refuse",
       .choices = {"refuse", "skip", "clip"},
       .help =
           "gradients that are NaN or infinite: the push fails and names them, their rows are left out, or NaN becomes 0 and an "
           "infinity the table's clip bound"},
      {.name = "wire_format",
       .kind = Kind::choice,
       .default_value = "float32",
       .choices = {"float32", "bfloat16", "int8"},
       .help =
           "how gradients, and the values that training computes with, travel between workers and servers, which keep float32; "
           "int8: what it leaves out of a gradient is added to the next one"},
      {.name = "wire_format_tables",
       .kind = Kind::choice_by_name,
       .choices = {"float32", "bfloat16", "int8"},
       .help = "the same for single parameters, sparse or dense, each named once"},
  };
}

// How long workers wait.
std::vector<Setting> waits() {
  return {
      {.name = "server_wait_seconds",
       .kind = Kind::seconds,
       .default_value = "600",
       .help = "how long workers wait for a server that is away"},
      {.name = "sync_wait_seconds",
       .kind = Kind::seconds,
       .default_value = "600",
       .help = "how long a worker waits for the others in a synchronous step or a barrier"},
      {.name = "call_seconds", .kind = Kind::seconds, .default_value = "30", .help = "how long one try of a call may take"},
      {.name = "operation_seconds",
       .kind = Kind::seconds,
       .default_value = "3600",
       .help = "how long a worker waits until a snapshot is saved or loaded; then it is cancelled"},
  };
}

std::vector<Setting> security_and_peers() {
  return {
      {.name = "token", .help = "a secret that every call of the job carries; better in the variable than in a command line"},
      {.name = "security",
       .kind = Kind::choice,
       .default_value = "auto",
       .choices = {"auto", "required"},
       .help = "auto: servers that have neither a token nor TLS start, warn, and take everybody who reaches them for a worker; "
               "required: a "
               "server or worker that has neither refuses to start, and so do collective jobs on several machines, whose "
               "meetings know "
               "no token"},
      {.name = "tls",
       .help =
           "folder with ca.pem, certificate.pem and key.pem: all traffic is encrypted, and both sides show who they are; what is "
           "not in it is not used"},
      {.name = "tls_ca", .help = "PEM file of the authority that the other side's certificate must be from"},
      {.name = "tls_certificate", .help = "PEM file of the certificate that this side shows"},
      {.name = "tls_key", .help = "PEM file of its key"},
      {.name = "collective_seconds",
       .kind = Kind::seconds,
       .default_value = "300",
       .help = "how long a process waits for the others in one collective operation, the first meeting included"},
      {.name = "collective_check",
       .kind = Kind::choice,
       .default_value = "on",
       .choices = {"on", "off"},
       .help = "whether the processes compare what they are about to do before each collective call of a program"},
      {.name = "collective_backend",
       .kind = Kind::choice,
       .default_value = "auto",
       .choices = {"auto", "gloo"},
       .help =
           "what carries tensors on GPUs between processes: auto: NCCL; gloo: Gloo, by way of the CPU, which is slower and lets "
           "several processes share a GPU (--gpus 0,0)"},
      {.name = "peer_seconds",
       .kind = Kind::seconds,
       .default_value = "30",
       .help = "silence after which a process of a collective job counts as lost"},
      {.name = "on_peer_loss",
       .kind = Kind::choice,
       .default_value = "end",
       .choices = {"end", "wait"},
       .help = "when one is lost: the others end, or they wait until their operation's own deadline"},
      {.name = "on_rank_loss",
       .kind = Kind::choice,
       .default_value = "restart",
       .choices = {"restart", "survive"},
       .help = "what --max_restart starts again when a process of a collective job dies: all, or it alone (train_steps())"},
      {.name = "spare_ranks",
       .kind = Kind::choice,
       .default_value = "0",
       .choices = {"0", "1"},
       .help = "with on_rank_loss=survive: processes on each machine that wait to take the place of one that dies"},
  };
}

std::vector<Setting> what_is_shown() {
  return {
      {.name = "metrics_port",
       .kind = Kind::port,
       .default_value = "off",
       .help = "where a process shows its numbers (/metrics, /healthz, /readyz) over HTTP; the launcher takes this port and its "
               "processes the next ones; 0: any free ports, which are in the log and in metrics.json of the log folder"},
      {.name = "metrics_host",
       .default_value = "127.0.0.1",
       .help = "the address that metrics_port is opened at; anybody who reaches it can read the numbers"},
      {.name = "trace",
       .help =
           "folder into which every process writes what its batches spend their time on (read, pull, compute, push, apply), as "
           "Chrome's trace events, which Perfetto opens; the launcher joins the files to trace.json; none: no trace"},
  };
}

}  // namespace

std::span<const Setting> all_settings() {
  static const std::vector<Setting>& rows = *[] {
    auto* made = new std::vector<Setting>(kept_state());
    for (const auto& more : {workers_and_limits(), waits(), security_and_peers(), what_is_shown()})
      made->insert(made->end(), more.begin(), more.end());
    return made;
  }();
  return rows;
}

std::span<const OtherVariable> other_variables() {
  static const std::vector<OtherVariable>& rows = *new std::vector<OtherVariable>{
      {"ARGOSY_DEVICE", "where a process computes: cpu, gpu or gpu:N; none: a GPU where there is one"},
      {"ARGOSY_LOG_LEVEL", "the least that a process writes to its log: debug, info, warning, error; none: info"},
      {"ARGOSY_PYTHON", "the Python that `fleetrun` starts scripts with; none: the one beside it"},
      {"ARGOSY_FS_COMMAND", "the command behind hdfs: and afs: paths; none: hadoop fs"},
      {"ARGOSY_STORE_SECONDS",
       "how long a request to an object store (s3: and others) that fails is made again before that is an error; none: 60"},
      {"ARGOSY_STORE_CALL_SECONDS", "silence in one such request after which it counts as failed; none: 10"},
      {"ARGOSY_HDFS",
       "what hdfs: paths are read and written by: arrow (libhdfs, through pyarrow) or hadoop (ARGOSY_FS_COMMAND); none: hadoop"},
      {"ARGOSY_KAFKA_CONFIG", "a file of librdkafka's properties, KEY=VALUE a line, for readers of kafka: files"},
      {"ARGOSY_KAFKA_SECONDS",
       "how long a reader of a kafka: file waits for its next message before that is an error; none: 120"},
      {"ARGOSY_MPI_LIBRARY", "the file of OpenMPI's library; none: the system's"},
      {"ARGOSY_RESUME", "set by the launcher: the checkpoint that a collective job goes on from"},
      {"ARGOSY_CHECKPOINT_FILE", "set by the launcher: where rank 0 of a collective job notes its checkpoints"},
      {"ARGOSY_SPARE", "set by the launcher: the process waits for the place of a lost rank (spare_ranks=1)"},
      {"ARGOSY_REJOIN", "set by the launcher: the process takes the place of one that was lost (on_rank_loss=survive)"},
      {"ARGOSY_RESTARTS", "set by the launcher: how often it starts a process again that has failed; not set: never"},
      {"ARGOSY_LAUNCH", "set by the launcher: which launch a process belongs to; a server that is started again in it goes on"},
      {"ARGOSY_SEAT", "with replicas=1, set by the launcher: which of a server's two processes this one is: server or follower"},
      {"ARGOSY_NOTICE_FD", "set by the launcher: where a process says what belongs on the launcher's terminal"},
      {"ARGOSY_TEST_SEED", "of this project's tests: the seed to repeat"},
      {"ARGOSY_TEST_DEVICE", "of this project's tests: where operators and programs run, such as cuda:0"},
      {"ARGOSY_TEST_WHOLE_BUILDS", "of this project's tests: also those that build the extension again"},
      {"ARGOSY_EVERY_EXAMPLE", "of this project's tests: each ranking model on servers, not two of them"},
      {"ARGOSY_PLANT", "of this project's tests: the planted bug, in a build that has them"},
  };
  return rows;
}

}  // namespace argosy
