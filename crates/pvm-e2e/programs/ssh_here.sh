#!/bin/sh
# Stands for ssh in tests of mixed machines: every computer that it reaches is this one, with a runtime folder of
# its own. Programs for s390x run in an emulator that is known in a user namespace of their own only, so
# that nothing is changed on the computer.
while [ "$1" != -- ]; do shift; done
host=$2
shift 2
export PVM_TMP="$PVM_TMP/$host"
unset PVM_ARCH PVMSOCK LD_LIBRARY_PATH
mkdir -p -m 700 "$PVM_TMP"
if [ "$host" != s390x ]; then
	eval "$*"
	exit
fi

# What an ELF file for this machine begins with, and which of the bits count.
magic='\x7fELF\x02\x02\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x16'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff'
emulator=$(command -v qemu-s390x)
export QEMU_LD_PREFIX=/usr/s390x-linux-gnu
export BINFMT=":s390x:M::$magic:$mask:$emulator:F"
exec unshare --user --map-root-user --mount sh -c '
	mount -t binfmt_misc none /proc/sys/fs/binfmt_misc &&
	printf %s "$BINFMT" >/proc/sys/fs/binfmt_misc/register &&
	eval "$1"' sh "$*"
