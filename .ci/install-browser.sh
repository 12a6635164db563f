#!/usr/bin/env bash
# Installs what test/browser needs and this machine lacks: a Chromium and nginx. It takes root and apt-get; where it has
# neither it says so and goes on, and the tests skip what they cannot do, or fail with CI=true.
set -euo pipefail

has() { PATH="$PATH:/usr/sbin" command -v "$@" >/dev/null; }

missing=()
has chromium || has chromium-browser || has google-chrome-stable || has google-chrome || [ -n "${CHROMIUM_PATH:-}" ] || missing+=(chromium fonts-dejavu-core)
has nginx || missing+=(nginx)
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! has apt-get; then
  echo "Not installed: ${missing[*]}. That takes root and apt-get." >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends "${missing[@]}"
