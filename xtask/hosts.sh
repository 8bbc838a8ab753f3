#!/bin/bash
# Several hosts on this computer, each with a network, name, process table, /tmp, ~/.ssh and sshd of its own.
#
#   hosts.sh run N [RATE[,BURST,LIMIT]] -- COMMAND...
#                                         makes hosts h1 .. hN on one switch, runs COMMAND with HOSTS_DIR in its environment
#                                         and takes everything away; RATE (100mbit) shapes every cable both ways
#
# COMMAND, and what it starts, says:
#
#   hosts.sh on hK COMMAND...             runs COMMAND on hK, without ssh; ends with its status
#   hosts.sh switch COMMAND...            runs COMMAND where all cables end (s1 .. sN)
#   hosts.sh env NAME=value...            what every later session on the hosts has in its environment besides PATH and HOME
#   hosts.sh cut hK | heal hK             takes the cable out, puts it back
#   hosts.sh crash hK                     every process there dies, the network still answers
#   hosts.sh power-off hK                 the cable first, then every process
#   hosts.sh boot hK                      sshd again after a crash or power-off, with an empty /tmp
#   hosts.sh lossy hK PERCENT             that share of the packets that reach hK is lost (0: none, 100: it is deaf)
#   hosts.sh nat hK                       hK moves behind a router of its own: it reaches all, only its port 22 is reached
#   hosts.sh rate hK RATE [BURST LIMIT]   shapes the cable anew (none: as fast as it goes): BURST may go at once (16kb), LIMIT may
#                                         wait (25 ms' worth), more is dropped. With both, packets go one by one as on a
#                                         real cable: 10mbit 1600 256kb takes 54 ms for 64 KiB and drops nothing of it
#
# The hosts reach one another by name and without a password, as the same user with the same files elsewhere. Each host reads
# $HOSTS_DIR/hK/hosts as /etc/hosts and $HOSTS_DIR/hK/ssh as ~/.ssh. Root is needed, and ip, nft, unshare, sshd and ssh;
# where something is missing it is named and the status is 77. Only a folder below /var/tmp is written.
set -u

NET=10.77.0 # nobody outside sees it
PATH=$PATH:/usr/sbin:/sbin

skip() {
  echo "skipped: real hosts need $1" >&2
  exit 77
}

needed() {
  [ "$(id -u)" = 0 ] || skip "root"
  local pair
  for pair in ip:iproute2 tc:iproute2 nft:nftables sshd:openssh-server ssh:openssh-client ssh-keygen:openssh-client unshare:util-linux nsenter:util-linux; do
    command -v "${pair%%:*}" >/dev/null || skip "${pair%%:*} (apt install ${pair##*:})"
  done
  unshare --net --uts --pid --mount --fork true 2>/dev/null || skip "the right to make namespaces"
}

# What a run that was killed has left behind: its names carry its process id.
sweep() {
  local space pid folder
  ip netns list | cut -d' ' -f1 | while read -r space; do
    [[ $space =~ ^nvh([0-9]+)(sw|h[0-9]+|r[0-9]+)$ ]] || continue
    pid=${BASH_REMATCH[1]}
    kill -0 "$pid" 2>/dev/null && continue
    ip netns pids "$space" | xargs -r kill -9
    ip netns del "$space"
  done
  for folder in /var/tmp/neopvm-hosts.*; do
    [ -d "$folder" ] || continue
    pid=${folder#*hosts.}
    kill -0 "${pid%.*}" 2>/dev/null || rm -rf "$folder"
  done
}

# cable HOST-SPACE NAME-THERE END-AT-THE-SWITCH
cable() {
  ip link add "$3x" netns "$1" type veth peer name "$3" netns "${PRE}sw"
  ip -n "$1" link set "$3x" name "$2"
  ip -n "${PRE}sw" link set "$3" master br0
  ip -n "${PRE}sw" link set "$3" up
  ip -n "$1" link set "$2" up
}

shape() { # HOST-SPACE END-AT-THE-SWITCH RATE [BURST LIMIT]
  local end space device queue="burst ${4:-16kb} latency 25ms" segments=65535
  [ -z "${5:-}" ] || { queue="burst $4 limit $5" && segments=1; }
  for end in "$1 eth0" "${PRE}sw $2"; do
    read -r space device <<<"$end"
    tc -n "$space" qdisc del dev "$device" root 2>/dev/null
    # The kernel hands over many segments as one, which goes or is dropped as one.
    ip -n "$space" link set dev "$device" gso_max_segs "$segments"
    case $3 in none | '') continue ;; esac
    # shellcheck disable=SC2086
    tc -n "$space" qdisc add dev "$device" root tbf rate "$3" $queue
  done
}

