// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.neopvm.Code;
import org.neopvm.PvmException;
import org.neopvm.engine.Exposure;
import org.neopvm.engine.Reach;

/** Memory that this task exposes, where the library has mapped it. */
public final class NativeExposure implements Exposure {
    private final NativeEngine engine;
    private final int number;
    /** Ends what looks at the memory before the library takes that away. */
    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;

    NativeExposure(NativeEngine engine, int number, MemorySegment address, long bytes) {
        this.engine = engine;
        this.number = number;
        segment = address.reinterpret(bytes, arena, null);
    }

    /** All of it, of any size. */
    public MemorySegment segment() {
        return segment;
    }

    @Override
    public ByteBuffer buffer(long offset, int bytes) {
        if (!segment.scope().isAlive()) {
            throw new PvmException(Code.NOT_FOUND, "a buffer of " + Reach.place(engine.tid(), number) + ", withdrawn");
        }
        return segment.asSlice(offset, bytes).asByteBuffer().order(ByteOrder.nativeOrder());
    }

    @Override
    public synchronized void close() {
        if (!segment.scope().isAlive()) {
            return;
        }
        String what = "withdrawing " + Reach.place(engine.tid(), number);
        try {
            arena.close();
        } catch (IllegalStateException e) {
            throw new PvmException(Code.ALREADY, what + " while a call uses a buffer of it", e);
        }
        if (!engine.isLostNow()) {
            Offloaded.callAtOnce(() -> withdraw(what));
        }
    }

    private Void withdraw(String what) {
        try {
            Calls.check((int) Memories.WITHDRAW.invokeExact(number), what);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
        return null;
    }
}
