// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.nio.ByteBuffer;
import org.neopvm.engine.Exposure;

/**
 * Memory that this task exposes: other tasks read and, if they may, write it by {@link Memory} while this one does
 * something else.
 *
 * <pre>{@code
 * try (Exposed counter = pvm.expose(1, 8, true)) {
 *     pvm.spawn("worker", 4).orThrow();               // each: pvm.memory(pvm.parent().get(), 1).addLong(0, 1)
 *     ...
 * }
 * }</pre>
 *
 * <p>It goes with the task, or when it is closed. Nothing of it waits for the collector: what nobody closes stays exposed.
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

    /** Its number, as C's {@code uint32_t}. */
    public int number() {
        return memory.number();
    }

    /** Its size. */
    public long bytes() {
        return bytes;
    }

    /** True if tasks other than this one may write it. */
    public boolean isWritable() {
        return writable;
    }

    /** As the other tasks reach it, words in one step included. */
    public Memory memory() {
        return memory;
    }

    Exposure exposure() {
        return exposure;
    }

    /**
     * All of it, to be read and written, in this computer's order of bytes. Other tasks read and write at the same time;
     * words that they change are read by {@link #memory}, or by a {@code VarHandle} of the buffer.
     *
     * @throws PvmException {@link Code#OVERFLOW} beyond 2 GiB, for which there is {@code Segments.of}
     */
    public ByteBuffer buffer() {
        if (bytes > Integer.MAX_VALUE) {
            throw new PvmException(Code.OVERFLOW, "a buffer of " + bytes + " bytes");
        }
        return buffer(0, (int) bytes);
    }

    /**
     * A part of it.
     *
     * @throws PvmException {@link Code#BAD_PARAM} if it is not all inside, {@link Code#NOT_FOUND} once it was withdrawn
     */
    public ByteBuffer buffer(long offset, int count) {
        if (offset < 0 || count < 0 || offset > bytes - count) {
            throw new PvmException(Code.BAD_PARAM,
                    "a buffer of " + count + " bytes from " + offset + " on of " + memory + ", which has " + bytes);
        }
        return exposure.buffer(offset, count);
    }

    /**
     * Exposes it no more: other tasks are told {@link Code#NOT_FOUND}, and use of its buffers throws {@link
     * IllegalStateException}. A second time it does nothing.
     *
     * @throws PvmException {@link Code#ALREADY} while a call of another thread uses a buffer of it: it stays exposed
     */
    public void withdraw() {
        exposure.close();
    }

    /** As {@link #withdraw}. */
    @Override
    public void close() {
        withdraw();
    }

    @Override
    public String toString() {
        return memory + " (" + bytes + " bytes)";
    }
}