account() { # HOST: its own ~/.ssh, hosts file and sshd configuration
  local own=$HOSTS_DIR/$1 n
  mkdir -p "$own/ssh"
  cp "$HOSTS_DIR"/keys/id_ed25519 "$HOSTS_DIR"/keys/id_ed25519.pub "$HOSTS_DIR/keys/known_hosts" "$own/ssh/"
  cp "$HOSTS_DIR/keys/id_ed25519.pub" "$own/ssh/authorized_keys"
  # The key exchange that ssh prefers resists quantum computers, and takes most of its processor time.
  printf 'LogLevel ERROR\nCheckHostIP no\nKexAlgorithms curve25519-sha256\n' >"$own/ssh/config"
  : >"$own/ssh/environment"
  chmod 700 "$own/ssh" && chmod 600 "$own"/ssh/*
  echo '127.0.0.1 localhost' >"$own/hosts"
  for ((n = 1; n <= HOSTS; n++)); do echo "$NET.$n h$n"; done >>"$own/hosts"
  : >"$own/resolv"
  cat >"$own/sshd_config" <<-C
	Port 22
	HostKey $HOSTS_DIR/keys/host
	PermitRootLogin yes
	PasswordAuthentication no
	KbdInteractiveAuthentication no
	PermitUserEnvironment yes
	StrictModes no
	UsePAM no
	UseDNS no
	MaxStartups 200
	AuthorizedKeysFile $USER_HOME/.ssh/authorized_keys
	PidFile none
	C
}

# boot HOST: its processes start with sshd, which is the first of them
boot() {
  local own=$HOSTS_DIR/$1 kept='' place holder child i
  # What every host must see although it lies in the folder that is each host's own.
  for place in "$(cd "$(dirname "$0")/.." && pwd)" "${NEOPVM_PREFIX:-}"; do
    case $place in /tmp/*) kept="$kept $place" ;; esac
  done
  ip netns exec "$PRE$1" unshare --uts --pid --fork --kill-child --mount-proc bash -c "
    hostname $1
    for place in $kept; do
      mkdir -p $own\$place && mount --bind \$place $own\$place
    done
    mount -t tmpfs none /tmp && chmod 1777 /tmp
    for place in $kept; do
      mkdir -p \$place && mount --bind $own\$place \$place
    done
    mount --bind $own/hosts /etc/hosts
    mount --bind $own/resolv /etc/resolv.conf
    mount --bind $own/ssh $USER_HOME/.ssh
    exec $(command -v sshd) -D -e -f $own/sshd_config" </dev/null >>"$own/sshd.log" 2>&1 &
  holder=$!
  disown $holder # or the shell would report how it ended
  for ((i = 0; i < 500; i++)); do
    if ip netns exec "$PRE$1" ss -Hltn 'sport = :22' | grep -q LISTEN; then
      # Only now: before it is unshare, the holder is a shell with other children.
      child=$(cat "/proc/$holder/task/$holder/children" 2>/dev/null)
      [ -n "$child" ] && echo "${child%% *}" >"$own/pid" && return 0
    fi
    sleep 0.02
  done
  echo "host $1 does not start: $(tail -n 3 "$own/sshd.log")" >&2
  return 1
}

up() { # RATE[,BURST,LIMIT]
  local k rate
  IFS=, read -ra rate <<<"$1"
  ip netns add "${PRE}sw"
  ip -n "${PRE}sw" link add br0 type bridge
  ip -n "${PRE}sw" link set br0 up
  for ((k = 1; k <= HOSTS; k++)); do
    ip netns add "${PRE}h$k"
    ip -n "${PRE}h$k" link set lo up
    cable "${PRE}h$k" eth0 "s$k"
    ip -n "${PRE}h$k" addr add "$NET.$k/24" dev eth0
    [ -z "$1" ] || shape "${PRE}h$k" "s$k" "${rate[@]}"
    account "h$k"
  done
  for ((k = 1; k <= HOSTS; k++)); do boot "h$k" || return 1; done
}

crash() {
  local pid
  pid=$(cat "$HOSTS_DIR/$1/pid" 2>/dev/null) || return 0
  kill -9 "$pid" 2>/dev/null
  rm -f "$HOSTS_DIR/$1/pid"
  while [ -e "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null; do sleep 0.01; done
}

down() {
  local k
  for ((k = 1; k <= HOSTS; k++)); do crash "h$k"; done
  for ((k = 1; k <= HOSTS; k++)); do
    ip netns del "${PRE}h$k" 2>/dev/null
    ip netns del "${PRE}r$k" 2>/dev/null
  done
  ip netns del "${PRE}sw" 2>/dev/null
  rm -rf "$HOSTS_DIR"
}

# nat HOST: its address on the switch goes to a router; port 22 leads on to the host, nothing else does
nat() {
  local k=${1#h} router=${PRE}r${1#h}
  ip -n "${PRE}sw" link del "s$k"
  ip netns add "$router"
  ip -n "$router" link set lo up
  cable "$router" eth0 "s$k"
  ip -n "$router" addr add "$NET.$k/24" dev eth0
  ip link add inside netns "$router" type veth peer name eth0 netns "$PRE$1"
  ip -n "$router" addr add 192.168.77.1/24 dev inside
  ip -n "$router" link set inside up
  ip -n "$PRE$1" addr add 192.168.77.2/24 dev eth0
  ip -n "$PRE$1" link set eth0 up
  ip -n "$PRE$1" route add default via 192.168.77.1
  ip netns exec "$router" sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
  ip netns exec "$router" nft "
    table ip nat {
      chain pre { type nat hook prerouting priority -100; iif eth0 tcp dport 22 dnat to 192.168.77.2; }
      chain post { type nat hook postrouting priority 100; oif eth0 masquerade; }
    }
    table ip filter {
      chain forward {
        type filter hook forward priority 0; policy drop;
        iif inside accept
        ct state established,related accept
        ct status dnat accept
      }
    }"
  # The address has another card now.
  for ((k = 1; k <= HOSTS; k++)); do ip -n "${PRE}h$k" neigh flush all; done
}

inside() { # COMMAND OPERAND...: on the hosts that a run made
  local command=$1 host=${2:-} own
  [ -d "${HOSTS_DIR:-}" ] || { echo "hosts.sh: $command: not inside of 'hosts.sh run'" >&2; exit 2; }
  # shellcheck source=/dev/null
  . "$HOSTS_DIR/state"
  shift
  case $command in
    switch) exec ip netns exec "${PRE}sw" setpriv --pdeathsig KILL "$host" "${@:2}" ;;
    env) printf '%s\n' "$@" | tee "$HOSTS_DIR"/h*/ssh/environment >/dev/null && return ;;
  esac
  shift
  own=$HOSTS_DIR/$host
  [ -d "$own" ] || { echo "hosts.sh: there is no host '$host'" >&2; exit 2; }
  case $command in
    on)
      local words=() pid
      { read -r pid <"$own/pid"; } 2>/dev/null || { echo "hosts.sh: $host is down" >&2; exit 2; }
      mapfile -t words <"$own/ssh/environment"
      exec nsenter --target "$pid" --net --mount --uts --pid -- setpriv --pdeathsig KILL \
        env -i -C "$HOSTS_DIR/home" HOSTS_DIR="$HOSTS_DIR" PATH="$PATH" HOME="$HOSTS_DIR/home" USER=root LOGNAME=root SHELL=/bin/bash LC_ALL=C "${words[@]}" "$@"
      ;;
    cut) ip -n "$PRE$host" link set eth0 down ;;
    heal) ip -n "$PRE$host" link set eth0 up ;;
    crash) crash "$host" ;;
    power-off) ip -n "$PRE$host" link set eth0 down && crash "$host" ;;
    boot) ip -n "$PRE$host" link set eth0 up && boot "$host" ;;
    lossy)
      ip netns exec "$PRE$host" nft delete table inet loss 2>/dev/null
      local some="numgen random mod 100 < $1"
      [ "$1" != 100 ] || some= # nft knows no hundredth of a hundred
      [ "$1" = 0 ] || ip netns exec "$PRE$host" nft "table inet loss {
        chain in { type filter hook input priority 0; iif eth0 $some drop; }; }"
      ;;
    nat) nat "$host" ;;
    rate) shape "$PRE$host" "s${host#h}" "$@" ;;
    *) echo "hosts.sh: what is '$command'?" >&2; exit 2 ;;
  esac
}

