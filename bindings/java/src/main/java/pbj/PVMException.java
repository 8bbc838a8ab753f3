// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import org.neopvm.Code;
import org.neopvm.PvmException;

/** A call has failed. {@link #getReason} returns the reason, which can be used in a switch. */
public class PVMException extends Exception implements PVMConstants {
    private static final long serialVersionUID = 1;

    private final int reason;

    /**
     * @param reason one of the negative numbers of {@link PVMConstants}
     * @param what the operation that failed
     */
    public PVMException(int reason, String what) {
        super(what);
        this.reason = reason;
    }

    PVMException(PvmException cause) {
        super(cause.getMessage(), cause);
        this.reason = cause.code().number();
    }

    PVMException(Code code, String what, Throwable cause) {
        super(what, cause);
        this.reason = code.number();
    }

    /** Returns the reason: one of the negative numbers of {@link PVMConstants}. */
    public int getReason() {
        return reason;
    }
}
