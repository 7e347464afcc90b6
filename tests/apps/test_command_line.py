# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""The command line as people and scripts meet it: help that fits a screen, hints at misspelled words, quiet success,
colour and progress on terminals only, JSON of every command.

usage: test_command_line.py USMP_PLAN TESTDATA
"""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from terminal import Terminal

try:
    import jsonschema
except ImportError:
    jsonschema = None

PROGRAM, TESTDATA = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
MODEL, FIVE = TESTDATA / "repeated_op.tar", TESTDATA / "instances/five.csv"
SCREEN = (80, 50)


def run(*arguments: object, folder: str | None = None) -> subprocess.CompletedProcess:
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300, cwd=folder)


def quiet_success(*arguments: object) -> str:
    done = run(*arguments)
    assert done.returncode == 0 and done.stderr == "", (arguments, done)
    return done.stdout


def commands() -> list[str]:
    text = quiet_success("--help").split("\nCommands", 1)[1].split("\n\n", 1)[0]
    return re.findall(r"^  (\w+) ", text, re.MULTILINE)


def test_help() -> None:
    assert len(commands()) >= 7
    for command in ["", *commands()]:
        words = [command] if command else []
        text = quiet_success(*words, "--help")
        lines = text.splitlines()
        assert len(lines) <= SCREEN[1] and max(map(len, lines)) <= SCREEN[0], (command, len(lines), max(map(len, lines)))
        assert lines[0].startswith(f"Usage: usmp-plan {command}".rstrip() + " "), lines[0]
        assert "\nExamples:\n  usmp-plan " in text and "\nOptions:\n" in text and text.endswith("\n"), command
        assert quiet_success(*words, "-h") == text
    assert re.fullmatch(r"usmp-plan \d+\.\d+\.\d+\n", quiet_success("--version"))


def test_hints() -> None:
    for line, expected in (
            ("solv x.csv", "'solv' is neither a file nor a command (did you mean 'solve'?); see usmp-plan --help"),
            ("inspec", "'inspec' is neither a file nor a command (did you mean 'inspect'?)"),
            ("solv --help", "(did you mean 'solve'?)"),
            ("dif a b --format text", "(did you mean 'diff'?)"),
            ("model.tar --pool x.yaml", "unknown option '--pool' (did you mean '--pools'?); see usmp-plan --help"),
            ("model.tar --transfrom=all", "unknown option '--transfrom' (did you mean '--transform'?)"),
            ("solve x.csv --cap 3", "unknown option '--cap' (did you mean '--capacity'?); see usmp-plan solve --help"),
            ("model.tar --capacity 3", "unknown option '--capacity'; it belongs to usmp-plan solve; see"),
            ("compare model.tar --algorithm fast",
             "unknown option '--algorithm' (did you mean '--algorithms'?); it belongs to usmp-plan, usmp-plan report, usmp-plan diff, "),
            ("inspect model.tar --pools x", "unknown option '--pools'; it belongs to usmp-plan, usmp-plan report, "),
            ("model.tar --workspace-pols x",
             "unknown option '--workspace-pols' (did you mean '--workspace-pools'?); usmp-plan init turns tvmc's options into a pools file"),
            ("model.tar --workspace-pools x", "unknown option '--workspace-pools'; usmp-plan init turns"),
            ("model.tar --dry-run -o x", "--output and --dry-run cannot be given together; see"),
            ("model.tar -o -", "-o: '-' names no file, expected a name such as ./-"),
            (f"{MODEL} --algorithm greedy", "unknown algorithm 'greedy' (did you mean one of greedy_by_size, "),
            (f"{MODEL} --algorithm exec:nothere", "nothere: the algorithm cannot be started: No such file or directory"),
            ("model.tar -x", "unknown option '-x'; see"),
            ("inspect model.tar other.tar", "unexpected argument 'other.tar'"),
            ("inspect model.tar \x1b[31m", "unexpected argument '\\x1b[31m'"),
            ("model.tar other.tar", "several models need the directory to write to, expected -o DIR"),
            (f"{MODEL} --name kws", "--name: found 'kws', expected NAME=MODEL, as in kws=kws.tar"),
            (f"{MODEL} --name kws=modle.tar", "--name: 'modle.tar' is not one of the models"),
            (f"{MODEL} --name k-s={MODEL}", "--name: 'k-s' is not a C identifier: expected letters, digits and '_'"),
            (f"{MODEL} --name 1k={MODEL}", "--name: '1k' is not a C identifier: expected letters, digits and '_', not starting with a digit"),
            (f"{MODEL} {MODEL} -o .", "is given twice, expected each model once"),
            (f"{MODEL} {MODEL.parent}/./{MODEL.name} -o .", "is given twice, expected each model once"),
            ("diff old.json", "NEW is required; see usmp-plan diff --help"),
            ("report p.json --format htm", "--format: unknown 'htm' (did you mean 'html'?); expected text, json, csv, markdown, svg or html"),
            (f"{MODEL} --algorithm optimla", "unknown algorithm 'optimla' (did you mean 'optimal'?)"),
            (f"{MODEL} --transform fuse,narow", "unknown transformation 'narow' (did you mean 'narrow'?)"),
            ("hepl", "(did you mean 'help'?)"),
            ("help solv", "help: no command 'solv' (did you mean 'solve'?)"),
            ("help foo", "help: no command 'foo'; usmp-plan help lists the commands"),
            ("--help solv", "help: no command 'solv' (did you mean 'solve'?)"),
            ("plan", "MODEL is required; see usmp-plan --help"),
            ("model.tar --pools ", "--pools: the value is empty; see usmp-plan --help"),
            ("report ", "PLAN is empty, expected a name; see usmp-plan report --help"),
            ("model.tar -o a.tar --plan-json ./a.tar", "./a.tar: is written by --plan-json and by -o, expected two files"),
            ("model.tar -o a/ --plan-json a", "a: is written by --plan-json and by -o, expected two files"),
            ("model.tar --pools a --pools b", "--pools is given more than once; see"),
            ("model.tar --pools", "--pools needs a value: FILE; see"),
            ("report x -o", "-o or --output needs a value: FILE; see"),
            ("report x --output=", "-o or --output needs a value: FILE; see"),
            ("model.tar --quiet --verbose", "--quiet and --verbose cannot be given together; see"),
            ("inspect x --tir --json", "--tir and --json cannot be given together; see"),
            ("report x --json --format csv", "--format and --json cannot be given together; see"),
            ("model.tar --json=3", "--json takes no value; see"),
            ("diff --quiet=no a b", "--quiet takes no value; see usmp-plan diff"),
            ("verify a --rounds x", "--rounds: found 'x', expected a whole number from 1 to 1000; see"),
            ("verify a --rounds 0", "--rounds: found '0', expected a whole number from 1 to 1000; see"),
            ("verify a --sanitize", "--sanitize needs --execute; see usmp-plan verify"),
            ("model.tar --allow-recompute 1001", "--allow-recompute: found '1001', expected a whole number of percent from 0 to 1000"),
            ("model.tar --allow-recompute -1", "--allow-recompute: found '-1', expected a whole number of percent from 0 to 1000"),
            ("model.tar --synchronous f,2g", "--synchronous: found '2g', expected names of C functions, as f,g"),
            ("model.tar --synchronous f-g", "--synchronous: found 'f-g', expected names of C functions, as f,g"),
            ("model.tar --plan-stack 1x", "--plan-stack: found '1x', expected bytes from 0 to 1GiB, as in 512 or 4KiB"),
            ("model.tar --plan-stack 1073741825", "--plan-stack: found '1073741825', expected bytes from 0 to 1GiB, as in 512 or 4KiB"),
            ("model.tar --allow-recompute 2.5", "--allow-recompute: found '2.5', expected a whole number of percent from 0 to 1000"),
            (f"{MODEL} --from c --synchronous npu_start", "--synchronous: found 'npu_start', expected functions that the model's C mentions"),
            (f"{MODEL} --synchronous npu_start", "--synchronous: found 'npu_start', expected functions of a model that is read from C (--from c)"),
            (f"inspect {MODEL} --from c --synchronous npu_start", "--synchronous: found 'npu_start', expected functions that"),
            (f"report {MODEL} -o r.pdf", "-o: found 'r.pdf', expected a name that ends in .html, .svg, .md, .csv, .json or .txt, or --format"),
            (f"verify {MODEL} --execute --cc nosuchcc", "nosuchcc: cannot be started: No such file or directory"),
            (f"{MODEL} --module defualt", "no module 'defualt' (did you mean 'default'?)"),
            (f"{MODEL} --minimize global_workspce", "unknown pool 'global_workspce' (did you mean 'global_workspace'?)"),
    ):
        done = run(*line.split(" "), *([] if "--help" in line or " -o " in line or not line.startswith(str(MODEL)) else ["--dry-run"]))
        assert done.returncode == 2 and done.stdout == "", (line, done)
        assert done.stderr.startswith("usmp-plan: error: ") and done.stderr.count("\n") == 1, (line, done)
        assert expected in done.stderr, (line, done.stderr)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "solv").mkdir()
        done = run("solv", folder=folder)
        assert done.returncode == 3 and "neither" not in done.stderr, "a directory that is there is a model"
        done = run("nothing", folder=folder)
        assert done.returncode == 2 and done.stderr == "usmp-plan: error: nothing: no such file or directory\n", done


def test_nothing_that_is_read_is_overwritten():
    header = "out/codegen/host/include/metadata.h"
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "pools.yaml").write_text("workspace_pools: [{name: sram, size_hint_bytes: 1MiB}]\n")
        Path(folder, "board.ld").write_text("MEMORY { ram (rw) : ORIGIN = 0, LENGTH = 1M }\n")
        assert run(MODEL, "-o", "out", folder=folder).returncode == 0
        before = {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}
        for line, expected in (
                ("report out -o out/default.plan.json", "lies inside the input out, expected another place"),
                (f"{MODEL} -o out --plan-json {header}", "is written by --plan-json and by -o, expected two files"),
                (f"check {MODEL} --pools pools.yaml --baseline out/default.plan.json --junit out/default.plan.json",
                 "would overwrite the input out/default.plan.json, expected another place"),
                (f"report {MODEL} --pools pools.yaml --memory board.ld -o board.ld",
                 "would overwrite the input board.ld, expected another place"),
                (f"problem {MODEL} --pools pools.yaml --memory board.ld -o board.ld",
                 "would overwrite the input board.ld, expected another place")):
            done = run(*line.split(), folder=folder)
            assert done.returncode == 2 and expected in done.stderr, (line, done)
            assert before == {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}, line


def test_what_is_no_model() -> None:
    bare = run()
    assert bare.returncode == 2 and bare.stdout == "" and bare.stderr == quiet_success("--help"), bare
    assert quiet_success("help", "plan") == quiet_success("plan", "--help")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "m.tflite").write_bytes(b"\x1c\0\0\0TFL3" + b"\xff" * 100)
        Path(folder, "m.onnx").write_bytes(b"\x08\x07onnx")
        Path(folder, "p.yaml").write_text("# memory\nworkspace_pools:\n  - name: sram\n    targets: {cc: rw}\n")
        Path(folder, "x.json").write_text('{"a": 1}\n')
        Path(folder, "empty.tflite").write_bytes(b"")
        Path(folder, "models").mkdir()
        Path(folder, "models/a.tflite").write_bytes(Path(folder, "m.tflite").read_bytes())
        Path(folder, "tree").mkdir()
        os.mkfifo(Path(folder, "pipe"))
        Path(folder, "empty").mkdir()
        subprocess.run(["tar", "xf", MODEL, "-C", Path(folder, "tree")], check=True)
        archive = "expected an archive of it: tvmc compile … --output-format mlf, or apps/export_tir.py"
        for words, place, message in (
                (("report", "m.onnx"), "m.onnx", f"is an ONNX model; {archive}"),
                (("p.yaml",), "p.yaml", "looks like a pools file, expected a model: MODEL --pools p.yaml"),
                ((MODEL, "p.yaml"), "p.yaml", "looks like a pools file, expected a model: MODEL --pools p.yaml"),
                (("report", "p.yaml"), "p.yaml", "looks like a pools file, expected a model: MODEL --pools p.yaml"),
                (("missing.tflite", "--dry-run"), "missing.tflite", "no such file or directory"),
                *(((command, "missing.tflite"), "missing.tflite", "no such file or directory") for command in ("inspect", "report", "verify", "init")),
                (("models",), "models", "found no C that TVM wrote, but 1 model; type one of:\n  usmp-plan models/a.tflite"),
                (("x.json",), "x.json", 'is neither TIR (no "nodes") nor a plan or problem of usmp-plan; expected an archive or TIR as JSON'),
                (("solve", "p.yaml"), "p.yaml", "looks like a pools file, expected an instance in CSV or a problem in JSON"),
                ((MODEL, "--pools", MODEL, "--dry-run"), MODEL, "looks like an archive, expected a pools file"),
                ((MODEL, "-o", "p.yaml"), "p.yaml", "is a file, expected a directory, a new name or an archive such as model.tar"),
                ((MODEL, "--pools", "p.yaml", "--dry-run"), "p.yaml: line 4, column 15",
                 "pool 'sram': no code of the model is for the target 'cc' (did you mean 'c'?)"),
                ((MODEL, "--pools", "empty"), "empty", "cannot be read: is a directory, expected a file"),
                ((MODEL, "-o", "/dev/stdout"), "/dev/stdout", "is a device, expected a directory or an archive such as model.tar"),
                ((MODEL, "-o", "pipe"), "pipe", "is a pipe, expected a directory or an archive such as model.tar"),
                (("tree", "-o", "tree/out"), "tree/out", "lies inside the input tree, expected another place")):
            done = run(*words, folder=folder)
            assert (done.returncode, done.stdout, done.stderr) == (2, "", f"usmp-plan: error: {place}: {message}\n"), done
        done = run("empty.tflite", folder=folder)
        assert done.returncode == 3 and done.stderr.endswith("is no TensorFlow Lite model: expected the identifier TFL3 in its bytes 4 to 8\n"), done
        done = run("m.tflite", folder=folder)
        assert done.returncode == 3 and done.stderr.startswith("usmp-plan: error: m.tflite: is damaged: an offset leads out"), done
        done = run(MODEL, "--dry-run", "--plan-json", "plan.json", folder=folder)
        assert done.returncode == 2 and "--dry-run and --plan-json cannot be given together" in done.stderr.replace(
            "--plan-json and --dry-run", "--dry-run and --plan-json"), done
        done = run(".", folder=Path(folder, "tree"))
        assert "tree_planned: lies inside the input ., expected another place: -o ../tree_planned or --in-place\n" in done.stderr, done
        done = run(".", "--dry-run", folder=Path(folder, "tree"))
        assert done.stdout.startswith("module default of tree, "), done
        done = subprocess.run([PROGRAM, "report", "-"], input="", capture_output=True, text=True)
        assert done.returncode == 3 and "/dev/stdin: is empty, expected an archive, or a plan where the command takes one\n" in done.stderr, done


def test_words_and_streams() -> None:
    """Words that are no commands of the parser, standard input as a model, readers that have read enough."""
    assert quiet_success("help") == quiet_success("--help") and quiet_success("help", "solve") == quiet_success("solve", "--help")
    assert quiet_success("help", "help") == quiet_success("--help") and quiet_success("-h", "solve") == quiet_success("help", "solve")
    assert quiet_success("--help", "plan") == quiet_success("help", "plan")
    done = run("help", "check", "extra")
    assert done.returncode == 2 and "help: found 'extra' after 'check', expected one command\n" in done.stderr, done
    assert run(MODEL, "--from", "c", "--plan-stack", "1KiB", "--synchronous", "tvmgen_default_run,tvmgen_default___tvm_main__", "--synchronous", "TVMBackendAllocWorkspace", "--dry-run").returncode == 0
    assert quiet_success("--help", str(MODEL)) == quiet_success("--help")
    assert quiet_success("-V") == quiet_success("--version")
    with tempfile.TemporaryDirectory() as folder:
        for number, arguments in enumerate((["plan", MODEL], ["-"], ["/dev/stdin"], ["plan", "-"])):
            place = Path(folder, str(number))
            place.mkdir()
            with MODEL.open("rb") as model:
                done = subprocess.run([PROGRAM, *arguments, "--quiet"], cwd=place, stdin=model, capture_output=True, check=True)
            assert done.stdout == done.stderr == b"", done
            assert [path.name for path in place.iterdir()] == ["repeated_op_planned" if MODEL in arguments else "model_planned"]
        planned = Path(folder, "0/repeated_op_planned")
        for path in planned.rglob("*.c"):
            assert path.read_bytes() == Path(folder, "1/model_planned", path.relative_to(planned)).read_bytes(), path
        with subprocess.Popen(["cat", MODEL], stdout=subprocess.PIPE) as pipe:
            piped = subprocess.run([PROGRAM, "inspect", "-"], stdin=pipe.stdout, capture_output=True, text=True, check=True)
        assert piped.stdout == quiet_success("inspect", MODEL)
        assert json.loads(subprocess.run([PROGRAM, "solve", "-", "--json"], input=FIVE.read_text(), capture_output=True,
                                         text=True, check=True).stdout)["instance"] == "stdin"
    for read_first in (True, False):
        reader, writer = os.pipe()
        fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)  # less than what is printed: the program is there when its reader goes
        with subprocess.Popen([PROGRAM, "inspect", MODEL, "--tir"], stdout=writer, stderr=subprocess.PIPE) as process:
            os.close(writer)
            if read_first:
                assert os.read(reader, 100)
            os.close(reader)
            assert process.stderr.read() == b"" and process.wait() == -signal.SIGPIPE, (read_first, process.returncode)


def test_plans_in_pipes() -> None:
    """What a pipe holds is looked at without being taken, however late it comes."""
    def shell(line: str) -> subprocess.CompletedProcess:
        return subprocess.run(["bash", "-c", line, PROGRAM, MODEL], capture_output=True, text=True)

    report = quiet_success("report", MODEL)
    plan = '"$0" "$1" --dry-run --json'
    for line in (f'{plan} | "$0" report -', f'(sleep 0.3; {plan}) | "$0" report -', f'"$0" report <({plan})',
                 'cat "$1" | "$0" report -', '(sleep 0.3; cat "$1") | "$0" report /dev/stdin', 'cat "$1" | "$0" report /dev/fd/0'):
        done = shell(line)
        assert (done.returncode, done.stdout.replace("stdin", MODEL.name), done.stderr) == (0, report, ""), (line, done)
    # A number that the shell chose is no name.
    for line in ('"$0" report <(cat "$1")', '"$0" --dry-run <(cat "$1")', f'"$0" verify "$1" --plan <({plan})', f'"$0" diff <({plan}) <({plan})'):
        done = shell(line)
        assert done.returncode == 0 and done.stdout.startswith("module default") and "pipe" in done.stdout and \
            "63" not in done.stdout.splitlines()[0], (line, done)
    for line, code, expected in ((f'{plan} | "$0" diff - "$1"', 0, "no difference"), (f'{plan} | "$0" diff "$1" -', 0, "no difference"),
                                 (f'"$0" diff <({plan}) <({plan} --algorithm none)', 1, "grew by"),
                                 (f'{plan} | "$0" diff - -', 2, "/dev/stdin: is a pipe, which can be one side only"),
                                 (f'{plan} | "$0" report - --pools x.yaml', 2, "--pools applies to models only"),
                                 ("\"$0\" solve <(echo 'workspace_pools: []')", 2, "looks like a pools file, expected an instance in CSV"),
                                 ("\"$0\" <(echo 'workspace_pools: []')", 2, "looks like a pools file, expected a model"),
                                 ('true | "$0" report -', 3, "/dev/stdin: is empty, expected an archive, or a plan"), ("echo '{}' | \"$0\" report -", 2, "schema")):
        done = shell(line)
        assert done.returncode == code and expected in done.stdout + done.stderr, (line, done)


def test_own_c_is_refused() -> None:
    """C that usmp-plan wrote is no model; its plan file is."""
    with tempfile.TemporaryDirectory() as folder:
        quiet_success(MODEL, "-o", f"{folder}/planned", "--quiet")
        quiet_success("report", f"{folder}/planned/default.plan.json")
        Path(folder, "planned/default.plan.json").unlink()
        for command in (["plan"], ["report"], ["init"], ["inspect"], ["verify", "--tvm-plan"]):
            done = run(command[0], f"{folder}/planned", *command[1:])
            assert (done.returncode, done.stdout) == (3, ""), (command, done)
            assert "found C that usmp-plan wrote, expected TVM's: plan what it was made of" in done.stderr, (command, done)


def test_files_on_standard_output() -> None:
    """The file has standard output for itself, between what others write there; everything else goes to standard error."""
    with tempfile.TemporaryDirectory() as folder:
        problem, pools = Path(folder, "problem.json"), Path(folder, "pools.yaml")
        quiet_success("problem", MODEL, "-o", problem)
        pools.write_text("workspace_pools: [{name: sram, size_hint_bytes: 64KiB}]\n")
        for words, begin, beside in ((("solve", problem, "-o"), "{", "planned by optimal"), (("problem", MODEL, "-o"), "{", ""),
                                     ((MODEL, "-o", Path(folder, "out"), "--plan-json"), "{", "written to"),
                                     (("check", MODEL, "--pools", pools, "--junit"), "<?xml", "no budget")):
            for name in ("/dev/stdout", "/proc/self/fd/1"):
                line = 'echo before > f; (echo more; "$0" "$@"; echo after) >> f; (echo more; "$0" "$@"; echo after) > g'
                done = subprocess.run(["bash", "-c", line, PROGRAM, *words, name], cwd=folder, capture_output=True, text=True, check=True)
                assert done.stdout == "" and beside in done.stderr, (words, done)
                shared, alone = Path(folder, "f").read_text(), Path(folder, "g").read_text()
                assert shared == "before\n" + alone and alone.startswith(f"more\n{begin}") and alone.endswith("\nafter\n"), alone
                assert not beside or beside not in alone, alone


def test_files_in_source_trees() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "xf", MODEL, "-C", folder], check=True)
        archive = run("report", ".", "-o", "map.html", folder=folder)
        assert archive.stderr == "usmp-plan: error: map.html: lies inside the input ., expected another place: -o ../map.html\n", archive
        Path(folder, "metadata.json").unlink()
        Path(folder, "pools.yaml").write_text("workspace_pools: [{name: sram, size_hint_bytes: 64KiB}]\n")
        for words, file in ((("report", ".", "--format", "html", "-o"), "map.html"),
                            (("check", ".", "--pools", "pools.yaml", "--junit"), "memory.xml"),
                            ((".", "--in-place", "--plan-json"), "default.plan.json")):
            done = run(*words, file, folder=folder)
            assert done.returncode == 0 and Path(folder, file).is_file(), done
        for file in ("codegen/host/src/default_lib1.c", "new.h", "metadata.json"):
            done = run("report", ".", "--format", "text", "-o", file, folder=folder)
            assert done.returncode == 2 and f"{file}: lies inside the input ., expected another place: -o ../" in done.stderr, done


def on_a_terminal(*arguments: object, **environment: str) -> str:
    """What the program prints to a terminal that is its standard output and its standard error."""
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    terminal = Terminal(PROGRAM, *arguments, environment={**inherited, "TERM": "xterm", **environment})
    assert terminal.status() == 0, terminal.shown
    return terminal.shown.decode()


def test_colour() -> None:
    for arguments in ((MODEL, "--dry-run"), ("verify", MODEL), ("solve", FIVE)):
        assert "\x1b[" in on_a_terminal(*arguments), arguments
        assert "\x1b[" in on_a_terminal(*arguments, NO_COLOR=""), arguments
        assert "\x1b" not in on_a_terminal(*arguments, NO_COLOR="1"), arguments
        assert "\x1b" not in on_a_terminal(*arguments, TERM="dumb"), arguments
        assert "\x1b" not in quiet_success(*arguments), arguments


def test_quiet() -> None:
    with tempfile.TemporaryDirectory() as folder:
        plan = Path(folder, "out/default.plan.json")
        assert quiet_success(MODEL, "-o", plan.parent, "--quiet") == ""
        assert quiet_success("verify", MODEL, "--plan", plan, "--quiet") == ""
        assert quiet_success("diff", plan, plan, "--quiet") == ""
        assert quiet_success("solve", FIVE, "-o", Path(folder, "five.csv"), "--quiet") == ""
        assert quiet_success("problem", MODEL, "-o", Path(folder, "problem.json")) == ""
        assert quiet_success("report", plan, "-o", Path(folder, "map.svg")) == ""


def test_json() -> None:
    with tempfile.TemporaryDirectory() as folder:
        quiet_success(MODEL, "-o", folder, "--quiet")
        plan = Path(folder, "default.plan.json")
        lines = {
            "": (MODEL, "--dry-run"), "init": ("init", MODEL), "inspect": ("inspect", MODEL), "report": ("report", plan),
            "diff": ("diff", plan, plan), "verify": ("verify", MODEL), "problem": ("problem", MODEL), "solve": ("solve", FIVE),
        }
        for command in ["", *commands()]:
            if command not in lines:
                assert "  --json " in quiet_success(command, "--help"), command
                continue
            found = json.loads(quiet_success(*lines[command], "--json"))
            assert isinstance(found, dict), command
        algorithms = json.loads(quiet_success("--list-algorithms", "--json"))["algorithms"]
        assert [a["name"] for a in algorithms if a["default"]] == ["optimal"], algorithms
        listed = [line.split()[0] for line in quiet_success("--list-algorithms").splitlines()]
        assert [a["name"] for a in algorithms] == listed[:-1] and listed[-1] == "exec:PROGRAM"
        pools = Path(folder, "pools.yaml")
        pools.write_text(quiet_success("init", MODEL, "--json"))
        quiet_success(MODEL, "--pools", pools, "--dry-run")
        for options, executed in (((), None), (("--execute", "--rounds", 1), 1)):
            verified = json.loads(quiet_success("verify", MODEL, *options, "--json"))
            if jsonschema is not None:
                schema = TESTDATA.parent / "docs/schema/verification.schema.json"
                jsonschema.Draft202012Validator(json.loads(schema.read_text())).validate(verified)
            (module,) = verified["modules"]
            assert (module["executed"] or {}).get("rounds") == executed and module["module"] == "default", module
            assert module["buffers"] >= 4 and module["conflicts"] >= 2, module


def test_init_of_regions() -> None:
    """Pools of a linker script's regions, and the schema where the line for editors points."""
    with tempfile.TemporaryDirectory() as folder:
        board, pools = Path(folder, "board.ld"), Path(folder, "pools", "pools.yaml")
        board.write_text("MEMORY {\n FLASH (rx) : ORIGIN = 0, LENGTH = 1M\n RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 64K\n}\n")
        pools.parent.mkdir()
        plain = quiet_success("init", MODEL, "--memory", board)
        assert plain.startswith("# Memory pools for ") and "schema" not in plain, plain
        for schema, line in (("pools.schema.json", "../pools.schema.json"), ("pools/s.json", "./s.json")):
            words = ("init", MODEL, "--memory", "board.ld", "--schema", schema, "-o", "pools/pools.yaml")
            assert run(*words, "--force", folder=folder).returncode == 0
            assert run(*words, folder=folder).returncode == 0, "it is the same"
            text = pools.read_text()
            assert text == f"# yaml-language-server: $schema={line}\n{plain}", text
            assert (pools.parent / line).read_text() == (TESTDATA.parent / "docs/schema/pools.schema.json").read_text()
        for edited in (pools, pools.parent / "s.json"):  # stays, and nothing else is written
            before = edited.read_text()
            edited.write_text(before + " ")
            done = run(*words, folder=folder)
            assert done.returncode == 2 and done.stderr.endswith(f"{edited.name}: exists and differs, expected a new file, or --force to replace it\n"), done
            assert edited.read_text() == before + " "
            edited.write_text(before)
        plan = json.loads(quiet_success(MODEL, "--pools", pools, "--memory", board, "--dry-run", "--json"))["modules"][0]
        assert [(p["name"], p["capacity"]) for p in plan["pools"]] == [("ram", 65536), ("flash", 1 << 20)], plan["pools"]
        for words, message in (
                (("--workspace-pools=a",), "--memory and options of tvmc, expected one of them"),
                (("--json", "--schema", Path(folder, "a.json")), "--schema: expected no --json")):
            done = run("init", MODEL, "--memory", board, *words)
            assert done.returncode == 2 and done.stdout == "" and done.stderr == f"usmp-plan: error: {message}\n", done
        assert not Path(folder, "a.json").exists()


