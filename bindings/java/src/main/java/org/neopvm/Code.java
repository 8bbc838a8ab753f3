// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/** What went wrong, with the number and the meaning that it has in {@code pvm3.h}. */
public enum Code {
    /** An argument makes no sense. */
    BAD_PARAM(-2, "PvmBadParam", "an argument makes no sense"),
    /** Members of a group disagree. */
    MISMATCH(-3, "PvmMismatch", "members of a group disagree"),
    /** A value does not fit its encoding, or the room for it is too small. */
    OVERFLOW(-4, "PvmOverflow", "a value does not fit"),
    /** The message has fewer items left than asked for. */
    NO_DATA(-5, "PvmNoData", "the message has fewer items left"),
    /** Unknown host. */
    NO_HOST(-6, "PvmNoHost", "unknown host"),
    /** Unknown program. */
    NO_FILE(-7, "PvmNoFile", "unknown program"),
    /** Somebody else owns it. */
    DENIED(-8, "PvmDenied", "not permitted"),
    /** Out of memory. */
    NO_MEM(-10, "PvmNoMem", "out of memory"),
    /** The message cannot be read as what it should be. */
    BAD_MSG(-12, "PvmBadMsg", "the message cannot be read"),
    /** The local daemon does not answer. */
    SYS_ERR(-14, "PvmSysErr", "no daemon answers"),
    /** No current buffer. */
    NO_BUF(-15, "PvmNoBuf", "no current buffer"),
    /** No buffer of that number, or it is closed. */
    NO_SUCH_BUF(-16, "PvmNoSuchBuf", "the message is closed"),
    /** A group needs a name. */
    NULL_GROUP(-17, "PvmNullGroup", "a group needs a name"),
    /** Already a member. */
    DUP_GROUP(-18, "PvmDupGroup", "already a member of the group"),
    /** Unknown group. */
    NO_GROUP(-19, "PvmNoGroup", "unknown group"),
    /** Not a member. */
    NOT_IN_GROUP(-20, "PvmNotInGroup", "not a member of the group"),
    /** No member with that number. */
    NO_INST(-21, "PvmNoInst", "no member with that number"),
    /** A host went away. */
    HOST_FAIL(-22, "PvmHostFail", "a host went away"),
    /** Not a spawned task. */
    NO_PARENT(-23, "PvmNoParent", "no parent task"),
    /** Not available. */
    NOT_IMPL(-24, "PvmNotImpl", "not available here"),
    /** The daemon failed. */
    D_SYS_ERR(-25, "PvmDSysErr", "the daemon failed"),
    /** Library and daemon do not fit together. */
    BAD_VERSION(-26, "PvmBadVersion", "library and daemon do not fit together"),
    /** A table is full, or too much waits unread. */
    OUT_OF_RES(-27, "PvmOutOfRes", "too much waits, or a limit is reached"),
    /** The host is a member already. */
    DUP_HOST(-28, "PvmDupHost", "the host is a member already"),
    /** The daemon could not be started. */
    CANT_START(-29, "PvmCantStart", "the daemon could not be started"),
    /** Under way already. */
    ALREADY(-30, "PvmAlready", "under way already"),
    /** Unknown task. */
    NO_TASK(-31, "PvmNoTask", "unknown task, or it is gone"),
    /** No such entry. */
    NOT_FOUND(-32, "PvmNotFound", "no such entry"),
    /** The entry exists. */
    EXISTS(-33, "PvmExists", "the entry exists"),
    /** A hoster belongs on the first host. */
    HOSTER_NOT_MASTER(-34, "PvmHostrNMstr", "a hoster belongs on the first host"),
    /** The spawner asked not to be told. */
    PARENT_NOT_SET(-35, "PvmParentNotSet", "the parent is not told"),
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

    /** The negative number of {@code pvm3.h}. */
    public int number() {
        return number;
    }

    /** The name in {@code pvm3.h}. */
    public String historicName() {
        return historicName;
    }

    /** What it means, in words. */
    public String text() {
        return text;
    }

    /** The code of a negative result; {@link #D_SYS_ERR} for a number that {@code pvm3.h} does not have. */
    public static Code of(int number) {
        for (Code code : values()) {
            if (code.number == number) {
                return code;
            }
        }
        return D_SYS_ERR;
    }
}
