// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm;

import java.util.Arrays;
import org.neopvm.engine.Engine;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Kind;
import org.neopvm.engine.Outgoing;

/**
 * Reduce, gather and scatter: messages between the members of a group and its root, the same that
 * the C library sends and reads, so that members may be programs of any language. Who is not the
 * root of a reduce or gather sends and goes on; a member that dies before it has sent ends the
 * root's wait with {@link Code#NO_TASK}.
 */
final class Collective {
    /**
     * Where these messages travel; {@code crates/pvm/src/group/collective.rs} has the same number.
     */
    private static final int CONTEXT = 0x7fffd;
    /** The time after which a member that is waited for is asked whether it is still there. */
    private static final long LOOK_NS = 200_000_000;

    /** Makes the first array the result of both. */
    @FunctionalInterface
    interface Fold {
        void fold(Object items, Object others);
    }

    private final Engine engine;
    private final String group;
    private final Kind kind;
    private final int tag;
    private final int[] present;
    private final int root;

    Collective(Engine engine, String group, Kind kind, int tag, int root) {
        this.engine = engine;
        this.group = group;
        this.kind = kind;
        this.tag = tag;
        int[] members = engine.members(group);
        this.present = Arrays.stream(members).filter(tid -> tid != 0).toArray();
        if (root < 0 || root >= members.length || members[root] == 0) {
            throw new PvmException(Code.NO_INST, "member " + root + " of group " + group + " as the root");
        }
        this.root = members[root];
        if (Arrays.stream(present).noneMatch(tid -> tid == engine.tid())) {
            throw new PvmException(Code.NOT_IN_GROUP, "group " + group);
        }
    }

    boolean isRoot() {
        return root == engine.tid();
    }

    int size() {
        return present.length;
    }

    private void send(int to, Object items, int from, int count) {
        try (Outgoing message = engine.create(Encoding.DEFAULT)) {
            message.pack(kind, items, from, count, 1);
            engine.send(message, to, tag, CONTEXT);
        }
    }

    private void receive(int member, Object items, int from, int count) throws InterruptedException {
        Incoming message;
        do {
            // Asked before the look: what it sent while it lived is there then.
            boolean gone = Arrays.stream(engine.members(group)).noneMatch(tid -> tid == member);
            message = gone ? engine.poll(member, tag, CONTEXT) : engine.receive(member, tag, CONTEXT, LOOK_NS);
            if (gone && message == null) {
                throw new PvmException(Code.NO_TASK,
                        "waiting for t" + Integer.toHexString(member) + " of group " + group + " with tag " + tag);
            }
        } while (message == null);
        try (Incoming found = message) {
            found.unpack(kind, items, from, count, 1);
        }
    }

    /** Combines the items of all members in the root's. */
    void reduce(Object items, int count, Fold fold) throws InterruptedException {
        if (!isRoot()) {
            send(root, items, 0, count);
            return;
        }
        Object others = Items.array(kind, count);
        for (int member : present) {
            if (member != root) {
                receive(member, others, 0, count);
                fold.fold(items, others);
            }
        }
    }

    /** The items of all members, by their numbers in the group; null for who is not the root. */
    Object gather(Object items, int count) throws InterruptedException {
        if (!isRoot()) {
            send(root, items, 0, count);
            return null;
        }
        Object all = Items.array(kind, Math.multiplyExact(count, present.length));
        for (int i = 0; i < present.length; i++) {
            if (present[i] == root) {
                System.arraycopy(items, 0, all, i * count, count);
            } else {
                receive(present[i], all, i * count, count);
            }
        }
        return all;
    }

    /**
     * This member's part of the root's items.
     *
     * @param all of the root: {@code count} for each member; of others it is not looked at
     */
    Object scatter(Object all, int length, int count) throws InterruptedException {
        Object part = Items.array(kind, count);
        if (!isRoot()) {
            receive(root, part, 0, count);
            return part;
        }
        if (length != (long) count * present.length) {
            throw new PvmException(Code.BAD_PARAM, "scattering " + length + " items as " + count + " for each of "
                    + present.length + " members of group " + group);
        }
        for (int i = 0; i < present.length; i++) {
            if (present[i] == root) {
                System.arraycopy(all, i * count, part, 0, count);
            } else {
                send(present[i], all, i * count, count);
            }
        }
        return part;
    }
}
