#!/usr/bin/env bash
# Installs what tests of several nodes need and this machine lacks: PostgreSQL's programs, PgBouncer and HAProxy. It takes
# root and apt-get; where it has neither it says so and goes on, and the tests skip what they cannot do, or fail with
# CI=true.
set -euo pipefail

has() { PATH="$PATH:/usr/sbin" command -v "$@" >/dev/null; }
has_postgres() { has initdb || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }

missing=()
has_postgres || missing+=(postgresql)
has pgbouncer || missing+=(pgbouncer)
has haproxy || missing+=(haproxy)
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -ne 0 ] || ! has apt-get; then
  echo "Not installed: ${missing[*]}. That takes root and apt-get." >&2
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
if ! has_postgres; then
  # The tests start their own: none is to be made, and started, because it is installed.
  apt-get install -y -qq --no-install-recommends postgresql-common
  sed -ri 's/^#?create_main_cluster .*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
fi
apt-get install -y -qq --no-install-recommends "${missing[@]}"
