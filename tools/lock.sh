#!/usr/bin/env bash
# Write the lock files: exact versions and the hashes of every published file, for all platforms, no index address.
# `tools/lock.sh` keeps what is locked and adds what is new; `tools/lock.sh --upgrade` takes the newest of everything.
set -euo pipefail
cd "$(dirname "$0")/.."

uv_home="$(mktemp -d)"
trap 'rm -rf "$uv_home"' EXIT
"${PYTHON:-python3}" -m venv "$uv_home"
"$uv_home/bin/python" -m pip --disable-pip-version-check install -qq uv

compile() {
    "$uv_home/bin/uv" --no-config pip compile pyproject.toml --quiet --universal --python-version 3.11 --group build \
        --generate-hashes --no-emit-index-url --no-header "$@"
}

compile "$@" --output-file requirements/run.lock
# What both files name must be the same version, or one .venv could not serve `make run` and `make test`.
compile "$@" --extra test --constraint requirements/run.lock --output-file requirements/test.lock
