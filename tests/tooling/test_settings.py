"""docs/settings.md is the table that the programs have."""

import subprocess


def test_the_document_has_the_table_of_the_code(root):
    table = subprocess.run(["fleetrun", "--settings"], capture_output=True, text=True, check=True).stdout
    assert table.count("\n") > 10
    assert (root / "docs" / "settings.md").read_text().endswith("\n\n" + table), "put the output of `fleetrun --settings` at its end"
