// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.neopvm.engine.Engine;

/**
 * Memory that a task on this host or on another one exposes. Its owner makes no call when others
 * read or write it.
 *
 * <p>Nothing is converted: numbers have this computer's byte order. A copy is complete when the
 * call returns. On one host aligned words of 4 or 8 bytes are read and written as a whole, and a
 * task that reads a value that another task put also sees what that task put before. Apart from
 * that, tasks that write the same bytes at the same time must synchronise by other means. {@link
 * #addInt}, {@link #addLong}, {@link #exchangeInt} and {@link #exchangeLong} change a word
 * atomically. A change is made once for each call that returns, even if daemons die meanwhile.
 *
 * <p>The calls throw {@link Code#NOT_FOUND} if nothing is exposed under the number, {@link
 * Code#NO_TASK} if the owner has ended, {@link Code#HOST_FAIL} if its host has left (it is unknown
 * then whether a change was made), {@link Code#BAD_PARAM} if the bytes are not all inside the
 * memory or a word is not aligned, and {@link Code#DENIED} if the memory may only be read. An
 * interrupt does not end them.
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

    /** Returns the task that exposes the memory. */
    public TaskId owner() {
        return owner;
    }

    /** Returns the number that the owner has chosen, as C's {@code uint32_t}. */
    public int number() {
        return number;
    }

    /**
     * Returns the size, and whether tasks other than the owner may write the memory. Each call asks
     * the owner's host.
     */
    public MemoryInfo info() {
        return engine.exposed(owner.number(), number);
    }

    /** Fills an array with bytes that begin at {@code offset}. */
    public void get(long offset, byte[] into) {
        get(offset, ByteBuffer.wrap(into));
    }

    /** Fills the rest of a buffer with bytes that begin at {@code offset}. */
    public void get(long offset, ByteBuffer into) {
        engine.getMemory(owner.number(), number, offset, into);
    }

    /** Writes the bytes of an array. */
    public void put(long offset, byte[] bytes) {
        put(offset, ByteBuffer.wrap(bytes));
    }

    /** Writes the remaining bytes of a buffer. */
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

    /** Returns the number at {@code offset}. */
    public int getInt(long offset) {
        return read(offset, 4).getInt();
    }

    /** Returns the number at {@code offset}. */
    public long getLong(long offset) {
        return read(offset, 8).getLong();
    }

    /** Returns the number at {@code offset}. */
    public double getDouble(long offset) {
        return read(offset, 8).getDouble();
    }

    /** Writes a number at {@code offset}. */
    public void putInt(long offset, int value) {
        put(offset, word().putInt(value).flip());
    }

    /** Writes a number at {@code offset}. */
    public void putLong(long offset, long value) {
        put(offset, word().putLong(value).flip());
    }

    /** Writes a number at {@code offset}. */
    public void putDouble(long offset, double value) {
        put(offset, word().putDouble(value).flip());
    }

    /** Adds to a number of 4 bytes, modulo 2^32, and returns the previous value. */
    public int addInt(long offset, int add) {
        return (int) engine.addMemory(owner.number(), number, offset, 4, add);
    }

    /** Adds to a number of 8 bytes, modulo 2^64, and returns the previous value. */
    public long addLong(long offset, long add) {
        return engine.addMemory(owner.number(), number, offset, 8, add);
    }

    /**
     * Sets a number of 4 bytes to {@code wanted} if it is {@code expected}. Returns the previous
     * value; the number was set if that is {@code expected}.
     */
    public int exchangeInt(long offset, int expected, int wanted) {
        return (int) engine.exchangeMemory(owner.number(), number, offset, 4, expected, wanted);
    }

    /**
     * Sets a number of 8 bytes to {@code wanted} if it is {@code expected}. Returns the previous
     * value; the number was set if that is {@code expected}.
     */
    public long exchangeLong(long offset, long expected, long wanted) {
        return engine.exchangeMemory(owner.number(), number, offset, 8, expected, wanted);
    }

    @Override
    public String toString() {
        return "memory " + Integer.toUnsignedString(number) + " of " + owner;
    }
}
