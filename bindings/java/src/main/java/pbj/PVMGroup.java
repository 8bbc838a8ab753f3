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
 * A group and what its members do together. Members may be programs of any language. In gather, scatter and reduce all
 * members give the same tag, root and number of items; the root is a number in the group.
 */
public class PVMGroup extends PVMObject {
    /** The larger one of two. */
    public static final int PvmMax = 0;
    /** The smaller one. */
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

    /** A group by its name. {@link #join} joins it. */
    public PVMGroup(String name) {
        this.name = name;
    }

    /** Its name. */
    public String getName() {
        return name;
    }

    private synchronized Group group() {
        if (joined == null) {
            throw new PvmException(Code.NOT_IN_GROUP, "group " + name);
        }
        return joined;
    }

    /** Joins the group and tells the number in it. */
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

    /** This task's number in the group. */
    public int getInstance() throws PVMException {
        return call(pvm -> group().instance());
    }

    /** The task with a number. */
    public int getTID(int instance) throws PVMException {
        return call(pvm -> {
            int[] members = pvm.transport().members(name);
            if (instance < 0 || instance >= members.length || members[instance] == 0) {
                throw new PvmException(Code.NO_INST, "member " + instance + " of group " + name);
            }
            return members[instance];
        });
    }

    /** How many members there are now. */
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

    /** Fixes the members once {@code size} of them have asked for it. */
    public int freeze(int size) throws PVMException {
        return call(pvm -> {
            int members = group().freeze(size);
            synchronized (this) {
                frozenSize = members;
            }
            return members;
        });
    }

    /** True once {@link #freeze} has returned. */
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

    /** The items of all members behind one another; null for who is not the root. */
    public byte[] gatherByte(byte[] items, int tag, int root) throws PVMException {
        return call(pvm -> group().gather(items, tag, root));
    }

    /** This member's {@code count} items of the root's array; the others give null. */
    public byte[] scatterByte(byte[] all, int count, int tag, int root) throws PVMException {
        return call(pvm -> group().scatterBytes(all, count, tag, root));
    }

    /** The items of all members behind one another; null for who is not the root. */
    public short[] gatherShort(short[] items, int tag, int root) throws PVMException {
        return call(pvm -> group().gather(items, tag, root));
    }

    /** This member's {@code count} items of the root's array; the others give null. */
    public short[] scatterShort(short[] all, int count, int tag, int root) throws PVMException {
        return call(pvm -> group().scatterShorts(all, count, tag, root));
    }

    /** Combines the items of all members by an operation, such as {@link #PvmSum}; the root gets the result. */
    public short[] reduceShort(int operation, short[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            short[] result = items.clone();
            group().reduce(result, operation(operation), tag, root);
            return result;
        });
    }

    /** The same by a function of the user's. */
    public short[] reduceShort(IntBinaryOperator function, short[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            short[] result = items.clone();
            group().reduce(result, function, tag, root);
            return result;
        });
    }

    /** The items of all members behind one another; null for who is not the root. */
    public int[] gatherInt(int[] items, int tag, int root) throws PVMException {
        return call(pvm -> group().gather(items, tag, root));
    }

    /** This member's {@code count} items of the root's array; the others give null. */
    public int[] scatterInt(int[] all, int count, int tag, int root) throws PVMException {
        return call(pvm -> group().scatterInts(all, count, tag, root));
    }

    /** Combines the items of all members by an operation, such as {@link #PvmSum}; the root gets the result. */
    public int[] reduceInt(int operation, int[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            int[] result = items.clone();
            group().reduce(result, operation(operation), tag, root);
            return result;
        });
    }

    /** The same by a function of the user's. */
    public int[] reduceInt(IntBinaryOperator function, int[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            int[] result = items.clone();
            group().reduce(result, function, tag, root);
            return result;
        });
    }

    /** The items of all members behind one another; null for who is not the root. */
    public long[] gatherLong(long[] items, int tag, int root) throws PVMException {
        return call(pvm -> group().gather(items, tag, root));
    }

    /** This member's {@code count} items of the root's array; the others give null. */
    public long[] scatterLong(long[] all, int count, int tag, int root) throws PVMException {
        return call(pvm -> group().scatterLongs(all, count, tag, root));
    }

    /** Combines the items of all members by an operation, such as {@link #PvmSum}; the root gets the result. */
    public long[] reduceLong(int operation, long[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            long[] result = items.clone();
            group().reduce(result, operation(operation), tag, root);
            return result;
        });
    }

    /** The same by a function of the user's. */
    public long[] reduceLong(LongBinaryOperator function, long[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            long[] result = items.clone();
            group().reduce(result, function, tag, root);
            return result;
        });
    }

    /** The items of all members behind one another; null for who is not the root. */
    public float[] gatherFloat(float[] items, int tag, int root) throws PVMException {
        return call(pvm -> group().gather(items, tag, root));
    }

    /** This member's {@code count} items of the root's array; the others give null. */
    public float[] scatterFloat(float[] all, int count, int tag, int root) throws PVMException {
        return call(pvm -> group().scatterFloats(all, count, tag, root));
    }

    /** Combines the items of all members by an operation, such as {@link #PvmSum}; the root gets the result. */
    public float[] reduceFloat(int operation, float[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            float[] result = items.clone();
            group().reduce(result, operation(operation), tag, root);
            return result;
        });
    }

    /** The same by a function of the user's. */
    public float[] reduceFloat(DoubleBinaryOperator function, float[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            float[] result = items.clone();
            group().reduce(result, function, tag, root);
            return result;
        });
    }

    /** The items of all members behind one another; null for who is not the root. */
    public double[] gatherDouble(double[] items, int tag, int root) throws PVMException {
        return call(pvm -> group().gather(items, tag, root));
    }

    /** This member's {@code count} items of the root's array; the others give null. */
    public double[] scatterDouble(double[] all, int count, int tag, int root) throws PVMException {
        return call(pvm -> group().scatterDoubles(all, count, tag, root));
    }

    /** Combines the items of all members by an operation, such as {@link #PvmSum}; the root gets the result. */
    public double[] reduceDouble(int operation, double[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            double[] result = items.clone();
            group().reduce(result, operation(operation), tag, root);
            return result;
        });
    }

    /** The same by a function of the user's. */
    public double[] reduceDouble(DoubleBinaryOperator function, double[] items, int tag, int root) throws PVMException {
        return call(pvm -> {
            double[] result = items.clone();
            group().reduce(result, function, tag, root);
            return result;
        });
    }
}
