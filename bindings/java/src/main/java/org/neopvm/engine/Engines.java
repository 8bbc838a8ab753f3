// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

import org.neopvm.Code;
import org.neopvm.PvmException;
import org.neopvm.wire.WireEngine;

/**
 * Chooses the engine. {@code -Dpvm.engine=native} is the one over the C library (shared memory; Java 22 or newer),
 * {@code -Dpvm.engine=wire} the one in Java alone (the daemon's socket; any Java from 17 on). Without the property it
 * is the native one where it is possible.
 */
public final class Engines {
    private Engines() {}

    /** Enrols this process. {@link Code#SYS_ERR} if no daemon answers. */
    public static Engine open() {
        return new Checked(choose());
    }

    private static Engine choose() {
        String wanted = System.getProperty("pvm.engine", "");
        return switch (wanted) {
            case "native" -> nativeEngine();
            case "wire" -> WireEngine.open();
            case "" -> Native.problem() == null || Native.isAskedFor() ? nativeEngine() : WireEngine.open();
            default -> throw new PvmException(Code.BAD_PARAM, "pvm.engine is native or wire, not " + wanted);
        };
    }

    private static Engine nativeEngine() {
        if (Native.problem() != null) {
            throw new PvmException(Code.NOT_IMPL, Native.problem());
        }
        return Native.open();
    }
}
