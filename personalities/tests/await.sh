# SPDX-License-Identifier: MIT OR Apache-2.0
# Sourced by tests that wait for events.
#
#   await COMMAND...   returns when the command succeeds. After 30 s it calls fail, a function of the caller, with what the files
#                      out and err say, in $folder or here
await() {
    local tick
    for tick in $(seq 3000); do
        "$@" && return
        sleep 0.01
    done
    fail "waited in vain: $*: $(cat "${folder:-.}"/{out,err} 2>/dev/null)"
}
