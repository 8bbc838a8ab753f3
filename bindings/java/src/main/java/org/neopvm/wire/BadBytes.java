// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import org.neopvm.Code;
import org.neopvm.PvmException;

/** Bytes that cannot be decoded. If no caller knows a better cause, the daemon has failed. */
final class BadBytes extends PvmException {
    private static final long serialVersionUID = 1;

    BadBytes(String why) {
        super(Code.D_SYS_ERR, "what the host said makes no sense (" + why + ")");
    }
}
