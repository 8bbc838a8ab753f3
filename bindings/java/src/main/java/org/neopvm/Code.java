// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/** The results of failed calls, with their numbers and meanings in {@code pvm3.h}. */
public enum Code {
    /** An argument is invalid. */
    BAD_PARAM(-2, "PvmBadParam", "an argument is invalid"),
    /** Members of a group disagree. */
    MISMATCH(-3, "PvmMismatch", "members of a group disagree"),
    /** A value does not fit its encoding, or the memory for it is too small. */
    OVERFLOW(-4, "PvmOverflow", "a value does not fit"),
    /** The message has fewer items left than asked for. */
    NO_DATA(-5, "PvmNoData", "the message has fewer items left"),
    /** Unknown host. */
    NO_HOST(-6, "PvmNoHost", "unknown host"),
    /** Unknown program. */
    NO_FILE(-7, "PvmNoFile", "unknown program"),
    /** Another task owns the object. */
    DENIED(-8, "PvmDenied", "not permitted"),
    /** Out of memory. */
    NO_MEM(-10, "PvmNoMem", "out of memory"),
    /** The message cannot be decoded. */
    BAD_MSG(-12, "PvmBadMsg", "the message cannot be read"),
    /** The local daemon does not answer. */
    SYS_ERR(-14, "PvmSysErr", "no daemon answers"),
    /** No current buffer. */
    NO_BUF(-15, "PvmNoBuf", "no current buffer"),
    /** No buffer has this number, or the message is closed. */
    NO_SUCH_BUF(-16, "PvmNoSuchBuf", "the message is closed"),
    /** A group needs a name. */
    NULL_GROUP(-17, "PvmNullGroup", "a group needs a name"),
    /** Already a member. */
    DUP_GROUP(-18, "PvmDupGroup", "already a member of the group"),
    /** Unknown group. */
    NO_GROUP(-19, "PvmNoGroup", "unknown group"),
    /** Not a member. */
    NOT_IN_GROUP(-20, "PvmNotInGroup", "not a member of the group"),
    /** No member has this instance number. */
    NO_INST(-21, "PvmNoInst", "no member has this instance number"),
    /** A host failed or left. */
    HOST_FAIL(-22, "PvmHostFail", "a host failed or left"),
    /** Not a spawned task. */
    NO_PARENT(-23, "PvmNoParent", "no parent task"),
    /** Not available. */
    NOT_IMPL(-24, "PvmNotImpl", "not available here"),
    /** The daemon failed. */
    D_SYS_ERR(-25, "PvmDSysErr", "the daemon failed"),
    /** The library and the daemon have different versions. */
    BAD_VERSION(-26, "PvmBadVersion", "the library and the daemon have different versions"),
    /** A table is full, or too much is unread. */
    OUT_OF_RES(-27, "PvmOutOfRes", "too much is unread, or a limit is reached"),
    /** The host is a member already. */
    DUP_HOST(-28, "PvmDupHost", "the host is a member already"),
    /** The daemon could not be started. */
    CANT_START(-29, "PvmCantStart", "the daemon could not be started"),
    /** Already in progress or already done. */
    ALREADY(-30, "PvmAlready", "already in progress or already done"),
    /** Unknown task. */
    NO_TASK(-31, "PvmNoTask", "the task does not exist or has ended"),
    /** No such entry. */
    NOT_FOUND(-32, "PvmNotFound", "there is no such entry"),
    /** The entry exists. */
    EXISTS(-33, "PvmExists", "the entry exists already"),
    /** A hoster must run on the first host. */
    HOSTER_NOT_MASTER(-34, "PvmHostrNMstr", "a hoster must run on the first host"),
    /** The task was spawned with PvmNoSpawnParent. */
    PARENT_NOT_SET(-35, "PvmParentNotSet", "the task was spawned with PvmNoSpawnParent"),
    /** The first host is known as a loopback address. */
    IP_LOOPBACK(-36, "PvmIPLoopback", "the first host has a loopback address");

    private final int number;
    private final String historicName;
    private final String text;

    Code(int number, String historicName, String text) {
        this.number = number;
        this.historicName = historicName;
        this.text = text;
    }

    /** Returns the negative number of {@code pvm3.h}. */
    public int number() {
        return number;
    }

    /** Returns the name in {@code pvm3.h}. */
    public String historicName() {
        return historicName;
    }

    /** Returns a text that describes the code. */
    public String text() {
        return text;
    }

    /**
     * Returns the code of a negative result, or {@link #D_SYS_ERR} for a number that {@code pvm3.h}
     * does not have.
     */
    public static Code of(int number) {
        for (Code code : values()) {
            if (code.number == number) {
                return code;
            }
        }
        return D_SYS_ERR;
    }
}
