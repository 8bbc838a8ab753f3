// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

/**
 * A call failed. The text says what was tried, with which task and tag, and why it failed; {@link #code} is for
 * programs.
 */
public class PvmException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final Code code;

    /**
     * @param code why
     * @param what what was tried, with the task and the tag where there are such
     */
    public PvmException(Code code, String what) {
        this(code, what, null);
    }

    /**
     * @param code why
     * @param what what was tried
     * @param cause what it comes from, or null
     */
    public PvmException(Code code, String what, Throwable cause) {
        super(what + ": " + code.text() + " (" + code.historicName() + ")", cause);
        this.code = code;
    }

    /** Why. */
    public final Code code() {
        return code;
    }
}
