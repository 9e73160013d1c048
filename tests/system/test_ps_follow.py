"""Followers of a launched job, as processes: they hold what the servers hold, whichever side is killed, and say why where they cannot."""

import signal

import numpy as np
import pytest

from followed import TOKEN, Followed, kill
from ports import free_range
from ps_job import SECONDS, until


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_followers_hold_the_servers_rows_whoever_is_killed(job, mode):
    training = Followed(job, mode)
    training.train_to(20)
    followers = [training.follow(server) for server in training.servers]
    second = training.follow(training.servers[0])
    for server in ("server 0", "server 1"):
        training.train_to(20)
        job.signal(training.launcher, server, signal.SIGKILL)
    for i, server in enumerate(training.servers):
        training.train_to(20)
        port = int(followers[i].endpoint.rsplit(":", 1)[1])
        kill(followers[i])
        followers[i] = training.follow(server, port)
    training.train_to(20)
    training.finish_training()
    endpoints = [follower.endpoint for follower in followers]
    expected = training.versions(training.servers)
    until(lambda: training.versions(endpoints) == expected, lambda: f"{expected}: {training.ask(endpoints)}")
    rows = training.tables(training.servers)
    assert rows[0].count("\n") == 40, rows[0]
    assert training.tables(endpoints) == rows
    assert training.tables([second.endpoint, endpoints[1]]) == rows
    assert training.tables(endpoints[::-1]) == rows  # in any order

    said = training.ask(endpoints)
    assert f"a follower of {training.servers[0]}" in said, said
    assert "the rows of server 0; give each" in training.ask([endpoints[0], second.endpoint], status=1)
    assert "none of the 1 endpoints has the rows of server 1" in training.ask(endpoints[:1], status=1)

    # The run ends, its servers with it; what the followers have stays.
    training.end()
    assert training.tables(endpoints) == rows
    for follower in followers:
        follower.send_signal(signal.SIGTERM)
        assert follower.wait(timeout=SECONDS) == 0


def test_what_a_follower_is_refused(job):
    training = Followed(job, "async")
    training.train_to(1)
    said = training.follow(training.servers[0], token="guessed", status=1)
    assert "token" in said, said
    said = training.follow(f"127.0.0.1:{free_range(1)}", status=1, wait=1)
    assert "nobody answers at 127.0.0.1:" in said, said
    said = job.end(job.start("argosy-server", "--follow=nowhere"), 2)
    assert "--follow" in said, said
    said = job.end(job.start("argosy-server", f"--follow={training.servers[0]}", "--durability=wal", "--directory=mine"), 2)
    assert "a follower keeps nothing" in said, said
    follower = training.follow(training.servers[0])
    said = training.follow(follower.endpoint, status=1)  # of a follower
    assert "read-only follower" in said, said
    assert "token" in training.ask([follower.endpoint], token="guessed", status=1)
    assert "unix:" not in training.ask([follower.endpoint], token="guessed", status=1)
    assert "--table" in training.ask([follower.endpoint], "--keys=5", status=2)
    words = ["argosy-server", f"--follow={training.servers[0]}", f"--token={TOKEN}", "--job"]
    said = job.end(job.start(*words, "another"), 1)
    assert "is of job 'job', and this follower was asked for job 'another'" in said, said
    training.finish_training()
    training.end()
    said = training.follow(training.servers[0], status=1, wait=1)  # a run that is over
    assert "has finished" in said, said


def test_a_follower_of_servers_without_a_log_is_told_what_to_set(job):
    training = Followed(job, "async", "--durability=none")
    training.train_to(1)
    said = training.follow(training.servers[0], status=1)
    assert "durability=wal" in said, said
    training.finish_training()
    training.end()


def test_a_follower_of_an_idle_server_is_ready_and_stays_so(job):
    training = Followed(job, "sync")
    training.train_to(10)
    training.finish_training()
    follower = training.follow(training.servers[1])
    expected = training.versions(training.servers)[1]
    both = [training.servers[0], follower.endpoint]
    until(lambda: training.versions(both)[1] == expected, lambda: training.ask(both))
    assert "0 records and 0.0 s behind" in training.ask(both)
    training.end()


