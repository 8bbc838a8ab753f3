// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.lang.foreign.Arena;
import java.lang.ref.PhantomReference;

/**
 * What a message holds outside of Java: a buffer of the library, and memory of it that was lent to the program. It is
 * given back by {@link #free}, or when the message was forgotten. A message's calls hold its monitor, which keeps it from
 * counting as forgotten while one runs.
 *
 * <p>Java's {@code Cleaner} does the same with a lock and a list that all messages of all threads share; here a message
 * has its place in {@link Kept} by its buffer's number.
 */
final class Handle extends PhantomReference<Object> {
    /** What a buffer takes beside its items, about; and what it grows by before it is counted again. */
    private static final long OVERHEAD = 512;

    /** The buffer; 0 when it was given back. */
    int number;
    /** Ends what was lent; null where nothing is. */
    Arena lent;
    /** What it counts for in {@link Forgotten}, and what it has grown by since it was counted. */
    private long bytes;
    private long uncounted;

    /** Of a message and its buffer. */
    Handle(Object message, int number) {
        super(message, Forgotten.QUEUE);
        this.number = number;
        Kept.put(number, this);
        count(OVERHEAD);
    }

    /** The buffer holds so many bytes more. */
    void grow(long more) {
        uncounted += more;
        if (uncounted >= OVERHEAD) {
            count(uncounted);
            uncounted = 0;
        }
    }

    private void count(long more) {
        bytes += more;
        Forgotten.count(more);
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
        Forgotten.count(-bytes);
        bytes = 0;
        // Before the call: behind it the number may be another message's.
        Kept.remove(old);
        try {
            int ignored = (int) Calls.FREE.invokeExact(old);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }
}
