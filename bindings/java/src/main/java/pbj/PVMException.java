// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import org.neopvm.Code;
import org.neopvm.PvmException;

/** A call failed; {@link #getReason} tells why and can be switched on. */
public class PVMException extends Exception implements PVMConstants {
    private static final long serialVersionUID = 1;

    private final int reason;

    /**
     * @param reason one of the negative numbers of {@link PVMConstants}
     * @param what what was tried
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

    /** Why: one of the negative numbers of {@link PVMConstants}. */
    public int getReason() {
        return reason;
    }
}
