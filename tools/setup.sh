#!/usr/bin/env bash
# Make .venv hold exactly what one lock file names: `tools/setup.sh run` or `tools/setup.sh test`.
# Quick when nothing has changed; a half-made or broken environment is thrown away and made again.
set -euo pipefail
cd "$(dirname "$0")/.."

want="${1:?usage: tools/setup.sh run|test}"
venv=.venv

say() { printf '%s\n' "$*" >&2; }
give_up() { say "posthouse: $*"; exit 1; }

fit() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
can_make_venv() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }

# The stamp says what the environment was made from. Its place counts too: scripts inside hold their full path.
fingerprint() { { pwd; cat "requirements/$1.lock" pyproject.toml $(compiled); } | cksum; }
compiled() { find src -name '*.[ch]' | sort; }

is_ready() {
    local stamp="$venv/.$1-stamp"
    [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$(fingerprint "$1")" ] && "$venv/bin/python" -c 'import pip, posthouse' 2>/dev/null
}

find_python() {
    local name
    for name in ${PYTHON:-} python3.13 python3.12 python3.11 python3; do
        if fit "$name" && can_make_venv "$name"; then echo "$name"; return; fi
    done
    for name in python3.13 python3.12 python3.11 python3; do
        if fit "$name"; then echo "$name"; return; fi
    done
}

install_python() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || give_up "$1"
    say "installing $2 ..."
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $2; } >/dev/null 2>&1 || give_up "$1"
}

make_venv() {
    local python
    python="$(find_python)"
    if [ -z "$python" ]; then
        install_python "needs Python 3.11 or newer with its venv module: install python3 and python3-venv." "python3 python3-venv"
        python="$(find_python)"
        [ -n "$python" ] || give_up "needs Python 3.11 or newer; this system's python3 is older."
    fi
    if ! can_make_venv "$python"; then
        local package
        package="$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')"
        install_python "needs the venv module of $python: install $package." "$package"
    fi
    say "making .venv with $("$python" --version) ..."
    rm -rf "$venv"
    "$python" -m venv "$venv"
}

can_compile() {
    command -v cc >/dev/null || command -v gcc >/dev/null || return 1
    "$venv/bin/python" -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))'
}

# Tests and figures want the compiled part; an office works without it, and `make run` asks for nothing.
install_compiler() {
    can_compile && return 0
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    say "installing a C compiler and the headers of Python ..."
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends gcc libc6-dev \
        "$("$venv/bin/python" -c 'import sys; print("python%d.%d-dev" % sys.version_info[:2])')"; } >/dev/null 2>&1 \
        || say "posthouse: no C compiler could be installed; the engine runs without its compiled part"
}

# Neighbours that mail and rules are tried against. Whoever cannot install them has those tests skipped; CI has them fail.
install_neighbours() {
    local missing="" policy=/usr/sbin/policy-rc.d ours=""
    [ -x /usr/sbin/postfix ] || missing="postfix"
    # swaks speaks TLS through a module that its package only recommends.
    command -v swaks >/dev/null && perl -MNet::SSLeay -e1 2>/dev/null || missing="$missing swaks libnet-ssleay-perl"
    command -v sieve-test >/dev/null || missing="$missing dovecot-sieve"
    [ -n "$missing" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || return 0
    say "installing $missing ..."
    # No package may start a service of its own here.
    if [ ! -e "$policy" ]; then printf '#!/bin/sh\nexit 101\n' >"$policy"; chmod +x "$policy"; ours=yes; fi
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } \
        >/dev/null 2>&1 || say "posthouse: $missing could not be installed; tests that need them are skipped"
    [ -z "$ours" ] || rm -f "$policy"
}

# Two makes at once (a run and a test, say) take turns; the lock is the folder itself, so nothing is left behind.
if command -v flock >/dev/null; then exec 9<.; flock 9; fi

case "$want" in
    run) is_ready run || is_ready test || need=run ;;
    test) is_ready test || need=test ;;
    *) give_up "unknown set '$want': expected run or test" ;;
esac
[ -n "${need:-}" ] || exit 0

"$venv/bin/python" -c 'import pip' 2>/dev/null && fit "$venv/bin/python" && [ "$(cat "$venv/.place" 2>/dev/null)" = "$(pwd)" ] || make_venv
pwd >"$venv/.place"
rm -f "$venv/.run-stamp" "$venv/.test-stamp"
say "installing requirements/$want.lock ..."
pip=("$venv/bin/python" -m pip --disable-pip-version-check install -qq --no-input)
"${pip[@]}" --prefer-binary --require-hashes -r "requirements/$want.lock"
[ "$want" != test ] || install_compiler
# What was compiled from older sources must not outlive them.
find src -name '*.abi3.so' -delete
"${pip[@]}" --no-deps --no-build-isolation -e .
[ "$want" != test ] || install_neighbours
fingerprint "$want" >"$venv/.$want-stamp"
