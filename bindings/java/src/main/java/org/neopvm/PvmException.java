// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * A call has failed. The text says which operation failed, with the task and the tag, and why;
 * {@link #code} returns the reason for programs.
 */
public class PvmException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final Code code;

    /**
     * @param code the reason
     * @param what the operation that failed, with its task and tag if there are any
     */
    public PvmException(Code code, String what) {
        this(code, what, null);
    }

    /**
     * @param code the reason
     * @param what the operation that failed
     * @param cause the cause, or null
     */
    public PvmException(Code code, String what, Throwable cause) {
        super(what + ": " + code.text() + " (" + code.historicName() + ")", cause);
        this.code = code;
    }

    /** Returns the reason. */
    public final Code code() {
        return code;
    }
}
