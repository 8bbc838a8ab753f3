// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.lang.foreign.Arena;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;

/**
 * What a message holds outside of Java: a buffer of the library, and memory of it that was lent to the program. It is
 * given back by {@link #free}, or when the message was forgotten. A message's calls hold its monitor, which keeps it from
 * counting as forgotten while one runs.
 *
 * <p>Java's {@code Cleaner} does the same with a lock and a list that all messages of all threads share; here a message
 * has its place in {@link Kept} by its buffer's number.
 */
final class Handle extends PhantomReference<Object> {
    private static final ReferenceQueue<Object> FORGOTTEN = new ReferenceQueue<>();

    static {
        Thread.ofPlatform().daemon().name("pvm-forgotten").inheritInheritableThreadLocals(false)
                .start(Handle::freeForgotten);
    }

    /** The buffer; 0 when it was given back. */
    int number;
    /** Ends what was lent; null where nothing is. */
    Arena lent;

    /** Of a message and its buffer. */
    Handle(Object message, int number) {
        super(message, FORGOTTEN);
        this.number = number;
        Kept.put(number, this);
    }

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
        // Before the call: behind it the number may be another message's.
        Kept.remove(old);
        try {
            int ignored = (int) Calls.FREE.invokeExact(old);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    private static void freeForgotten() {
        for (;;) {
            try {
                ((Handle) FORGOTTEN.remove()).free();
            } catch (InterruptedException | IllegalStateException e) {
                // Nobody has a reason to interrupt. What another thread uses inside a call at this moment stays.
            }
        }
    }
}
