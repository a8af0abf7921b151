"""`dragoman keys`."""

from dragoman.server.keys import Keys


def test_a_key_is_shown_once_and_kept_hashed(cli, tmp_path):
    path = tmp_path / "keys.toml"
    one = cli("keys", "alice", "--file", path, "--model", "qwen*", "--model", "one", "--streams", 4)
    two = cli("keys", "bob", "--file", path)
    assert (one.status, two.status) == (0, 0)
    alice, bob = one.out.strip(), two.out.strip()
    assert alice not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    keys = Keys.read(str(path))
    found = keys.find({"headers": [(b"x-api-key", alice.encode())]})
    assert (found.name, found.models, found.streams) == ("alice", ("qwen*", "one"), 4)
    assert keys.find({"headers": [(b"x-api-key", bob.encode())]}).models == ("*",)


def test_a_name_is_used_once(cli, tmp_path):
    path = tmp_path / "keys.toml"
    cli("keys", "alice", "--file", path)
    again = cli("keys", "alice", "--file", path)
    assert again.status != 0
    assert "already" in again.err


def test_a_file_that_cannot_be_written(cli, tmp_path):
    assert "cannot be written" in cli("keys", "a", "--file", tmp_path / "no" / "keys.toml").err