# Rows do not show that they are old: who reads them is told.
def test_rows_of_a_follower_whose_server_is_gone_come_with_a_warning(job):
    training = Followed(job, "async", "--max_restart=0")
    training.train_to(5)
    followers = [training.follow(server) for server in training.servers]
    endpoints = [follower.endpoint for follower in followers]
    assert "warning" not in training.ask(endpoints, "--table=w")
    job.signal(training.launcher, "server 0", signal.SIGKILL)
    until(lambda: "waits for" in training.ask(endpoints), lambda: training.ask(endpoints))
    said = training.ask(endpoints, "--table=w")
    assert f"warning: {endpoints[0]} is at version" in said and "may not be the newest" in said, said
    assert "an unknown number of records" in training.ask(endpoints)
    training.launcher.wait(timeout=SECONDS)


# A first value looks like a trained one.
def test_rows_that_are_not_there_are_marked(job):
    training = Followed(job, "sync")
    training.train_to(40)
    followers = [training.follow(server) for server in training.servers]
    training.finish_training()
    for endpoints in (training.servers, [follower.endpoint for follower in followers]):
        lines = training.ask(endpoints, "--table=table", "--keys=7,700,8").splitlines()
        assert [line.split("\t")[0] for line in lines] == ["7", "700", "8"], lines
        assert ["not there" in line for line in lines] == [False, True, False], lines
    training.end()


def test_a_follower_has_the_name_of_its_server_and_answers_when_it_gives_its_address(job):
    training = Followed(job, "sync")
    training.train_to(5)
    follower = training.follow(training.servers[1])
    said = training.ask([training.servers[0], follower.endpoint], "--wait=2")
    assert f"a follower of {training.servers[1]}" in said, said
    follower.send_signal(signal.SIGTERM)
    out, _ = follower.communicate(timeout=SECONDS)
    assert follower.returncode == 0 and "follower 0" not in out, out
    training.finish_training()
    training.end()


def test_a_server_that_ends_says_which_follower_it_leaves_behind(job):
    training = Followed(job, "async")
    training.train_to(5)
    follower = training.follow(training.servers[0])
    follower.send_signal(signal.SIGSTOP)
    training.train_to(50)
    training.finish_training()
    training.end()
    follower.send_signal(signal.SIGCONT)
    assert "was left behind: it has the log up to position" in job.logs(), job.logs()


def test_a_follower_may_have_its_gradients_rounded(job):
    """Its rows are the server's but for that, and who asks it is told."""
    training = Followed(job, "sync")
    training.train_to(20)
    exact = [training.follow(server) for server in training.servers]
    rounded = [training.follow(server, options=["--follow_format=bfloat16"]) for server in training.servers]
    training.finish_training()
    expected = training.versions(training.servers)
    endpoints = [follower.endpoint for follower in rounded]
    until(lambda: training.versions(endpoints) == expected, lambda: training.ask(endpoints))
    assert training.ask(endpoints).count("gradients come to it rounded to bfloat16") == 2
    assert "rounded" not in training.ask([follower.endpoint for follower in exact])

    def rows(asked):
        lines = training.ask(asked, "--table=table").splitlines()
        return {line.split("\t")[0]: np.array(line.split("\t")[1:4], dtype="float64") for line in lines if line[:1].isdigit()}

    theirs, ours = rows(training.servers), rows(endpoints)
    assert theirs.keys() == ours.keys() and len(ours) > 20
    worst = max(abs(theirs[key] - ours[key]).max() for key in ours)
    assert 0 < worst < 0.02, f"{worst}: less than half of one of Adam's steps of 0.05; 0.0006 was seen after 100 of them"
    refused = job.end(job.start("argosy-server", "--follow_format=int8"), 2)
    assert "give the server that it follows (--follow)" in refused, refused
    refused = job.end(job.start("argosy-server", "--follow=127.0.0.1:1", "--follow_format=int4"), 2)
    assert "expected float32, bfloat16 or int8" in refused, refused
    training.end()
