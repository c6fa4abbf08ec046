#!/usr/bin/env bash
# Everything that needs a GPU, in under four minutes: the tests with the mark `gpu`, the agreement of GPU and CPU, and the
# benchmark. Usage: tests/gpu/check.sh [FILE.json]. PYTHON: an interpreter with all packages in it, CuPy too.
set -euo pipefail
cd "$(dirname "$0")/../.."
out=${1:-gpu-check.json}
python=${PYTHON:-"uv run -q --extra gpu python"}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tests=passed
timeout 100 $python -m pytest -q -m gpu || tests=failed
timeout 60 $python tests/gpu/agreement.py > "$work/agreement.json"
timeout 60 $python main.py benchmark --preset pycuda-seed --hidden 64,256,1024,4096 --devices cpu,cuda:0 --json \
  > "$work/benchmark.json" || true
timeout 20 $python main.py profile --preset quick-mlp --hidden 1024 --device cuda:0 --steps 200 --json \
  > "$work/profile.json" || true
$python - "$work" "$out" "$tests" <<'END'
import json, pathlib, sys

work, out, tests = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
found = {path.stem: json.loads(path.read_text() or "null") for path in sorted(work.glob("*.json"))}
out.write_text(json.dumps({"tests": tests, **found}, indent=1) + "\n")
print(out.read_text())
sys.exit(0 if tests == "passed" and all(one["agrees"] for one in found["agreement"]) else 1)
END
