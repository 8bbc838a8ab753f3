// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.lang.foreign.Arena;
import java.lang.ref.Cleaner;

/**
 * What a message holds outside of Java: a buffer of the library, and memory of it that was lent to the program. It is
 * given back by {@link #free}, or when the message was forgotten. A message's calls hold its monitor, which keeps it from
 * counting as forgotten while one runs.
 */
final class Handle implements Runnable {
    static final Cleaner CLEANER = Cleaner.create();

    /** The buffer; 0 when it was given back. */
    int number;
    /** Ends what was lent; null where nothing is. */
    Arena lent;

    /** Takes back what was lent. IllegalStateException if another thread is using it inside a call; then nothing changes. */
    void endLent() {
        if (lent != null) {
            lent.close();
            lent = null;
        }
    }

    void free() {
        if (number == 0) {
            return;
        }
        endLent();
        int old = number;
        number = 0;
        try {
            int ignored = (int) Calls.FREE.invokeExact(old);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    @Override
    public void run() {
        free();
    }
}
