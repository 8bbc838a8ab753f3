// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

import org.neopvm.Code;
import org.neopvm.PvmException;

/**
 * A call has failed. The text says which one, and why. A program need not catch it: so a {@code try} with a {@code catch}
 * for it compiles around any calls, and calls without a {@code try} compile, too.
 */
public class jpvmException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** For programs that throw it themselves. */
    public jpvmException() {}

    /** For programs that throw it themselves. */
    public jpvmException(String what) {
        super(what);
    }

    jpvmException(String what, Throwable cause) {
        super(what, cause);
    }

    jpvmException(Code code, String what) {
        this(new PvmException(code, what));
    }

    jpvmException(PvmException cause) {
        super(cause.getMessage(), cause);
    }

    /** Returns the reason, or null if a program threw this itself. */
    public Code code() {
        return getCause() instanceof PvmException cause ? cause.code() : null;
    }
}