run() {
  local rate='' status
  HOSTS=$1
  shift
  [ "$1" = -- ] || { rate=$1; shift; }
  shift
  needed
  sweep
  PRE=nvh$$
  USER_HOME=$(getent passwd root | cut -d: -f6)
  export HOSTS_DIR
  HOSTS_DIR=$(mktemp -d "/var/tmp/neopvm-hosts.$$.XXXXXX") || exit 2
  trap down EXIT
  trap 'exit 130' INT TERM HUP
  mkdir -p /run/sshd "$USER_HOME/.ssh" "$HOSTS_DIR/keys" "$HOSTS_DIR/home"
  chmod 700 "$HOSTS_DIR" "$USER_HOME/.ssh"
  ssh-keygen -q -t ed25519 -N '' -f "$HOSTS_DIR/keys/id_ed25519"
  ssh-keygen -q -t ed25519 -N '' -f "$HOSTS_DIR/keys/host"
  echo "* $(cut -d' ' -f1,2 "$HOSTS_DIR/keys/host.pub")" >"$HOSTS_DIR/keys/known_hosts"
  printf 'PRE=%s HOSTS=%s USER_HOME=%s\n' "$PRE" "$HOSTS" "$USER_HOME" >"$HOSTS_DIR/state"
  up "$rate" || exit 1
  bash "$0" env "HOME=$HOSTS_DIR/home"
  "$@"
  status=$?
  exit $status
}

case ${1:-} in
  run)
    [ $# -gt 3 ] || { echo "usage: hosts.sh run N [RATE[,BURST,LIMIT]] -- COMMAND..." >&2; exit 2; }
    shift
    run "$@"
    ;;
  '') sed -n '2,27s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
  *) inside "$@" ;;
esac
