// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.nio.ByteBuffer;
import org.neopvm.engine.Exposure;

/**
 * Memory that this task exposes. Other tasks read it and, if they may, write it with {@link
 * Memory}; this task makes no call for that.
 *
 * <pre>{@code
 * try (Exposed counter = pvm.expose(1, 8, true)) {
 *     pvm.spawn("worker", 4).orThrow();               // each: pvm.memory(pvm.parent().get(), 1).addLong(0, 1)
 *     ...
 * }
 * }</pre>
 *
 * <p>The exposure ends with the task, or when this object is closed. The garbage collector does not
 * end it.
 */
public final class Exposed implements AutoCloseable {
    private final Memory memory;
    private final Exposure exposure;
    private final long bytes;
    private final boolean writable;

    Exposed(Memory memory, Exposure exposure, long bytes, boolean writable) {
        this.memory = memory;
        this.exposure = exposure;
        this.bytes = bytes;
        this.writable = writable;
    }

    /** Returns the number that this task has chosen, as C's {@code uint32_t}. */
    public int number() {
        return memory.number();
    }

    /** Returns the size in bytes. */
    public long bytes() {
        return bytes;
    }

    /** Returns true if other tasks may write the memory. */
    public boolean isWritable() {
        return writable;
    }

    /** Returns this memory as other tasks use it, including the atomic changes of words. */
    public Memory memory() {
        return memory;
    }

    Exposure exposure() {
        return exposure;
    }

    /**
     * Returns a buffer of the whole memory, in this computer's byte order. Other tasks may read and
     * write it at the same time. To read words that they change, use {@link #memory} or a {@code
     * VarHandle} of the buffer.
     *
     * @throws PvmException {@link Code#OVERFLOW} if the memory is larger than 2 GiB; use {@code
     *     Segments.of} then
     */
    public ByteBuffer buffer() {
        if (bytes > Integer.MAX_VALUE) {
            throw new PvmException(Code.OVERFLOW, "a buffer of " + bytes + " bytes");
        }
        return buffer(0, (int) bytes);
    }

    /**
     * Returns a buffer of a part of the memory.
     *
     * @throws PvmException {@link Code#BAD_PARAM} if the part is not all inside, {@link
     *     Code#NOT_FOUND} if the memory has been withdrawn
     */
    public ByteBuffer buffer(long offset, int count) {
        if (offset < 0 || count < 0 || offset > bytes - count) {
            throw new PvmException(Code.BAD_PARAM,
                    "a buffer of " + count + " bytes from " + offset + " on of " + memory + ", which has " + bytes);
        }
        return exposure.buffer(offset, count);
    }

    /**
     * Ends the exposure. Other tasks then get {@link Code#NOT_FOUND}, and using a buffer of the
     * memory throws {@link IllegalStateException}. A second call does nothing.
     *
     * @throws PvmException {@link Code#ALREADY} while a call of another thread uses a buffer of the
     *     memory; it stays exposed
     */
    public void withdraw() {
        exposure.close();
    }

    /** Does what {@link #withdraw} does. */
    @Override
    public void close() {
        withdraw();
    }

    @Override
    public String toString() {
        return memory + " (" + bytes + " bytes)";
    }
}
