#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image: Ubuntu 22.04 or newer.
set -euo pipefail

autograder="${AUTOGRADER:-/autograder}"
venv="${TILES_VENV:-/opt/think-in-tiles}" # outside of source: a student's program runs in it, as another user

apt-get update
apt-get install -y --no-install-recommends python3-venv bubblewrap
python3 -m venv "$venv"
"$venv/bin/python" -m pip install --no-cache-dir -r "$autograder/source/requirements.txt"

# The solution is for root alone.
chmod -R go-rwx "$autograder/source"
