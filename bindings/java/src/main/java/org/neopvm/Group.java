// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.DoubleBinaryOperator;
import java.util.function.IntBinaryOperator;
import java.util.function.LongBinaryOperator;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Kind;

/**
 * A group that this task has joined: {@code try (Group group = pvm.join("workers")) ...}. Closing
 * it leaves the group.
 *
 * <p>All members must call reduce, gather and scatter with equal tags, roots and numbers of items.
 * Members may be written in any language. In a reduce the root's array becomes the result; the
 * arrays of other members are unchanged. The function of a reduce runs only on the root, in the
 * calling thread.
 */
public final class Group implements AutoCloseable {
    private final Engine engine;
    private final String name;
    private final int instance;
    private final AtomicBoolean left = new AtomicBoolean();

    Group(Engine engine, String name, int instance) {
        this.engine = engine;
        this.name = name;
        this.instance = instance;
    }

    /** Returns the name of the group. */
    public String name() {
        return name;
    }

    /** Returns this task's instance number. */
    public int instance() {
        return instance;
    }

    /** Returns the present number of members. */
    public int size() {
        return members().size();
    }

    /** Returns the present members in the order of their instance numbers. */
    public List<TaskId> members() {
        return Arrays.stream(engine.members(name)).filter(tid -> tid != 0).mapToObj(TaskId::new).toList();
    }

    /** Waits until {@code count} members have called it. */
    public void barrier(int count) throws InterruptedException {
        engine.barrier(name, count);
    }

    /** Waits until all members have called it. */
    public void barrier() throws InterruptedException {
        engine.barrier(name, -1);
    }

    /**
     * Waits until {@code size} members have called it, and returns the number of members, which is
     * fixed from then on.
     */
    public int freeze(int size) throws InterruptedException {
        return engine.freeze(name, size);
    }

    /** Sends a message to all members except this task, and closes the message. */
    public void broadcast(Draft message, int tag) {
        message.toAll(members(), tag);
    }

    private Collective call(Kind kind, int tag, int root) {
        return new Collective(engine, name, kind, tag, root);
    }

    /** Combines the items of all members, element by element, in the array of the root. */
    public void reduce(short[] items, Operation operation, int tag, int root) throws InterruptedException {
        reduce(items, (IntBinaryOperator) operation::apply, tag, root);
    }

    /**
     * Combines the items of all members with a function, which must be associative and commutative.
     */
    public void reduce(short[] items, IntBinaryOperator function, int tag, int root) throws InterruptedException {
        call(Kind.SHORT, tag, root).reduce(items, items.length, (x, y) -> {
            short[] a = (short[]) x;
            short[] b = (short[]) y;
            for (int i = 0; i < a.length; i++) {
                a[i] = (short) function.applyAsInt(a[i], b[i]);
            }
        });
    }

    /** Combines the items of all members, element by element, in the array of the root. */
    public void reduce(int[] items, Operation operation, int tag, int root) throws InterruptedException {
        reduce(items, (IntBinaryOperator) operation::apply, tag, root);
    }

    /**
     * Combines the items of all members with a function, which must be associative and commutative.
     */
    public void reduce(int[] items, IntBinaryOperator function, int tag, int root) throws InterruptedException {
        call(Kind.INT, tag, root).reduce(items, items.length, (x, y) -> {
            int[] a = (int[]) x;
            int[] b = (int[]) y;
            for (int i = 0; i < a.length; i++) {
                a[i] = function.applyAsInt(a[i], b[i]);
            }
        });
    }

    /** Combines the items of all members, element by element, in the array of the root. */
    public void reduce(long[] items, Operation operation, int tag, int root) throws InterruptedException {
        reduce(items, (LongBinaryOperator) operation::apply, tag, root);
    }

    /**
     * Combines the items of all members with a function, which must be associative and commutative.
     */
    public void reduce(long[] items, LongBinaryOperator function, int tag, int root) throws InterruptedException {
        call(Kind.LONG, tag, root).reduce(items, items.length, (x, y) -> {
            long[] a = (long[]) x;
            long[] b = (long[]) y;
            for (int i = 0; i < a.length; i++) {
                a[i] = function.applyAsLong(a[i], b[i]);
            }
        });
    }

    /** Combines the items of all members, element by element, in the array of the root. */
    public void reduce(float[] items, Operation operation, int tag, int root) throws InterruptedException {
        reduce(items, (DoubleBinaryOperator) operation::apply, tag, root);
    }

    /**
     * Combines the items of all members with a function, which must be associative and commutative.
     */
    public void reduce(float[] items, DoubleBinaryOperator function, int tag, int root) throws InterruptedException {
        call(Kind.FLOAT, tag, root).reduce(items, items.length, (x, y) -> {
            float[] a = (float[]) x;
            float[] b = (float[]) y;
            for (int i = 0; i < a.length; i++) {
                a[i] = (float) function.applyAsDouble(a[i], b[i]);
            }
        });
    }

