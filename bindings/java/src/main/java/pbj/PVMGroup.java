// SPDX-License-Identifier: MIT OR Apache-2.0
package pbj;

import java.util.function.DoubleBinaryOperator;
import java.util.function.IntBinaryOperator;
import java.util.function.LongBinaryOperator;
import org.neopvm.Code;
import org.neopvm.Group;
import org.neopvm.Operation;
import org.neopvm.PvmException;
import org.neopvm.TaskId;

/**
 * A group of tasks, with the operations of its members. Members may be written in any language. In
 * gather, scatter and reduce all members pass equal tags, roots and numbers of items; the root is
 * an instance number of the group.
 */
public class PVMGroup extends PVMObject {
    /** The maximum. */
    public static final int PvmMax = 0;
    /** The minimum. */
    public static final int PvmMin = 1;
    /** The sum. */
    public static final int PvmSum = 2;
    /** The product. */
    public static final int PvmProduct = 3;
    private static final Operation[] OPERATIONS =
            {Operation.MAX, Operation.MIN, Operation.SUM, Operation.PRODUCT};

    private final String name;
    private Group joined;
    /** The members once the group is frozen: then the machine need not be asked. */
    private int frozenSize = -1;

    /** Makes the object for a group. {@link #join} joins it. */
    public PVMGroup(String name) {
        this.name = name;
    }

    /** Returns the name of the group. */
    public String getName() {
        return name;
    }

    private synchronized Group group() {
        if (joined == null) {
            throw new PvmException(Code.NOT_IN_GROUP, "group " + name);
        }
        return joined;
    }

    /** Joins the group and returns this task's instance number. */
    public int join() throws PVMException {
        return call(pvm -> {
            Group group = pvm.join(name);
            synchronized (this) {
                joined = group;
            }
            return group.instance();
        });
    }

    /** Leaves the group. */
    public void leave() throws PVMException {
        call(pvm -> {
            Group group = group();
            synchronized (this) {
                joined = null;
                frozenSize = -1;
            }
            group.close();
            return null;
        });
    }

    /** Returns this task's instance number. */
    public int getInstance() throws PVMException {
        return call(pvm -> group().instance());
    }

    /** Returns the task that has an instance number. */
    public int getTID(int instance) throws PVMException {
        return call(pvm -> {
            int[] members = pvm.transport().members(name);
            if (instance < 0 || instance >= members.length || members[instance] == 0) {
                throw new PvmException(Code.NO_INST, "member " + instance + " of group " + name);
            }
            return members[instance];
        });
    }

    /** Returns the present number of members. */
    public int size() throws PVMException {
        synchronized (this) {
            if (frozenSize >= 0) {
                return frozenSize;
            }
        }
        return call(pvm -> (int) java.util.Arrays.stream(pvm.transport().members(name)).filter(n -> n != 0).count());
    }

    /** Waits until all members have called it. */
    public void barrier() throws PVMException {
        barrier(-1);
    }

    /** Waits until {@code count} members have called it. */
    public void barrier(int count) throws PVMException {
        call(pvm -> {
            group().barrier(count);
            return null;
        });
    }

    /**
     * Waits until {@code size} members have called it, and returns the number of members. No task
     * can join the group any more.
     */
    public int freeze(int size) throws PVMException {
        return call(pvm -> {
            int members = group().freeze(size);
            synchronized (this) {
                frozenSize = members;
            }
            return members;
        });
    }

    /** Returns true once {@link #freeze} has returned. */
    public synchronized boolean isFrozen() {
        return frozenSize >= 0;
    }

    /** Sends a message to all other members. */
    public void broadcast(PVMMessageBuffer buffer, int tag) throws PVMException {
        call(pvm -> {
            java.util.List<TaskId> members = java.util.Arrays.stream(pvm.transport().members(name))
                    .filter(n -> n != 0).mapToObj(TaskId::new).toList();
            buffer.sendAll(members, tag);
            return null;
        });
    }

    private static Operation operation(int number) {
        if (number < 0 || number >= OPERATIONS.length) {
            throw new PvmException(Code.BAD_PARAM, "operation " + number);
        }
        return OPERATIONS[number];
    }

    /**
     * Returns, at the root, the items of all members in the order of their numbers; null at the
     * other members.
     */
    public byte[] gatherByte(byte[] items, int tag, int root) throws PVMException {
        return call(pvm -> group().gather(items, tag, root));
    }

    /**
     * Returns this member's {@code count} items of the root's array. Members other than the root
     * pass null.
     */
    public byte[] scatterByte(byte[] all, int count, int tag, int root) throws PVMException {
        return call(pvm -> group().scatterBytes(all, count, tag, root));
    }

    /**
     * Returns, at the root, the items of all members in the order of their numbers; null at the
     * other members.
     */
    public short[] gatherShort(short[] items, int tag, int root) throws PVMException {
        return call(pvm -> group().gather(items, tag, root));
    }

