// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

import org.neopvm.Code;
import org.neopvm.PvmException;

/**
 * The engine over the C library. This one is for a Java older than 22, which cannot have it; in the jar a newer Java
 * finds another class of this name.
 */
final class Native {
    private Native() {}

    /** Why there is none here, or null if there is one. */
    static String problem() {
        return "the native engine needs Java 22 or newer, and a jar that was built with one";
    }

    /** True if the user has said where the library is, so that going on without it would be wrong. */
    static boolean isAskedFor() {
        return false;
    }

    static Engine open() {
        throw new PvmException(Code.NOT_IMPL, problem());
    }
}
