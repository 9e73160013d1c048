"""The planted bugs (argosy/base/plant.h): what each does wrong, and the tests that should see it first.

`seen_by` are unit tests (`ps_test:Filter`) and fault cases (`kill_server-async-dataset-1`); planted.py goes on with fault cases of every cause.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Plant:
    name: str
    file: str
    mistake: str
    seen_by: tuple = ()


PLANTS = (
    Plant(
        "ack_before_log",
        "argosy/ps/server/changes.cc",
        "every fifth change is acknowledged and applied without being logged",
        ("kill_server-async-dataset-1", "ps_test:ServerKill.*"),
    ),
    Plant(
        "under_way_forever",
        "argosy/ps/server/changes.cc",
        "a push that could not be logged stays under way, and every retry is told to try again",
        ("ps_test:FullDisk.*", "disk_full-async-dataset-1"),
    ),
    Plant(
        "window_off_by_one",
        "argosy/ps/spec/window.cc",
        "the first batch behind the unbroken run counts as applied",
        ("ps_test:*Window*", "kill_worker-async-dataset-1"),
    ),
    Plant(
        "window_forgets_gaps",
        "argosy/ps/spec/window.cc",
        "a gap below a batch that arrived early counts as applied",
        ("ps_test:*Window*", "kill_worker-async-feeder-2"),
    ),
    Plant("no_fence", "argosy/ps/state/membership.cc", "a process that was replaced may still push", ("ps_test:*Fence*",)),
    Plant(
        "duplicate_as_new",
        "argosy/ps/state/membership.cc",
        "a push that is here already is applied again",
        ("ps_test:ServerPush.*:Client.EveryPush*", "kill_server-async-dataset-1"),
    ),
    Plant(
        "step_without_all",
        "argosy/ps/state/state_sync.cc",
        "a sync step counts as complete while a worker has not pushed",
        ("ps_test:*Sync*", "kill_worker-sync-dataset-1"),
    ),
    Plant(
        "step_unconfirmed",
        "argosy/ps/state/state_sync.cc",
        "a server takes a sync step before it knows that the others have all pushes of it",
        ("ps_test:ServerSync.*", "kill_worker-sync-dataset-1"),
    ),
    Plant("gather_too_early", "argosy/ps/state/gatherings.cc", "a barrier opens when worker 0 is there", ("ps_test:*Gather*:Client.WorkersMeet*:*Barrier*",)),
    Plant("file_to_two_readers", "argosy/ps/state/file_lists.cc", "every third file is handed out twice", ("ps_test:*File*",)),
    Plant("snapshot_without_windows", "argosy/ps/state/state_image.cc", "a snapshot does not say which batches it holds", ("ps_test:ServerSnapshot*",)),
    Plant(
        "restarted_skips_too_much",
        "argosy/ps/client/session.cc",
        "a worker that was started again skips batches that one server has and another lacks",
        ("ps_test:*Restarted*", "kill_both-async-dataset-2", "kill_worker-async-dataset-2"),
    ),
    Plant(
        "push_not_repeated",
        "argosy/ps/client/servers.cc",
        "a call that a server did not answer is given up at once",
        ("ps_test:Client.*", "kill_server-half_async-feeder-1"),
    ),
    Plant(
        "flush_forgotten",
        "argosy/ps/communicator/communicator_base.cc",
        "a pass is left while batches still wait to be sent",
        ("ps_test:*Communicator*", "kill_worker-async-dataset-1"),
    ),
    Plant(
        "geo_sent_stays_unsent",
        "argosy/ps/communicator/geo_rows.cc",
        "a difference that was sent is sent again with the next one",
        ("ps_test:*Geo*", "kill_worker-geo-dataset-1"),
    ),
    Plant(
        "geo_resends_what_is_there",
        "argosy/ps/communicator/geo_communicator.cc",
        "a geo worker that was started again trains rows again whose server has the batch",
        ("ps_test:*Restarted*:*Geo*", "kill_both-geo-dataset-1", "kill_worker-geo-dataset-2"),
    ),
    Plant(
        "changes_told_once",
        "argosy/table/change_tracker.cc",
        "an answer with changed rows that was lost is not given again",
        ("table_test:*ChangeTracker*", "ps_test:ServerGeo.*"),
    ),
    Plant(
        "write_not_undone",
        "argosy/table/record_log.cc",
        "half of a record that did not fit on the disk stays in the log",
        ("table_test:Log.AFullDisk*", "disk_full-async-feeder-1"),
    ),
    Plant(
        "log_cut_too_far",
        "argosy/table/record_log.cc",
        "a log file is removed that the snapshot does not cover",
        ("table_test:Log.*", "ps_test:ServerSnapshot*"),
    ),
    Plant("replay_drops_last", "argosy/table/log_segment.cc", "the last record of a log is not replayed", ("table_test:Log.*", "kill_server-async-dataset-1")),
    Plant("torn_record_kept", "argosy/table/log_segment.cc", "a record whose bytes do not have its checksum is applied", ("table_test:Log.*",)),
    Plant("unsynced_rename", "argosy/base/file.cc", "a file gets its name before its bytes are on the disk", ("sync_order.py",)),
    Plant(
        "pipe_status_ignored",
        "argosy/data/pipe_command.cc",
        "a pipe command that fails ends its file as if it were complete",
        ("pipe_fails_always-async-dataset-1", "data_test:*Command*"),
    ),
    Plant(
        "bad_line_swallowed",
        "argosy/data/feed.cc",
        "a malformed line is left out though none may be",
        ("bad_line_stays-async-dataset-1", "data_test:*Malformed*"),
    ),
    Plant("lanes_by_speed", "argosy/data/block_lanes.cc", "which lines a batch has depends on which reader is faster", ("data_test:QueueDatasetTest.*",)),
    Plant(
        "leave_after_error",
        "argosy/engine/train/trainer.cc",
        "a worker whose pass has failed leaves it as if it were finished",
        ("pipe_fails_once-async-dataset-1", "pipe_fails_once-sync-dataset-2"),
    ),
    Plant(
        "ledger_not_compared",
        "argosy/ps/state/membership.cc",
        "a server records a pass as finished whose batches it lacks",
        ("ps_test:*Ledger*", "ps_test:*Pass*"),
    ),
    Plant(
        "loss_not_noticed",
        "argosy/ps/client/comparison.cc",
        "a server that comes back with less than it had acknowledged is believed",
        ("ps_test:Comparing.*", "ps_test:AfterABarrier.*", "log_cut-async-dataset-1"),
    ),
    Plant(
        "restart_not_compared",
        "argosy/ps/server/call_admission.cc",
        "a server that was started again answers workers that have not compared what it has",
        ("ps_test:Comparing.*", "ps_test:AfterABarrier.*"),
    ),
    Plant(
        "operation_repeated",
        "argosy/ps/client/operation_calls.cc",
        "a save or load that was done before is done again by a worker that was started again",
        ("ps_test:ClientOnce.*",),
    ),
    Plant("another_run_admitted", "argosy/ps/server/call_admission.cc", "a server answers a worker of another run", ("ps_test:*Run*",)),
    Plant(
        "snapshot_not_checked", "argosy/ps/server/snapshotter.cc", "older snapshots go before it is known that the new one can be read", ("ps_test:*Snapshot*",)
    ),
    Plant(
        "answer_before_follower",
        "argosy/ps/server/replication.cc",
        "a primary answers before its follower has what the answer rests on",
        ("ps_test:ReplicationTest.*", "kill_primary-async-dataset-1"),
    ),
    Plant(
        "part_takes_over",
        "argosy/ps/server/server_core_replica.cc",
        "a follower that has not caught up may become the primary",
        ("ps_test:ReplicationTest.*", "kill_primary-sync-feeder-1"),
    ),
    Plant("any_token", "argosy/rpc/server_stream.cc", "any token opens the port", ("rpc_test:*Token*:*Security*:PortLimits*",)),
)
