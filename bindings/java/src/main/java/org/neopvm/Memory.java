// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.neopvm.engine.Engine;

/**
 * Memory that a task exposes, on this host or on another: read and written without the owner's taking part.
 *
 * <p>Bytes are bytes: nothing is converted, and numbers are in this computer's order. A call is done when it returns. On one
 * host 4 or 8 bytes at a multiple of their number are read and written as a whole, and whoever reads what was put also sees
 * what was put before; otherwise tasks that write the same bytes at the same time must agree by other means. {@link
 * #addInt}, {@link #addLong}, {@link #exchangeInt} and {@link #exchangeLong} change a word in one indivisible step, done once
 * for each call that returns, whatever becomes of daemons meanwhile.
 *
 * <p>All calls fail with {@link Code#NOT_FOUND} where nothing is exposed, {@link Code#NO_TASK} when the owner is gone, {@link
 * Code#HOST_FAIL} when its host is (a change may have been made then), {@link Code#BAD_PARAM} for bytes that are not all
 * inside and for words that do not lie at a multiple of their size, and {@link Code#DENIED} for writing what may only be read.
 * No interrupt ends them.
 */
public final class Memory {
    private final Engine engine;
    private final TaskId owner;
    private final int number;

    Memory(Engine engine, TaskId owner, int number) {
        this.engine = engine;
        this.owner = owner;
        this.number = number;
    }

    /** Whose it is. */
    public TaskId owner() {
        return owner;
    }

    /** The owner's number for it, as C's {@code uint32_t}. */
    public int number() {
        return number;
    }

    /** Its size, and whether others than its owner may write it. Asked anew each time. */
    public MemoryInfo info() {
        return engine.exposed(owner.number(), number);
    }

    /** Reads as many bytes as an array has. */
    public void get(long offset, byte[] into) {
        get(offset, ByteBuffer.wrap(into));
    }

    /** Reads as many bytes as a buffer has left, and leaves none. */
    public void get(long offset, ByteBuffer into) {
        engine.getMemory(owner.number(), number, offset, into);
    }

    /** Writes the bytes of an array. */
    public void put(long offset, byte[] bytes) {
        put(offset, ByteBuffer.wrap(bytes));
    }

    /** Writes the bytes that a buffer has left, and leaves none. */
    public void put(long offset, ByteBuffer bytes) {
        engine.putMemory(owner.number(), number, offset, bytes);
    }

    private ByteBuffer read(long offset, int count) {
        ByteBuffer word = ByteBuffer.allocate(count).order(ByteOrder.nativeOrder());
        get(offset, word);
        return word.flip();
    }

    private static ByteBuffer word() {
        return ByteBuffer.allocate(8).order(ByteOrder.nativeOrder());
    }

    /** Reads a number. */
    public int getInt(long offset) {
        return read(offset, 4).getInt();
    }

    /** Reads a number. */
    public long getLong(long offset) {
        return read(offset, 8).getLong();
    }

    /** Reads a number. */
    public double getDouble(long offset) {
        return read(offset, 8).getDouble();
    }

    /** Writes a number. */
    public void putInt(long offset, int value) {
        put(offset, word().putInt(value).flip());
    }

    /** Writes a number. */
    public void putLong(long offset, long value) {
        put(offset, word().putLong(value).flip());
    }

    /** Writes a number. */
    public void putDouble(long offset, double value) {
        put(offset, word().putDouble(value).flip());
    }

    /** Adds to a number of 4 bytes, modulo 2^32; its value before. */
    public int addInt(long offset, int add) {
        return (int) engine.addMemory(owner.number(), number, offset, 4, add);
    }

    /** Adds to a number of 8 bytes, modulo 2^64; its value before. */
    public long addLong(long offset, long add) {
        return engine.addMemory(owner.number(), number, offset, 8, add);
    }

    /** Sets a number of 4 bytes to {@code wanted} if it is {@code expected}; its value before, so it was set if that is it. */
    public int exchangeInt(long offset, int expected, int wanted) {
        return (int) engine.exchangeMemory(owner.number(), number, offset, 4, expected, wanted);
    }

    /** Sets a number of 8 bytes to {@code wanted} if it is {@code expected}; its value before, so it was set if that is it. */
    public long exchangeLong(long offset, long expected, long wanted) {
        return engine.exchangeMemory(owner.number(), number, offset, 8, expected, wanted);
    }

    @Override
    public String toString() {
        return "memory " + Integer.toUnsignedString(number) + " of " + owner;
    }
}
