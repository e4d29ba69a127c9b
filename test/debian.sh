#!/usr/bin/env bash
# Installs what the tests need from Debian (pty pairs, DCMTK, Chromium, PostgreSQL, wine ...) where it is missing. Without a part, the
# tests that need it print that they were left out.
set -euo pipefail

install() {
  command -v apt-get >/dev/null 2>&1 || return 0
  apt-get update -qq >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $1 >/dev/null || echo "$1 could not be installed: $2"
}

command -v socat >/dev/null 2>&1 || install socat "the pty tests will say so"
command -v storescu >/dev/null 2>&1 || install dcmtk "the tests against DCMTK will say so"
command -v gdcmconv >/dev/null 2>&1 || install libgdcm-tools "the tests of JPEG 2000 will say so"
command -v chromium-headless-shell >/dev/null 2>&1 || install chromium-headless-shell "the dashboard's browser tests will say so"
command -v pdftotext >/dev/null 2>&1 || install poppler-utils "the tests of printed reports will say so"
command -v promtool >/dev/null 2>&1 || install "--no-install-recommends prometheus" "the alert rules are not tried"
for name in patroni etcd tini; do
  command -v $name >/dev/null 2>&1 || { install "--no-install-recommends patroni python3-etcd etcd-server tini" "no primary of a cluster is killed"; break; }
done
command -v pgbouncer >/dev/null 2>&1 || [ -x /usr/sbin/pgbouncer ] || install pgbouncer "no pooler is tried"
command -v haproxy >/dev/null 2>&1 || install haproxy "no primary of a cluster is killed"
command -v strace >/dev/null 2>&1 || install strace "the power-cut tests will say so"
compgen -G "/usr/lib/postgresql/*/bin/initdb" >/dev/null || command -v initdb >/dev/null 2>&1 ||
  install postgresql "the server is tested on SQLite only"

command -v systemd-analyze >/dev/null 2>&1 || install systemd "the units of the services are not judged"
command -v wine >/dev/null 2>&1 || install "--no-install-recommends wine wine64" "the Windows package is not tried"
command -v wixl >/dev/null 2>&1 || install "--no-install-recommends wixl msitools" "the Windows package is not made"
command -v minisign >/dev/null 2>&1 || install minisign "the signature tests will say so"
command -v apt-ftparchive >/dev/null 2>&1 || install "--no-install-recommends apt-utils gpg" "the apt repository is not tried"
command -v gh >/dev/null 2>&1 || install "--no-install-recommends gh" "no draft of a release is tried"
command -v osslsigncode >/dev/null 2>&1 || install osslsigncode "the Authenticode test will say so"
command -v mmdebstrap >/dev/null 2>&1 || install mmdebstrap "the packages are not installed in a chroot"
command -v systemd-nspawn >/dev/null 2>&1 || install "--no-install-recommends systemd-container" "the packages are not tried in booted systems"
command -v podman >/dev/null 2>&1 || install "--no-install-recommends podman runc fuse-overlayfs" "the image is not run"

