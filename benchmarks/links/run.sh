#!/bin/bash
# Measures links between hosts: run.sh PREFIX OUT
#
# On the hosts of `testbed hosts`, as root: a message one way between two hosts (a plain TCP connection, the same with TLS
# by rustls, the original and NeoPVM, each through the daemons and direct), the payload of a cable shaped to RATE
# (100mbit), and how long it takes to add 1 and 16 hosts. The systems take turns, round after round; printed is the
# median. Every single measurement is in OUT/links.jsonl. ROUNDS, SECONDS_EACH (per case), RATE, SIZES,
# SYSTEMS="ours original", PASSES="latency stream adding" and TLS (the program of tls.rs) may be set.
set -u
here=$(cd "$(dirname "$0")" && pwd)
tool=$here/../../xtask/hosts.sh
# shellcheck source=crates/testbed/testbed.sh
. "$here/../../crates/testbed/testbed.sh"
rounds=${ROUNDS:-3} seconds=${SECONDS_EACH:-0.5} rate=${RATE:-100mbit}
sizes=${SIZES:-8 100 1000 10000 100000 1000000}
stream_bytes=1000000 stream_count=30
others=16

# One pass per set of hosts: the outer call makes them and calls this again.
if [ -z "${LINKS_PASS:-}" ]; then
  # OUT on a folder that the hosts share, which /tmp is not.
  prefix=$(cd "$1" && pwd) && mkdir -p "$2" && out=$(cd "$2" && pwd) || exit 2
  mkdir -p "$out/ours" "$out/original"
  ${CC:-cc} -O2 -o "$out/tcp" "$here/tcp.c" && ${CC:-cc} -O2 -o "$out/line" "$here/../compare/line.c" || exit 1
  if [ -z "${TLS:-}" ]; then
    (cd "$here" && cargo build --quiet --release --package pvmd --example tls) || exit 1
    TLS=${CARGO_TARGET_DIR:-$here/../../target}/release/examples/tls
  fi
  cp "$TLS" "$out/tls" || exit 1
  systems=ours
  for source in "$here/../messages/pingpong.c" "$here/stream.c"; do
    name=$(basename "$source" .c)
    ${CC:-cc} -O2 -I"$prefix/include" -o "$out/ours/$name" "$source" -L"$prefix/lib" -Wl,-rpath,"$prefix/lib" -lpvm3 || exit 1
    if [ -e /usr/bin/pvmd ] && [ -e /usr/include/pvm3.h ]; then
      ${CC:-cc} -O2 -o "$out/original/$name" "$source" -lpvm3 || exit 1
      systems="ours original"
    fi
  done
  [ "$systems" != ours ] || echo "the original is not installed (Debian packages pvm pvm-dev): nothing to compare with"
  export PREFIX=$prefix OUT=$out SYSTEMS=${SYSTEMS:-$systems}
  : >"$out/links.jsonl"
  for pass in ${PASSES:-latency stream adding}; do
    case $pass in
      latency) on=2 ;;
      stream) on="2 $rate" ;;
      *) on=$((1 + others)) ;;
    esac
    # shellcheck disable=SC2086
    (
      testbed_hosts $on
      LINKS_PASS=$pass bash "$here/run.sh" && testbed down
    ) || exit
  done
  echo
  echo "every single measurement: $out/links.jsonl"
  exit 0
fi

# Rooms of the two systems: the original needs its places in the environment of every session.
environment() { # SYSTEM
  local root=$PREFIX
  [ "$1" = ours ] || root=/usr/lib/pvm3
  echo "HOME=$HOSTS_DIR/home PATH=$root/bin:$PATH LC_ALL=C PVM_ROOT=$root PVM_TMP=/tmp PVM_VMID=$1 PVM_ARCH=LINUX64 PVM_ALLOW_ROOT=1 PVM_RSH=/usr/bin/ssh"
}

# at HOST SYSTEM COMMAND...
at() {
  local host=$1 system=$2
  shift 2
  # shellcheck disable=SC2046
  bash "$tool" on "$host" env $(environment "$system") "$@"
}

