// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.neopvm.Code;
import org.neopvm.PvmException;
import org.neopvm.engine.Incoming;

/** What goes by a name: messages of the registry, and groups. */
final class Names {
    /** Longer messages go under no name. */
    private static final int NAMED_BYTES_MAX = 16 << 20;

    private final NativeEngine engine;

    Names(NativeEngine engine) {
        this.engine = engine;
    }

    int put(String name, NativeOutgoing message, int flags) {
        engine.check();
        synchronized (message) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment index = arena.allocate(JAVA_INT);
                long bytes = Head.read(message.number(), arena.allocate(Head.BYTES, 8)).bytes();
                if (bytes > NAMED_BYTES_MAX) {
                    throw new PvmException(Code.OVERFLOW, "putting a message of " + bytes + " bytes, more than "
                            + NAMED_BYTES_MAX + ", under the name " + name);
                }
                Calls.check((int) Calls.PUT.invokeExact(arena.allocateFrom(name), message.number(), flags, index),
                        "putting a message under the name " + name);
                return index.get(JAVA_INT, 0);
            } catch (Throwable e) {
                throw Calls.unexpected(e);
            }
        }
    }

    Incoming get(String name, int index, int flags) {
        return get(name, index, flags, MemorySegment.NULL);
    }

    /** Null if there is none, and where it was given up. */
    Incoming get(String name, int index, int flags, MemorySegment giveUp) {
        engine.check();
        Forgotten.check("the message under the name " + name, true);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment buffer = arena.allocate(JAVA_INT);
            int status = (int) Calls.GET_UNTIL.invokeExact(arena.allocateFrom(name), index, flags, -1L, giveUp, buffer);
            if (status == Code.NOT_FOUND.number()) {
                return null;
            }
            Calls.check(status, "the message under the name " + name);
            int number = buffer.get(JAVA_INT, 0);
            return number == 0 ? null : new NativeIncoming(number, Head.read(number, arena.allocate(Head.BYTES, 8)));
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    Void delete(String name, int index) {
        engine.check();
        try (Arena arena = Arena.ofConfined()) {
            Calls.check((int) Calls.DELETE.invokeExact(arena.allocateFrom(name), index),
                    "removing the message under the name " + name);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
        return null;
    }

    int join(String group) {
        engine.check();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment instance = arena.allocate(JAVA_INT);
            Calls.check((int) Calls.JOIN.invokeExact(arena.allocateFrom(group), instance), "joining group " + group);
            return instance.get(JAVA_INT, 0);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    Void leave(String group) {
        engine.check();
        try (Arena arena = Arena.ofConfined()) {
            Calls.check((int) Calls.LEAVE_GROUP.invokeExact(arena.allocateFrom(group)), "leaving group " + group);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
        return null;
    }

    int[] members(String group) {
        engine.check();
        for (long room = 256;;) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment tids = arena.allocate(JAVA_INT, room);
                MemorySegment count = arena.allocate(JAVA_LONG);
                Calls.check((int) Calls.MEMBERS.invokeExact(arena.allocateFrom(group), tids, room, count),
                        "the members of group " + group);
                long have = count.get(JAVA_LONG, 0);
                if (have <= room) {
                    return tids.asSlice(0, 4 * have).toArray(JAVA_INT);
                }
                room = have + have / 4;
            } catch (Throwable e) {
                throw Calls.unexpected(e);
            }
        }
    }

    /** True when it was met; null if it was left, and did not count this task. */
    Boolean barrier(String group, int count, long limitNs, MemorySegment giveUp) {
        engine.check();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment met = arena.allocate(JAVA_INT);
            int status = (int) Calls.BARRIER_UNTIL.invokeExact(
                    arena.allocateFrom(group), count, limitNs, giveUp, met);
            Calls.check(status, "the barrier of group " + group);
            return met.get(JAVA_INT, 0) == 1 ? true : null;
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /** How many members it has then; null if it was left, and did not count this task. */
    Integer freeze(String group, int size, MemorySegment giveUp) {
        engine.check();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment members = arena.allocate(JAVA_INT);
            int status = (int) Calls.FREEZE_UNTIL.invokeExact(arena.allocateFrom(group), size, giveUp, members);
            Calls.check(status, "freezing group " + group);
            int count = members.get(JAVA_INT, 0);
            return count < 0 ? null : count;
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }
}
