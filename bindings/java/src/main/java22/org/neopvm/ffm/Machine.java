// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import org.neopvm.HostInfo;
import org.neopvm.TaskInfo;

/** Tasks and hosts, as the library tells of them. */
final class Machine {
    /** {@code struct neopvm_host}: int tid, speed, signature, cores; char name[256], arch[64]. */
    private static final int HOST_BYTES = 336;
    private static final int HOST_NAME = 16;
    private static final int HOST_ARCH = 272;
    /** {@code struct neopvm_task}: int tid, parent, host, flags, pid, reserved; char name[256]. */
    private static final int TASK_BYTES = 280;
    private static final int TASK_NAME = 24;

    private final NativeEngine engine;

    Machine(NativeEngine engine) {
        this.engine = engine;
    }

    /** The outcomes; null if it was given up, and nothing was started. */
    int[] spawn(String program, List<String> arguments, int flags, String where, int count, MemorySegment giveUp) {
        engine.check();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment outcomes = arena.allocate(JAVA_INT, Math.max(1, count));
            MemorySegment started = arena.allocate(JAVA_INT);
            MemorySegment place = where == null ? MemorySegment.NULL : arena.allocateFrom(where);
            int status = (int) Calls.SPAWN_UNTIL.invokeExact(arena.allocateFrom(program), texts(arena, arguments), flags,
                    place, count, giveUp, outcomes, started);
            Calls.check(status, "spawning " + program);
            return started.get(JAVA_INT, 0) < 0 ? null : outcomes.asSlice(0, 4L * count).toArray(JAVA_INT);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /** Addresses of texts with a null behind the last. */
    private static MemorySegment texts(Arena arena, List<String> texts) {
        MemorySegment addresses = arena.allocate(ADDRESS, texts.size() + 1L);
        for (int i = 0; i < texts.size(); i++) {
            addresses.setAtIndex(ADDRESS, i, arena.allocateFrom(texts.get(i)));
        }
        return addresses;
    }

    Void signal(int tid, int number) {
        engine.check();
        try {
            Calls.check((int) Calls.SIGNAL.invokeExact(tid, number),
                    "signal " + number + " to task t" + Integer.toHexString(tid));
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
        return null;
    }

    Void notify(int kind, int tag, int context, int[] tids, int count) {
        engine.check();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment of = tids == null ? MemorySegment.NULL : arena.allocateFrom(JAVA_INT, tids);
            Calls.check((int) Calls.NOTIFY.invokeExact(kind, tag, context, of, count), "asking for notices");
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
        return null;
    }

    List<HostInfo> hosts() {
        engine.check();
        return table(HOST_BYTES, (table, room, count) ->
                Calls.check((int) Calls.HOSTS.invokeExact(table, room, count), "the hosts"), host ->
                new HostInfo(host.get(JAVA_INT, 0), host.getString(HOST_NAME), host.getString(HOST_ARCH),
                        host.get(JAVA_INT, 4), host.get(JAVA_INT, 8), host.get(JAVA_INT, 12)));
    }

    List<TaskInfo> tasks(int where) {
        engine.check();
        return table(TASK_BYTES, (table, room, count) ->
                Calls.check((int) Calls.TASKS.invokeExact(where, table, room, count), "the tasks"), task ->
                new TaskInfo(task.get(JAVA_INT, 0), task.get(JAVA_INT, 4), task.get(JAVA_INT, 8),
                        task.get(JAVA_INT, 12), task.get(JAVA_INT, 16), task.getString(TASK_NAME)));
    }

    @FunctionalInterface
    private interface Fill {
        void fill(MemorySegment table, long room, MemorySegment count) throws Throwable;
    }

    @FunctionalInterface
    private interface Entry<T> {
        T read(MemorySegment entry);
    }

    /** Asks with room for some, and again with more if there were more. */
    private static <T> List<T> table(int bytes, Fill call, Entry<T> entry) {
        for (long room = 64;;) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment table = arena.allocate(bytes * room, 8);
                MemorySegment count = arena.allocate(JAVA_LONG);
                call.fill(table, room, count);
                long have = count.get(JAVA_LONG, 0);
                if (have > room) {
                    room = have + have / 4;
                    continue;
                }
                List<T> all = new ArrayList<>();
                for (long i = 0; i < have; i++) {
                    all.add(entry.read(table.asSlice(i * bytes, bytes)));
                }
                return List.copyOf(all);
            } catch (Throwable e) {
                throw Calls.unexpected(e);
            }
        }
    }

    /** {@code pvm_addhosts} or {@code pvm_delhosts}. */
    int[] changeHosts(MethodHandle call, List<String> names, String what) {
        engine.check();
        if (names.isEmpty()) {
            return new int[0];
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment results = arena.allocate(JAVA_INT, names.size());
            Calls.check((int) call.invoke(texts(arena, names), names.size(), results), what);
            return results.toArray(JAVA_INT);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    Void halt() {
        engine.check();
        try {
            Calls.check((int) Calls.HALT.invokeExact(), "ending the machine");
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
        return null;
    }

    int newContext() {
        engine.check();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment context = arena.allocate(JAVA_INT);
            Calls.check((int) Calls.NEW_CONTEXT.invokeExact(context), "a new context");
            return context.get(JAVA_INT, 0);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    Void freeContext(int context) {
        engine.check();
        try {
            Calls.check((int) Calls.FREE_CONTEXT.invokeExact(context), "giving back context " + context);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
        return null;
    }
}