begin() { # SYSTEM: a machine of h1 alone
  # shellcheck disable=SC2046
  bash "$tool" env $(environment "$1")
  if [ "$1" = ours ]; then
    at h1 ours pvm up >/dev/null
  else
    at h1 original sh -c 'pvmd -n$(hostname) >/tmp/ready 2>&1 & for i in $(seq 200); do [ -s /tmp/ready ] && break; sleep 0.05; done'
  fi
}

add() { # SYSTEM HOST...: and how many were added
  local system=$1
  shift
  at h1 "$system" sh -c "{ echo add $*; sleep 0.1; echo quit; } | stdbuf -oL pvm" | sed -n 's/^\([0-9]*\) successful.*/\1/p'
}

finish() { at h1 "$1" sh -c 'echo halt | pvm' >/dev/null 2>&1; }

note() { echo "$*" >>"$OUT/links.jsonl"; }

# table TITLE COLUMNS: lines "row column value" from stdin as medians, one line per row
table() {
  echo
  echo "$1"
  awk -v columns="$2" '
    { if (!($1 in seen)) { rows[++nr] = $1; seen[$1] = 1 }
      n[$1, $2]++; v[$1, $2, n[$1, $2]] = $3 }
    function median(r, c,   m, i, j, t, a) {
      m = n[r, c]; if (!m) return "-"
      for (i = 1; i <= m; i++) a[i] = v[r, c, i] + 0
      for (i = 1; i <= m; i++) for (j = i + 1; j <= m; j++) if (a[j] < a[i]) { t = a[i]; a[i] = a[j]; a[j] = t }
      return m % 2 ? a[(m + 1) / 2] : (a[m / 2] + a[m / 2 + 1]) / 2 }
    function put(x) { printf x == "-" ? " %16s" : " %16.2f", x }
    END {
      k = split(columns, c, " "); printf "%-10s", ""
      for (i = 1; i <= k; i++) printf " %16s", c[i]; print ""
      for (i = 1; i <= nr; i++) { printf "%-10s", rows[i]; for (j = 1; j <= k; j++) put(median(rows[i], c[j])); print "" } }'
}

plain() { case $1 in tcp | tls) ;; *) false ;; esac; }

ways() { # tls where it is measured
  echo tcp
  [ "$LINKS_PASS" != latency ] || echo tls
  local system
  for system in $SYSTEMS; do echo "$system-daemon $system-direct"; done
}

serve() {
  local way port=5001 try
  servers=
  trap 'kill $servers 2>/dev/null' EXIT
  for way in $(ways); do
    plain "$way" || continue
    rm -f "$OUT/$way.ready"
    bash "$tool" on h2 "$OUT/$way" serve $port >"$OUT/$way.ready" 2>&1 &
    servers="$servers $!"
    port=$((port + 1))
    for ((try = 0; try < 200; try++)); do
      grep -qs ready "$OUT/$way.ready" && continue 2
      sleep 0.05
    done
    echo "the plain connection's other end does not start: $(cat "$OUT/$way.ready")" >&2
    exit 1
  done
}

two_hosts() {
  local system
  serve
  for system in $SYSTEMS; do
    begin "$system"
    [ "$(add "$system" h2)" = 1 ] || { echo "$system: h2 could not be added" >&2; exit 1; }
  done
}

# A hypervisor moves the processors of this computer: the distance between them decides how long each way takes.
distance() {
  local us
  us=$("$OUT/line" 0.1 | cut -f1)
  note "{\"measure\":\"line\",\"us\":${us:-null}}"
  echo "$us" >>"$OUT/distances.txt"
}

