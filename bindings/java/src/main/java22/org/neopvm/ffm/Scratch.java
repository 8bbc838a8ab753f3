// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Native memory through which answers and small items go. A small array is copied here first: to hand a call the array
 * itself costs some 300 ns more (JDK 25), which is only little beside a large one. Each platform thread has one; virtual
 * threads, of which there may be a million, share a few.
 */
final class Scratch {
    /** Bytes for items. */
    static final int ITEMS = 4096;
    /** Bytes for answers. */
    static final int ANSWER = 128;
    private static final int SHARED = 16;
    private static final AtomicReferenceArray<Scratch> FREE = new AtomicReferenceArray<>(SHARED);
    /** Weakly: a thread that lives on would keep the classes of this class's loader from being unloaded. */
    private static final ThreadLocal<WeakReference<Scratch>> OWN = new ThreadLocal<>();

    private final boolean shared;
    private final MemorySegment answer;
    private final MemorySegment items;

    private Scratch(boolean shared) {
        this.shared = shared;
        MemorySegment all = Arena.ofAuto().allocate(ANSWER + ITEMS, ANSWER);
        answer = all.asSlice(0, ANSWER);
        items = all.asSlice(ANSWER);
    }

    /** For the answers of a call: {@link #ANSWER} bytes. */
    MemorySegment answer() {
        return answer;
    }

    /** For items: {@link #ITEMS} bytes. */
    MemorySegment items() {
        return items;
    }

    /** One that nobody else uses until it is given back. A thread takes one at a time. */
    static Scratch take() {
        if (!Thread.currentThread().isVirtual()) {
            WeakReference<Scratch> own = OWN.get();
            Scratch scratch = own == null ? null : own.get();
            return scratch == null ? begin() : scratch;
        }
        Scratch kept = FREE.getAndSet(place(), null);
        return kept == null ? new Scratch(true) : kept;
    }

    private static Scratch begin() {
        Scratch scratch = new Scratch(false);
        OWN.set(new WeakReference<>(scratch));
        return scratch;
    }

    void give() {
        if (shared) {
            FREE.set(place(), this);
        }
    }

    private static int place() {
        return (int) (Thread.currentThread().threadId() % SHARED);
    }
}
