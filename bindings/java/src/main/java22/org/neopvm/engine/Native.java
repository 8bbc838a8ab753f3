// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

import org.neopvm.ffm.NativeEngine;

/** The engine over the C library, for Java 22 and newer. */
final class Native {
    private Native() {}

    /** Why there is none here, or null if there is one. */
    static String problem() {
        return NativeEngine.problem();
    }

    /** True if the user has said where the library is, so that going on without it would be wrong. */
    static boolean isAskedFor() {
        return NativeEngine.isAskedFor();
    }

    static Engine open() {
        return NativeEngine.open();
    }
}
