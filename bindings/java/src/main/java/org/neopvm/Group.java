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
 * A group that this task has joined: {@code try (Group group = pvm.join("workers")) ...}. Closing leaves it.
 *
 * <p>Reduce, gather and scatter are called by all members with the same tag, root and number of items; members may be
 * programs of any language. In a reduce the root's array becomes the result, the others' stay as they are. The
 * functions of users run on the root alone, in the thread that called.
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

    /** Its name. */
    public String name() {
        return name;
    }

    /** This task's number in the group. */
    public int instance() {
        return instance;
    }

    /** How many members there are now. */
    public int size() {
        return members().size();
    }

    /** The members there are now, by their numbers. */
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

    /** Fixes the members once {@code size} of them have asked for it, and tells how many they are. */
    public int freeze(int size) throws InterruptedException {
        return engine.freeze(name, size);
    }

    /** Sends a message to all members but this task, and closes it. */
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

    /** The same with a function of the user's; it has to be associative and commutative. */
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

    /** The same with a function of the user's; it has to be associative and commutative. */
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

    /** The same with a function of the user's; it has to be associative and commutative. */
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

    /** The same with a function of the user's; it has to be associative and commutative. */
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

    /** The same with a function of the user's; it has to be associative and commutative. */
    public void reduce(double[] items, DoubleBinaryOperator function, int tag, int root) throws InterruptedException {
        call(Kind.DOUBLE, tag, root).reduce(items, items.length, (x, y) -> {
            double[] a = (double[]) x;
            double[] b = (double[]) y;
            for (int i = 0; i < a.length; i++) {
                a[i] = function.applyAsDouble(a[i], b[i]);
            }
        });
    }

    /** The items of all members behind one another, by their numbers; null for who is not the root. */
    public byte[] gather(byte[] items, int tag, int root) throws InterruptedException {
        return (byte[]) call(Kind.BYTE, tag, root).gather(items, items.length);
    }

    /** This member's {@code count} items of the root's array, which holds so many for each; others give null. */
    public byte[] scatterBytes(byte[] all, int count, int tag, int root) throws InterruptedException {
        return (byte[]) call(Kind.BYTE, tag, root).scatter(all, all == null ? 0 : all.length, count);
    }

    /** The items of all members behind one another, by their numbers; null for who is not the root. */
    public short[] gather(short[] items, int tag, int root) throws InterruptedException {
        return (short[]) call(Kind.SHORT, tag, root).gather(items, items.length);
    }

    /** This member's {@code count} items of the root's array, which holds so many for each; others give null. */
    public short[] scatterShorts(short[] all, int count, int tag, int root) throws InterruptedException {
        return (short[]) call(Kind.SHORT, tag, root).scatter(all, all == null ? 0 : all.length, count);
    }

    /** The items of all members behind one another, by their numbers; null for who is not the root. */
    public int[] gather(int[] items, int tag, int root) throws InterruptedException {
        return (int[]) call(Kind.INT, tag, root).gather(items, items.length);
    }

    /** This member's {@code count} items of the root's array, which holds so many for each; others give null. */
    public int[] scatterInts(int[] all, int count, int tag, int root) throws InterruptedException {
        return (int[]) call(Kind.INT, tag, root).scatter(all, all == null ? 0 : all.length, count);
    }

    /** The items of all members behind one another, by their numbers; null for who is not the root. */
    public long[] gather(long[] items, int tag, int root) throws InterruptedException {
        return (long[]) call(Kind.LONG, tag, root).gather(items, items.length);
    }

    /** This member's {@code count} items of the root's array, which holds so many for each; others give null. */
    public long[] scatterLongs(long[] all, int count, int tag, int root) throws InterruptedException {
        return (long[]) call(Kind.LONG, tag, root).scatter(all, all == null ? 0 : all.length, count);
    }

    /** The items of all members behind one another, by their numbers; null for who is not the root. */
    public float[] gather(float[] items, int tag, int root) throws InterruptedException {
        return (float[]) call(Kind.FLOAT, tag, root).gather(items, items.length);
    }

    /** This member's {@code count} items of the root's array, which holds so many for each; others give null. */
    public float[] scatterFloats(float[] all, int count, int tag, int root) throws InterruptedException {
        return (float[]) call(Kind.FLOAT, tag, root).scatter(all, all == null ? 0 : all.length, count);
    }

    /** The items of all members behind one another, by their numbers; null for who is not the root. */
    public double[] gather(double[] items, int tag, int root) throws InterruptedException {
        return (double[]) call(Kind.DOUBLE, tag, root).gather(items, items.length);
    }

    /** This member's {@code count} items of the root's array, which holds so many for each; others give null. */
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
