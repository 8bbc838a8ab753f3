// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

/** The numbers of {@code pvm3.h}, under the names that they have there; usable in a switch. */
public interface PVMConstants {
    /** Done. */
    int PvmOk = 0;
    /** An argument makes no sense. */
    int PvmBadParam = -2;
    /** Members of a group disagree. */
    int PvmMismatch = -3;
    /** A value does not fit its encoding. */
    int PvmOverflow = -4;
    /** Unpacking beyond the end of the message. */
    int PvmNoData = -5;
    /** Unknown host. */
    int PvmNoHost = -6;
    /** Unknown program. */
    int PvmNoFile = -7;
    /** Somebody else owns it. */
    int PvmDenied = -8;
    /** Out of memory. */
    int PvmNoMem = -10;
    /** Undecodable message. */
    int PvmBadMsg = -12;
    /** The local daemon does not answer. */
    int PvmSysErr = -14;
    /** No current buffer. */
    int PvmNoBuf = -15;
    /** No buffer of that number. */
    int PvmNoSuchBuf = -16;
    /** A group needs a name. */
    int PvmNullGroup = -17;
    /** Already a member. */
    int PvmDupGroup = -18;
    /** Unknown group. */
    int PvmNoGroup = -19;
    /** Not a member. */
    int PvmNotInGroup = -20;
    /** No member with that number. */
    int PvmNoInst = -21;
    /** A host went away. */
    int PvmHostFail = -22;
    /** Not a spawned task. */
    int PvmNoParent = -23;
    /** Not available. */
    int PvmNotImpl = -24;
    /** The daemon failed. */
    int PvmDSysErr = -25;
    /** Library and daemon do not fit together. */
    int PvmBadVersion = -26;
    /** A table is full. */
    int PvmOutOfRes = -27;
    /** The host is a member already. */
    int PvmDupHost = -28;
    /** The daemon could not be started. */
    int PvmCantStart = -29;
    /** Under way already. */
    int PvmAlready = -30;
    /** Unknown task. */
    int PvmNoTask = -31;
    /** No such entry. */
    int PvmNotFound = -32;
    /** The entry exists. */
    int PvmExists = -33;
    /** A hoster belongs on the first host. */
    int PvmHostrNMstr = -34;
    /** The spawner asked not to be told. */
    int PvmParentNotSet = -35;
    /** The first host is known as a loopback address. */
    int PvmIPLoopback = -36;

    /** Encoding: readable by every architecture. */
    int PvmDataDefault = 0;
    /** Encoding: bytes as they are. */
    int PvmDataRaw = 1;
    /** Encoding of C programs alone; {@link PVMMessageBuffer#makeBuffer(int)} refuses it. */
    int PvmDataInPlace = 2;

    /** Spawn: where the machine likes. */
    int PvmTaskDefault = 0;
    /** Spawn: on a host. */
    int PvmTaskHost = 1;
    /** Spawn: on an architecture. */
    int PvmTaskArch = 2;
    /** Spawn: under a debugger. */
    int PvmTaskDebug = 4;
    /** Spawn: with tracing. */
    int PvmTaskTrace = 8;
    /** Spawn: on the front end of a parallel computer. */
    int PvmMppFront = 16;
    /** Spawn: anywhere but there. */
    int PvmHostCompl = 32;
    /** Spawn: the task is not told who its parent is. */
    int PvmNoSpawnParent = 64;

    /** Notify: when a task ends. */
    int PvmTaskExit = 1;
    /** Notify: when a host leaves. */
    int PvmHostDelete = 2;
    /** Notify: when hosts come. */
    int PvmHostAdd = 3;
    /** Added to one of those: not any more. */
    int PvmNotifyCancel = 256;
}