def test_tvmc() -> None:
    """tvmc's options where users may put them: among ours, behind "--", in a file, on standard input."""
    pools = ["--workspace-pools=dtcm,sram", "--workspace-pools-size-hint-bytes", "dtcm:4096", "--constant-pools", "flash"]
    expected = {"workspace_pools": [{"name": "dtcm", "size_hint_bytes": 4096}, {"name": "sram"}],
                "parameter_pools": [{"name": "flash"}]}
    line = ["tvmc", "compile", "--target=c", *pools, "--json", "x.tflite", "-h"]
    with tempfile.TemporaryDirectory() as folder:
        file, written = Path(folder, "build.sh"), Path(folder, "pools.yaml")
        file.write_text(" \\\n  ".join(line) + "\n")
        for words in ((*pools, "--json", MODEL), (MODEL, "--json", "--", *line), (MODEL, "--json", "--tvmc", file)):
            assert json.loads(quiet_success("init", *words)) == expected, words
        piped = subprocess.run([PROGRAM, "init", MODEL, "--json", "--tvmc", "-"], input=file.read_text(), capture_output=True,
                               text=True, timeout=300)
        assert json.loads(piped.stdout) == expected, piped
        written.write_text(quiet_success("init", MODEL, *pools))
        plan = json.loads(quiet_success(MODEL, "--pools", written, "--dry-run", "--json"))["modules"][0]
        assert [pool["name"] for pool in plan["pools"]] == ["dtcm", "sram", "flash"], plan["pools"]
        assert plan["pools"][0]["capacity"] == 4096 and plan["pools"][0]["used"] > 0, plan["pools"]
        file.write_text("tvmc compile --workspace-pools='sram\n")
        for words, message in (
                ((MODEL, "--workspace-pools"), "--workspace-pools=: has no value"),
                ((MODEL, "--tvmc", file), f"{file}: line 1, column 32: an unterminated quote, expected another '"),
                ((MODEL, "--tvmc", file, "--pass-config=a=1"), "--tvmc FILE and options of tvmc, expected one of them"),
                ((MODEL, "--", "tvmc", "--workspace-pool=a"),
                 "--workspace-pool=a: tvmc has no such option (did you mean '--workspace-pools'?)"),
                ((*pools,), "MODEL is required; see usmp-plan init --help")):
            done = run("init", *words)
            assert done.returncode == 2 and done.stdout == "" and done.stderr == f"usmp-plan: error: {message}\n", done
        done = run(MODEL, *pools[:1])
        assert done.returncode == 2 and "usmp-plan init turns tvmc's options into a pools file" in done.stderr, done