latency() {
  local round bytes way system route line port
  two_hosts
  : >"$OUT/distances.txt"
  for ((round = 1; round <= rounds; round++)); do distance; for bytes in $sizes; do for way in $(ways); do
    system=${way%-*} route=${way#*-}
    if plain "$way"; then
      # bytes, trips, us, GB/s
      port=5001
      [ "$way" = tcp ] || port=5002
      line=$(at h1 ours "$OUT/$way" loop 10.77.0.2 $port "$bytes" "$seconds" | cut -f3)
    else
      line=$(at h1 "$system" timeout 60 "$OUT/$system/pingpong" -b "$bytes" -e raw -r "$route" -t "$seconds" -w h2 2>>"$OUT/errors" | cut -f4)
    fi
    note "{\"measure\":\"one_way\",\"way\":\"$way\",\"bytes\":$bytes,\"one_way_us\":${line:-null}}"
    [ -z "$line" ] || echo "$bytes $way $line"
  done; done; done >"$OUT/latency.txt"
  table "one message, one way, between two hosts, in us (median of $rounds rounds; raw encoding)" "$(ways | tr '\n' ' ')" <"$OUT/latency.txt"
  awk '{ print $1, $2, $1 / $3 / 1000 }' "$OUT/latency.txt" | table "the same in GB/s" "$(ways | tr '\n' ' ')"
  # A round's cases of one size are moments apart, so they are compared with each other.
  awk '$2 == "tcp" { tcp = $3 } $2 == "tls" { tls = $3 }
    $2 ~ /^ours-/ { print $1, $2 "/tcp", $3 / tcp; print $1, $2 "/tls", $3 / tls }' "$OUT/latency.txt" |
    table "ours as a multiple of the plain connection's time and of the TLS connection's, round by round" \
      "ours-direct/tcp ours-direct/tls ours-daemon/tcp ours-daemon/tls"
  echo
  echo "a cache line from one processor to the other, in us, before each round: $(paste -sd' ' "$OUT/distances.txt")"
  for system in $SYSTEMS; do finish "$system"; done
  return 0
}

stream() {
  local round way system route line
  two_hosts
  for ((round = 1; round <= rounds; round++)); do for way in $(ways); do
    system=${way%-*} route=${way#*-}
    if [ "$way" = tcp ]; then
      line=$(at h1 ours "$OUT/tcp" stream 10.77.0.2 5001 "$stream_bytes" "$stream_count" | cut -f3)
    else
      line=$(at h1 "$system" timeout 120 "$OUT/$system/stream" -b "$stream_bytes" -n "$stream_count" -r "$route" -w h2 2>>"$OUT/errors" | cut -f3)
    fi
    note "{\"measure\":\"stream\",\"way\":\"$way\",\"rate\":\"$rate\",\"bytes\":$((stream_bytes * stream_count)),\"mb_per_s\":${line:-null}}"
    [ -z "$line" ] || echo "MB/s $way $line"
  done; done >"$OUT/stream.txt"
  awk '{ print } { if (!($2 in n)) order[++k] = $2; n[$2]++; sum[$2] += $3 }
    END { for (i = 1; i <= k; i++) print "share", order[i], (sum[order[i]] / n[order[i]]) / (sum["tcp"] / n["tcp"]) }' "$OUT/stream.txt" |
    table "$stream_count messages of $stream_bytes bytes over a cable of $rate: MB/s of payload, and the share of the plain connection's" "$(ways | tr '\n' ' ')"
  for system in $SYSTEMS; do finish "$system"; done
  return 0
}

adding() {
  local round count system names start_s end_s added
  for ((round = 1; round <= rounds; round++)); do for count in 1 $others; do for system in $SYSTEMS; do
    names=$(seq -f 'h%g' -s ' ' 2 $((count + 1)))
    begin "$system"
    start_s=$(date +%s.%N)
    added=$(add "$system" "$names")
    end_s=$(date +%s.%N)
    finish "$system"
    # The console's own start and end are part of it.
    awk -v a="$start_s" -v b="$end_s" -v n="$added" -v c=$count -v s="$system" -v out="$OUT/links.jsonl" 'BEGIN {
      printf "{\"measure\":\"add\",\"system\":\"%s\",\"hosts\":%d,\"added\":%d,\"seconds\":%.3f}\n", s, c, n, b - a >>out
      if (n == c) printf "%d %s %.3f\n", c, s, b - a }'
  done; done; done >"$OUT/adding.txt"
  table "hosts added over ssh in one command, in s (median of $rounds rounds)" "$SYSTEMS" <"$OUT/adding.txt"
}

"$LINKS_PASS"
