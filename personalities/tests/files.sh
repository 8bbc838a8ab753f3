# SPDX-License-Identifier: MIT OR Apache-2.0
# files.sh: files in which a job's ranks are wrong, by the starter of each interface. What is told is the file, the line and
# what was expected there, or the host and the command that adds it; nothing is started. A file that is none, and one of
# random bytes, are refused within seconds, and no control character of them reaches the terminal. PVM is the command, TREE
# the installation.
set -u
folder=$(mktemp -d) && cd "$folder" || exit 2
trap 'cd /; rm -rf "$folder"' EXIT
failures=0 runs=0
fail() {
    echo "$*: $(head -c 300 err)"
    failures=$((failures + 1))
}
printf '#!/bin/sh\ntouch %s/started\n' "$folder" >program
chmod +x program

start() { # NAME FILE: the interface's own way
    case $1 in
        cps) timeout 100 "$TREE/libexec/neopvm/bin/cps" "$2" ;;
        parallel) cp -P "$2" program.p 2>err && timeout 100 "$TREE/libexec/neopvm/bin/parallel" program ;;
        *) timeout 100 "$PVM" run --quiet --as "$1" --hosts "$2" ./program ;;
    esac >out 2>err </dev/null
}

refused() { # NAME FILE TEXT...: each of them is told
    local name=$1 file=$2 status text
    shift 2
    runs=$((runs + 1))
    start "$name" "$file"
    status=$?
    case $status in 1 | 2) ;; *) fail "$name, $file: status $status" ;; esac
    for text in "$@"; do grep -q -- "$text" err || fail "$name, $file: not told: $text"; done
    ! LC_ALL=C grep -q "[$(printf '\001-\010\013-\037')]" err || fail "$name, $file: control characters are told"
    [ ! -e started ] || fail "$name, $file: something was started"
    rm -f started program.p
}

wrong_lines() { # NAME GOOD EXPECTED LINE...: a good line, and then each of these
    local name=$1 good=$2 expected=$3 line
    shift 3
    for line in "$@"; do
        printf '# what runs where\n%s\n%b\n' "$good" "$line" >wrong
        refused "$name" wrong "\(wrong\|program.p\):3: \`" "expected .*$expected"
    done
}

for name in nx express mpl cmmd vertex mpsc; do
    wrong_lines $name 'localhost 1' 'host \[N\]' 'localhost 0' 'localhost -1' 'localhost 2147483648' 'localhost one' 'localhost 1 2' 'a b\0033[31m'
    printf 'localhost 1\nnowhere 1\n' >hosts
    refused $name hosts 'hosts:2: no host nowhere' 'pvm add nowhere'
done
wrong_lines p4 'local 1' 'host N path' 'local 1' 'localhost 1' 'localhost 0 p' 'localhost 99999999999 p' 'localhost 1 p login more'
printf 'localhost 1 p\n' >hosts
refused p4 hosts 'hosts:1:' 'expected .*local N'
wrong_lines tcgmsg "u localhost 1 program $folder" 'user host N path folder' 'u localhost 1 p' 'u localhost 0 p /' 'u localhost -7 p /' 'u localhost 1 p / more'
wrong_lines parallel "u localhost 1 program $folder" 'user host N path folder' 'u localhost 1 p' 'localhost 1 p /'
wrong_lines cps "c 1 local $folder/program" 'CLASS COUNT HOST PROGRAM' 'c 1 local' 'c 0 local p' 'c -1 local p' 'c 16385 local p' 'c 99999999999999999999 local p' '\0033[31m <b>'
printf 'c 1 local %s/program\nc 1 nowhere p\n' "$folder" >hosts
refused cps hosts 'no host nowhere' 'pvm add nowhere'
printf 'u nowhere 1 program %s\n' "$folder" >hosts
refused parallel hosts 'program.p:1: no host nowhere' 'pvm add nowhere'

mkdir folder && ln -s self self && truncate -s 1G sparse && head -c 20000 /dev/urandom >random
for name in nx p4 tcgmsg cps; do
    refused $name no-such-file no-such-file
    refused $name folder folder
    refused $name self self
    refused $name sparse 'sparse: more than 4 MiB'
    refused $name random random
    refused $name /dev/zero /dev/zero
done
mkfifo pipe
refused cps pipe 'pipe: cannot be read, or is no file'
{ echo 'c 1 local p'; head -c 1000000 /dev/zero | tr '\0' x; } >long
refused cps long 'long:2:'
[ "$(wc -c <err)" -lt 1000 ] || fail "a line of a megabyte is told whole"
echo "$runs files were refused"
[ $failures -eq 0 ]