    /** Combines the items of all members, element by element, in the array of the root. */
    public void reduce(double[] items, Operation operation, int tag, int root) throws InterruptedException {
        reduce(items, (DoubleBinaryOperator) operation::apply, tag, root);
    }

    /**
     * Combines the items of all members with a function, which must be associative and commutative.
     */
    public void reduce(double[] items, DoubleBinaryOperator function, int tag, int root) throws InterruptedException {
        call(Kind.DOUBLE, tag, root).reduce(items, items.length, (x, y) -> {
            double[] a = (double[]) x;
            double[] b = (double[]) y;
            for (int i = 0; i < a.length; i++) {
                a[i] = function.applyAsDouble(a[i], b[i]);
            }
        });
    }

    /**
     * Returns, at the root, the items of all members in the order of their numbers; null at the
     * other members.
     */
    public byte[] gather(byte[] items, int tag, int root) throws InterruptedException {
        return (byte[]) call(Kind.BYTE, tag, root).gather(items, items.length);
    }

    /**
     * Returns this member's {@code count} items of the root's array, which has {@code count} items
     * for each member. Members other than the root pass null.
     */
    public byte[] scatterBytes(byte[] all, int count, int tag, int root) throws InterruptedException {
        return (byte[]) call(Kind.BYTE, tag, root).scatter(all, all == null ? 0 : all.length, count);
    }

    /**
     * Returns, at the root, the items of all members in the order of their numbers; null at the
     * other members.
     */
    public short[] gather(short[] items, int tag, int root) throws InterruptedException {
        return (short[]) call(Kind.SHORT, tag, root).gather(items, items.length);
    }

    /**
     * Returns this member's {@code count} items of the root's array, which has {@code count} items
     * for each member. Members other than the root pass null.
     */
    public short[] scatterShorts(short[] all, int count, int tag, int root) throws InterruptedException {
        return (short[]) call(Kind.SHORT, tag, root).scatter(all, all == null ? 0 : all.length, count);
    }

    /**
     * Returns, at the root, the items of all members in the order of their numbers; null at the
     * other members.
     */
    public int[] gather(int[] items, int tag, int root) throws InterruptedException {
        return (int[]) call(Kind.INT, tag, root).gather(items, items.length);
    }

    /**
     * Returns this member's {@code count} items of the root's array, which has {@code count} items
     * for each member. Members other than the root pass null.
     */
    public int[] scatterInts(int[] all, int count, int tag, int root) throws InterruptedException {
        return (int[]) call(Kind.INT, tag, root).scatter(all, all == null ? 0 : all.length, count);
    }

    /**
     * Returns, at the root, the items of all members in the order of their numbers; null at the
     * other members.
     */
    public long[] gather(long[] items, int tag, int root) throws InterruptedException {
        return (long[]) call(Kind.LONG, tag, root).gather(items, items.length);
    }

    /**
     * Returns this member's {@code count} items of the root's array, which has {@code count} items
     * for each member. Members other than the root pass null.
     */
    public long[] scatterLongs(long[] all, int count, int tag, int root) throws InterruptedException {
        return (long[]) call(Kind.LONG, tag, root).scatter(all, all == null ? 0 : all.length, count);
    }

    /**
     * Returns, at the root, the items of all members in the order of their numbers; null at the
     * other members.
     */
    public float[] gather(float[] items, int tag, int root) throws InterruptedException {
        return (float[]) call(Kind.FLOAT, tag, root).gather(items, items.length);
    }

    /**
     * Returns this member's {@code count} items of the root's array, which has {@code count} items
     * for each member. Members other than the root pass null.
     */
    public float[] scatterFloats(float[] all, int count, int tag, int root) throws InterruptedException {
        return (float[]) call(Kind.FLOAT, tag, root).scatter(all, all == null ? 0 : all.length, count);
    }

    /**
     * Returns, at the root, the items of all members in the order of their numbers; null at the
     * other members.
     */
    public double[] gather(double[] items, int tag, int root) throws InterruptedException {
        return (double[]) call(Kind.DOUBLE, tag, root).gather(items, items.length);
    }

    /**
     * Returns this member's {@code count} items of the root's array, which has {@code count} items
     * for each member. Members other than the root pass null.
     */
    public double[] scatterDoubles(double[] all, int count, int tag, int root) throws InterruptedException {
        return (double[]) call(Kind.DOUBLE, tag, root).scatter(all, all == null ? 0 : all.length, count);
    }

    /** Leaves the group. */
    @Override
    public void close() {
        if (left.compareAndSet(false, true)) {
            engine.leaveGroup(name);
        }
    }
}
