// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Collection;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Kind;
import org.neopvm.engine.Outgoing;
import org.neopvm.engine.Texts;

/**
 * A message that is being packed: {@code pvm.message().put(3.5).put(column).to(worker, WORK)}.
 *
 * <p>{@link #to} sends the message and closes it. To send it several times, use {@link #send}
 * within try-with-resources. Closing a message twice does nothing; using it afterwards throws a
 * {@link PvmException} with {@link Code#NO_SUCH_BUF}. Several threads may use one message; a lock
 * serialises their calls.
 */
public final class Draft implements AutoCloseable {
    private final Engine engine;
    private final Outgoing message;

    Draft(Engine engine, Encoding encoding) {
        this.engine = engine;
        this.message = engine.create(encoding);
    }

    Outgoing outgoing() {
        return message;
    }

    /** Packs a boolean as a byte of 0 or 1. */
    public Draft put(boolean item) {
        return put((byte) (item ? 1 : 0));
    }

    /** Packs a byte. */
    public Draft put(byte item) {
        message.packInt(Kind.BYTE, item);
        return this;
    }

    /** Packs a 16-bit integer. */
    public Draft put(short item) {
        message.packInt(Kind.SHORT, item);
        return this;
    }

    /** Packs a char as C's unsigned short. */
    public Draft put(char item) {
        message.packInt(Kind.CHAR, item);
        return this;
    }

    /** Packs a 32-bit integer. */
    public Draft put(int item) {
        message.packInt(Kind.INT, item);
        return this;
    }

    /** Packs a 64-bit integer, C's long. */
    public Draft put(long item) {
        message.packLong(item);
        return this;
    }

    /** Packs a float. */
    public Draft put(float item) {
        return put(new float[] {item});
    }

    /** Packs a double. */
    public Draft put(double item) {
        return put(new double[] {item});
    }

    /**
     * Packs a string as {@code pvm_pkstr} does, in UTF-8. It must not contain the char 0 or an
     * unpaired surrogate.
     */
    public Draft put(String text) {
        message.packText(Texts.bytes(text, "packing"));
        return this;
    }

    /** Packs booleans as bytes of 0 or 1. */
    public Draft put(boolean[] items) {
        byte[] bytes = new byte[items.length];
        for (int i = 0; i < items.length; i++) {
            bytes[i] = (byte) (items[i] ? 1 : 0);
        }
        return put(bytes);
    }

    /** Packs an array. */
    public Draft put(byte[] items) {
        return put(Kind.BYTE, items, 0, items.length, 1);
    }

    /** Packs an array. */
    public Draft put(short[] items) {
        return put(Kind.SHORT, items, 0, items.length, 1);
    }

    /** Packs an array. */
    public Draft put(char[] items) {
        return put(Kind.CHAR, items, 0, items.length, 1);
    }

    /** Packs an array. */
    public Draft put(int[] items) {
        return put(Kind.INT, items, 0, items.length, 1);
    }

    /** Packs an array. */
    public Draft put(long[] items) {
        return put(Kind.LONG, items, 0, items.length, 1);
    }

    /** Packs an array. */
    public Draft put(float[] items) {
        return put(Kind.FLOAT, items, 0, items.length, 1);
    }

    /** Packs an array. */
    public Draft put(double[] items) {
        return put(Kind.DOUBLE, items, 0, items.length, 1);
    }

    /**
     * Packs part of an array: {@code count} items that lie {@code stride} elements apart, beginning
     * at {@code from}.
     *
     * @param items an array of the kind's Java type
     * @throws IndexOutOfBoundsException if the items are not all in the array
     */
    public Draft put(Kind kind, Object items, int from, int count, int stride) {
        Items.check(kind, items, from, count, stride);
        message.pack(kind, items, from, count, stride);
        return this;
    }

    /**
     * Packs an object with Java's serialization, as an int with the number of bytes, and the bytes.
     * Only Java tasks can read it.
     *
     * @throws PvmException {@link Code#BAD_PARAM} if the object, or one that it refers to, is not
     *     serializable
     */
    public Draft putObject(Serializable object) {
        byte[] bytes = Serialized.write(object);
        return put(bytes.length).put(bytes);
    }

    /**
     * Packs items that the program writes afterwards, before it sends the message, directly into
     * the memory that the receiver reads.
     *
     * @return the memory of the items; it is valid until the next put or {@link #close}
     * @throws PvmException {@link Code#NOT_IMPL} if the engine has no such memory
     */
    public ByteBuffer allocate(Kind kind, int count) {
        if (count < 0) {
            throw new IndexOutOfBoundsException(count);
        }
        ByteBuffer place = message.allocate(kind, count);
        if (place == null) {
            throw new PvmException(Code.NOT_IMPL, "memory of a message with the " + engine.name() + " engine");
        }
        return place;
    }

    /**
     * Sends the message to a task. It can be sent again. As in PVM, it is no error if the task has
     * ended.
     */
    public Draft send(TaskId task, int tag) {
        engine.send(message, task.number(), tag, Engine.CURRENT_CONTEXT);
        return this;
    }

    /** Sends the message to each of the tasks except this one. It can be sent again. */
    public Draft sendAll(Collection<TaskId> tasks, int tag) {
        int[] tids = tasks.stream().mapToInt(TaskId::number).toArray();
        engine.multicast(message, tids, tag, Engine.CURRENT_CONTEXT);
        return this;
    }

    /** Sends the message to a task and closes it. */
    public void to(TaskId task, int tag) {
        engine.sendLast(message, task.number(), tag, Engine.CURRENT_CONTEXT);
    }

    /** Sends the message to each of the tasks except this one, and closes it. */
    public void toAll(Collection<TaskId> tasks, int tag) {
        try (this) {
            sendAll(tasks, tag);
        }
    }

    @Override
    public void close() {
        message.close();
    }
}
