"""No room on the disk: the message names the file, and nothing half-written is left."""

import resource
import subprocess

import pytest

from command_line import command

ROOM = 20_000


def limited():
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM))


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("train", "data.svm", "-o", "model"), "model"),
        (("train", "data.svm", "-o", "model", "--checkpoint", "saved"), "saved"),
        (("convert", "data.svm", "-o", "data.arrow"), "data.arrow"),
        (("train", "bad.svm", "-o", "model", "--on-error", "skip", "--quarantine", "aside"), "aside"),
    ],
)
def test_errors_name_the_file(tmp_path, arguments, output):
    (tmp_path / "data.svm").write_text("".join(f"1 {i}:1\n-1 {i + 20_000}:1\n" for i in range(1, 20_000)))
    (tmp_path / "bad.svm").write_text("1 1:1\n-1 2:1\n" + "1 1:x\n" * 5_000)
    done = subprocess.run(
        command(*arguments), cwd=tmp_path, preexec_fn=limited, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 1
    assert f"{output}: File too large" in done.stderr
    assert not [path.name for path in tmp_path.iterdir() if path.name.endswith(".tmp")]