    /**
     * Returns this member's {@code count} items of the root's array. Members other than the root
     * pass null.
     */
    public short[] scatterShort(short[] all, int count, int tag, int root) throws PVMException {
        return call(pvm -> group().scatterShorts(all, count, tag, root));
    }

    /**
     * Combines the items of all members by an operation, such as {@link #PvmSum}, and returns the
     * result at the root.
     */
    public short[] reduceShort(int operation, short[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            short[] result = items.clone();
            group().reduce(result, operation(operation), tag, root);
            return result;
        });
    }

    /** Combines the items of all members by a function, and returns the result at the root. */
    public short[] reduceShort(IntBinaryOperator function, short[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            short[] result = items.clone();
            group().reduce(result, function, tag, root);
            return result;
        });
    }

    /**
     * Returns, at the root, the items of all members in the order of their numbers; null at the
     * other members.
     */
    public int[] gatherInt(int[] items, int tag, int root) throws PVMException {
        return call(pvm -> group().gather(items, tag, root));
    }

    /**
     * Returns this member's {@code count} items of the root's array. Members other than the root
     * pass null.
     */
    public int[] scatterInt(int[] all, int count, int tag, int root) throws PVMException {
        return call(pvm -> group().scatterInts(all, count, tag, root));
    }

    /**
     * Combines the items of all members by an operation, such as {@link #PvmSum}, and returns the
     * result at the root.
     */
    public int[] reduceInt(int operation, int[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            int[] result = items.clone();
            group().reduce(result, operation(operation), tag, root);
            return result;
        });
    }

    /** Combines the items of all members by a function, and returns the result at the root. */
    public int[] reduceInt(IntBinaryOperator function, int[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            int[] result = items.clone();
            group().reduce(result, function, tag, root);
            return result;
        });
    }

    /**
     * Returns, at the root, the items of all members in the order of their numbers; null at the
     * other members.
     */
    public long[] gatherLong(long[] items, int tag, int root) throws PVMException {
        return call(pvm -> group().gather(items, tag, root));
    }

    /**
     * Returns this member's {@code count} items of the root's array. Members other than the root
     * pass null.
     */
    public long[] scatterLong(long[] all, int count, int tag, int root) throws PVMException {
        return call(pvm -> group().scatterLongs(all, count, tag, root));
    }

    /**
     * Combines the items of all members by an operation, such as {@link #PvmSum}, and returns the
     * result at the root.
     */
    public long[] reduceLong(int operation, long[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            long[] result = items.clone();
            group().reduce(result, operation(operation), tag, root);
            return result;
        });
    }

    /** Combines the items of all members by a function, and returns the result at the root. */
    public long[] reduceLong(LongBinaryOperator function, long[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            long[] result = items.clone();
            group().reduce(result, function, tag, root);
            return result;
        });
    }

    /**
     * Returns, at the root, the items of all members in the order of their numbers; null at the
     * other members.
     */
    public float[] gatherFloat(float[] items, int tag, int root) throws PVMException {
        return call(pvm -> group().gather(items, tag, root));
    }

    /**
     * Returns this member's {@code count} items of the root's array. Members other than the root
     * pass null.
     */
    public float[] scatterFloat(float[] all, int count, int tag, int root) throws PVMException {
        return call(pvm -> group().scatterFloats(all, count, tag, root));
    }

    /**
     * Combines the items of all members by an operation, such as {@link #PvmSum}, and returns the
     * result at the root.
     */
    public float[] reduceFloat(int operation, float[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            float[] result = items.clone();
            group().reduce(result, operation(operation), tag, root);
            return result;
        });
    }

    /** Combines the items of all members by a function, and returns the result at the root. */
    public float[] reduceFloat(DoubleBinaryOperator function, float[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            float[] result = items.clone();
            group().reduce(result, function, tag, root);
            return result;
        });
    }

    /**
     * Returns, at the root, the items of all members in the order of their numbers; null at the
     * other members.
     */
    public double[] gatherDouble(double[] items, int tag, int root) throws PVMException {
        return call(pvm -> group().gather(items, tag, root));
    }

    /**
     * Returns this member's {@code count} items of the root's array. Members other than the root
     * pass null.
     */
    public double[] scatterDouble(double[] all, int count, int tag, int root) throws PVMException {
        return call(pvm -> group().scatterDoubles(all, count, tag, root));
    }

    /**
     * Combines the items of all members by an operation, such as {@link #PvmSum}, and returns the
     * result at the root.
     */
    public double[] reduceDouble(int operation, double[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            double[] result = items.clone();
            group().reduce(result, operation(operation), tag, root);
            return result;
        });
    }

    /** Combines the items of all members by a function, and returns the result at the root. */
    public double[] reduceDouble(DoubleBinaryOperator function, double[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            double[] result = items.clone();
            group().reduce(result, function, tag, root);
            return result;
        });
    }
}
