// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

/** The numbers of {@code pvm3.h} under their names there. They can be used in a switch. */
public interface PVMConstants {
    /** Success. */
    int PvmOk = 0;
    /** An argument is invalid. */
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
    /** Another task owns the object. */
    int PvmDenied = -8;
    /** Out of memory. */
    int PvmNoMem = -10;
    /** The message cannot be decoded. */
    int PvmBadMsg = -12;
    /** The local daemon does not answer. */
    int PvmSysErr = -14;
    /** No current buffer. */
    int PvmNoBuf = -15;
    /** No buffer has this number. */
    int PvmNoSuchBuf = -16;
    /** A group needs a name. */
    int PvmNullGroup = -17;
    /** Already a member. */
    int PvmDupGroup = -18;
    /** Unknown group. */
    int PvmNoGroup = -19;
    /** Not a member. */
    int PvmNotInGroup = -20;
    /** No member has this instance number. */
    int PvmNoInst = -21;
    /** A host failed or left. */
    int PvmHostFail = -22;
    /** Not a spawned task. */
    int PvmNoParent = -23;
    /** Not available. */
    int PvmNotImpl = -24;
    /** The daemon failed. */
    int PvmDSysErr = -25;
    /** The library and the daemon have different versions. */
    int PvmBadVersion = -26;
    /** A table is full. */
    int PvmOutOfRes = -27;
    /** The host is a member already. */
    int PvmDupHost = -28;
    /** The daemon could not be started. */
    int PvmCantStart = -29;
    /** Already in progress or already done. */
    int PvmAlready = -30;
    /** Unknown task. */
    int PvmNoTask = -31;
    /** No such entry. */
    int PvmNotFound = -32;
    /** The entry exists. */
    int PvmExists = -33;
    /** A hoster must run on the first host. */
    int PvmHostrNMstr = -34;
    /** The task was spawned with PvmNoSpawnParent. */
    int PvmParentNotSet = -35;
    /** The first host is known as a loopback address. */
    int PvmIPLoopback = -36;

    /** Encoding: readable by every architecture. */
    int PvmDataDefault = 0;
    /** Encoding: bytes as they are in memory. */
    int PvmDataRaw = 1;
    /** Encoding for C programs only; {@link PVMMessageBuffer#makeBuffer(int)} refuses it. */
    int PvmDataInPlace = 2;

    /** Spawn: on hosts that the machine chooses. */
    int PvmTaskDefault = 0;
    /** Spawn: on the named host. */
    int PvmTaskHost = 1;
    /** Spawn: on hosts of the named architecture. */
    int PvmTaskArch = 2;
    /** Spawn: under a debugger. */
    int PvmTaskDebug = 4;
    /** Spawn: with tracing. */
    int PvmTaskTrace = 8;
    /** Spawn: on the front end of a parallel computer. */
    int PvmMppFront = 16;
    /** Spawn: on all hosts except those. */
    int PvmHostCompl = 32;
    /** Spawn: the task does not learn its parent's id. */
    int PvmNoSpawnParent = 64;

    /** Notify: when a task ends. */
    int PvmTaskExit = 1;
    /** Notify: when a host leaves. */
    int PvmHostDelete = 2;
    /** Notify: when hosts are added. */
    int PvmHostAdd = 3;
    /** Added to one of those kinds: withdraws the request. */
    int PvmNotifyCancel = 256;
}
