"""What a server gives a name to is on the disk before, and the name after: no power cut leaves an empty file under a good name."""

import sync_order


def test_files_are_synced_before_they_get_their_names(tmp_path):
    assert sync_order.check(tmp_path / "sync") > 4  # log files and snapshots


def test_a_wrong_order_is_seen():
    good = [("sync", "/d/new", ""), ("rename", "/d/new", "/d/name"), ("sync", "/d", "")]
    assert sync_order.wrong_renames(good, "/d") == ([], 1)
    assert len(sync_order.wrong_renames([good[1], good[0], good[2]], "/d")[0]) == 1
    assert len(sync_order.wrong_renames(good[:2], "/d")[0]) == 1