def test_convert() -> None:
    """An archive of a .tflite, in all its forms; what is none is refused, and nothing stays behind."""
    model = TESTDATA / "tflite/graph_int8_1035.tflite"
    with tempfile.TemporaryDirectory() as folder:
        tar, other = Path(folder, "g.tar"), Path(folder, "again.tar.gz")
        done = run("convert", model, "-o", tar)
        assert done.returncode == 0 and done.stderr == "", done
        assert done.stdout == f"{tar}: module graph_int8_1035 with its TIR and unplanned C\n", done
        assert quiet_success("convert", model, "-o", other, "--quiet") == ""
        assert quiet_success("convert", model, "-o", Path(folder, "d"), "--name", f"kws={model}", "--quiet") == ""
        names = sorted(str(path.relative_to(Path(folder, "d"))) for path in Path(folder, "d").rglob("*") if path.is_file())
        assert names == ["codegen/host/include/tvmgen_kws.h", "codegen/host/src/kws_lib0.c", "codegen/host/src/kws_lib1.c",
                         "metadata.json", "src/kws.tir.json"], names
        printed = quiet_success("convert", model, "-o", Path(folder, "d"), "--name", f"kws={model}", "--json")
        assert json.loads(printed) == json.loads(Path(folder, "d/metadata.json").read_text())
        plans = [json.loads(quiet_success(path, "--dry-run", "--json"))["modules"][0] for path in (model, tar, other)]
        for plan in plans:
            plan.pop("archive")
            plan["totals"].pop("unplanned_workspace")
        assert plans[0] == plans[1] == plans[2]
        tree = sorted(Path(folder).rglob("*"))
        for words, code, message in (
                ((MODEL, "-o", tar), 2, f"{MODEL}: is no TensorFlow Lite model, expected one: archives and C are planned as they are"),
                ((model,), 2, "--output is required; see usmp-plan convert --help"),
                ((tar, "-o", tar), 2, f"{tar}: would overwrite the input {tar}, expected another place"),
                ((model, "-o", Path(folder, "d")), 2,
                 f"{folder}/d: holds 'codegen/host/include/tvmgen_kws.h', expected a new directory, or one with an earlier conversion alone"),
                ((model, "-o", TESTDATA / "pools"), 2, None),
                ((model, "-o", Path(folder, "none/x.tar")), 2, None)):
            done = run("convert", *words)
            assert done.returncode == code and done.stdout == "", done
            assert message is None or done.stderr == f"usmp-plan: error: {message}\n", done
            assert sorted(Path(folder).rglob("*")) == tree, done


for test in (test_help, test_hints, test_what_is_no_model, test_words_and_streams, test_plans_in_pipes, test_own_c_is_refused,
             test_files_on_standard_output, test_files_in_source_trees, test_colour, test_quiet, test_json, test_tvmc, test_init_of_regions,
             test_convert):
    test()
    print(f"{test.__name__}: ok")
