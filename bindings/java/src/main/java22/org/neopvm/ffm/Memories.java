// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.ByteBuffer;
import org.neopvm.MemoryInfo;
import org.neopvm.engine.Reach;

/** Exposed memory, this task's own and that of others. */
final class Memories {
    /** {@code NEOPVM_MAY_READ}, {@code NEOPVM_MAY_WRITE} */
    private static final int MAY_READ = 1;
    private static final int MAY_WRITE = 3;
    /** What a buffer of the Java heap is copied through at once. */
    private static final int PIECE = 1 << 20;

    private static final MethodHandle EXPOSE = Calls.call("neopvm_expose", JAVA_INT, JAVA_LONG, JAVA_INT, ADDRESS);
    static final MethodHandle WITHDRAW = Calls.call("neopvm_withdraw", JAVA_INT);
    private static final MethodHandle EXPOSED = Calls.call("neopvm_exposed", JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    private static final MethodHandle GET =
            Calls.call("neopvm_get_memory", JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG);
    private static final MethodHandle PUT =
            Calls.call("neopvm_put_memory", JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG);
    private static final MethodHandle ADD =
            Calls.call("neopvm_add_memory", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, ADDRESS);
    private static final MethodHandle EXCHANGE = Calls.call(
            "neopvm_exchange_memory", JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, ADDRESS);

    private final NativeEngine engine;

    Memories(NativeEngine engine) {
        this.engine = engine;
    }

    NativeExposure expose(int number, long bytes, boolean writable) {
        engine.check();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment address = arena.allocate(ADDRESS);
            Calls.check((int) EXPOSE.invokeExact(number, bytes, writable ? MAY_WRITE : MAY_READ, address),
                    "exposing " + bytes + " bytes as " + Reach.place(engine.tid(), number));
            return new NativeExposure(engine, number, address.get(ADDRESS, 0), bytes);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    MemoryInfo exposed(int tid, int number) {
        engine.check();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(JAVA_LONG);
            MemorySegment rights = arena.allocate(JAVA_INT);
            int status = (int) EXPOSED.invokeExact(tid, number, bytes, rights);
            if (status < 0) {
                Calls.check(status, "asking for " + Reach.place(tid, number));
            }
            return new MemoryInfo(bytes.get(JAVA_LONG, 0), rights.get(JAVA_INT, 0) == MAY_WRITE);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    Void get(int tid, int number, long offset, ByteBuffer into) {
        copy(GET, tid, number, offset, into);
        return null;
    }

    Void put(int tid, int number, long offset, ByteBuffer from) {
        copy(PUT, tid, number, offset, from);
        return null;
    }

    private void copy(MethodHandle call, int tid, int number, long offset, ByteBuffer buffer) {
        engine.check();
        MemorySegment items = MemorySegment.ofBuffer(buffer);
        if (items.isNative()) {
            copy(call, tid, number, offset, items);
        } else {
            copyByWay(call, tid, number, offset, items);
        }
        buffer.position(buffer.limit());
    }

    private static void copy(MethodHandle call, int tid, int number, long offset, MemorySegment items) {
        try {
            int status = (int) call.invokeExact(tid, number, offset, items, items.byteSize());
            if (status < 0) {
                String does = call == GET ? "reading" : "writing";
                Calls.check(status, Reach.what(does, items.byteSize(), offset, tid, number));
            }
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    /** The library may wait for another host, for which the garbage collector would wait: it gets none of the Java heap. */
    private static void copyByWay(MethodHandle call, int tid, int number, long offset, MemorySegment items) {
        long size = items.byteSize();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment room = arena.allocate(Math.min(size, PIECE), 8);
            for (long done = 0; done == 0 || done < size; ) {
                MemorySegment part = room.asSlice(0, Math.min(size - done, PIECE));
                MemorySegment own = items.asSlice(done, part.byteSize());
                if (call == PUT) {
                    part.copyFrom(own);
                }
                copy(call, tid, number, offset + done, part);
                if (call == GET) {
                    own.copyFrom(part);
                }
                done += Math.max(1, part.byteSize());
            }
        }
    }

    long add(int tid, int number, long offset, int bytes, long add) {
        engine.check();
        Scratch scratch = Scratch.take();
        try {
            MemorySegment before = scratch.answer();
            int status = (int) ADD.invokeExact(tid, number, offset, bytes, add, before);
            return before(status, tid, number, offset, bytes, before);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        } finally {
            scratch.give();
        }
    }

    long exchange(int tid, int number, long offset, int bytes, long expected, long wanted) {
        engine.check();
        Scratch scratch = Scratch.take();
        try {
            MemorySegment before = scratch.answer();
            int status = (int) EXCHANGE.invokeExact(tid, number, offset, bytes, expected, wanted, before);
            return before(status, tid, number, offset, bytes, before);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        } finally {
            scratch.give();
        }
    }

    private static long before(int status, int tid, int number, long offset, int bytes, MemorySegment before) {
        if (status < 0) {
            Calls.check(status, Reach.what("changing", bytes, offset, tid, number));
        }
        return before.get(JAVA_LONG, 0);
    }
}
