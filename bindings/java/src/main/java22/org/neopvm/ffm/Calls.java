// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.neopvm.Code;
import org.neopvm.PvmException;

/**
 * The calls of {@code neopvm.h}, and the few of {@code pvm3.h} that it does not repeat. Those that are {@code quick} never
 * wait, and the garbage collector waits for them. Those that are {@code quickWithArrays} also take arrays of the Java heap
 * as they lie; they only copy, and at most {@link #QUICK_BYTES} at once.
 */
final class Calls {
    /** The most that one quick call copies: 50 to 100 us on a machine of 2026. */
    static final int QUICK_BYTES = 1 << 20;

    static final MethodHandle ENROL = call("neopvm_enrol", ADDRESS, ADDRESS);
    static final MethodHandle LEAVE = call("neopvm_leave");

    static final MethodHandle NEW = quick("neopvm_new", JAVA_INT, ADDRESS);
    static final MethodHandle FREE = call("neopvm_free", JAVA_INT);
    static final MethodHandle PACK = quick("neopvm_pack", JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);
    static final MethodHandle PACK_ARRAY =
            quickWithArrays("neopvm_pack", JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);
    static final MethodHandle PACK_TEXT = quickWithArrays("neopvm_pack_text", JAVA_INT, ADDRESS, JAVA_LONG);
    static final MethodHandle ALLOCATE = quick("neopvm_allocate", JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS);
    static final MethodHandle IS_READ = quick("neopvm_is_read", JAVA_INT, ADDRESS);

    static final MethodHandle SEND = call("neopvm_send", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);
    static final MethodHandle MULTICAST =
            call("neopvm_multicast", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT);

    static final MethodHandle SEND_ITEMS =
            call("neopvm_send_items", JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT);

    static final MethodHandle RECEIVE_ITEMS =
            call("neopvm_receive_items", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS);
    static final MethodHandle PROBE = call("neopvm_probe", JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, ADDRESS);
    static final MethodHandle WAIT = call("neopvm_wait", ADDRESS, JAVA_LONG);
    static final MethodHandle INFO = quick("neopvm_info", JAVA_INT, ADDRESS);
    static final MethodHandle UNPACK = quick("neopvm_unpack", JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);
    static final MethodHandle UNPACK_ARRAY =
            quickWithArrays("neopvm_unpack", JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);
    static final MethodHandle UNPACK_LONG = call("neopvm_unpack", JAVA_INT, JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG);
    static final MethodHandle UNPACK_TEXT =
            quickWithArrays("neopvm_unpack_text", JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS);
    static final MethodHandle VIEW_ITEMS = quick("neopvm_view_items", JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS);
    static final MethodHandle REWIND = quick("neopvm_rewind", JAVA_INT);

    static final MethodHandle SPAWN_UNTIL =
            call("neopvm_spawn_until", ADDRESS, ADDRESS, JAVA_INT, ADDRESS, JAVA_INT, ADDRESS, ADDRESS, ADDRESS);
    static final MethodHandle SIGNAL = call("neopvm_signal", JAVA_INT, JAVA_INT);
    static final MethodHandle NOTIFY = call("neopvm_notify", JAVA_INT, JAVA_INT, JAVA_INT, ADDRESS, JAVA_INT);
    static final MethodHandle HOSTS = call("neopvm_hosts", ADDRESS, JAVA_LONG, ADDRESS);
    static final MethodHandle TASKS = call("neopvm_tasks", JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS);
    static final MethodHandle ADD_HOSTS = call("pvm_addhosts", ADDRESS, JAVA_INT, ADDRESS);
    static final MethodHandle DELETE_HOSTS = call("pvm_delhosts", ADDRESS, JAVA_INT, ADDRESS);
    static final MethodHandle HALT = call("pvm_halt");
    static final MethodHandle SET_OPTION = call("pvm_setopt", JAVA_INT, JAVA_INT);

    static final MethodHandle PUT = call("neopvm_put", ADDRESS, JAVA_INT, JAVA_INT, ADDRESS);
    static final MethodHandle GET = call("neopvm_get", ADDRESS, JAVA_INT, JAVA_INT, ADDRESS);
    static final MethodHandle GET_UNTIL =
            call("neopvm_get_until", ADDRESS, JAVA_INT, JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS);
    static final MethodHandle WAKE = call("neopvm_wake");
    static final MethodHandle DELETE = call("neopvm_delete", ADDRESS, JAVA_INT);

    static final MethodHandle JOIN = call("neopvm_join", ADDRESS, ADDRESS);
    static final MethodHandle LEAVE_GROUP = call("neopvm_leave_group", ADDRESS);
    static final MethodHandle MEMBERS = call("neopvm_members", ADDRESS, ADDRESS, JAVA_LONG, ADDRESS);
    static final MethodHandle BARRIER_UNTIL =
            call("neopvm_barrier_until", ADDRESS, JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS);
    static final MethodHandle FREEZE_UNTIL = call("neopvm_freeze_until", ADDRESS, JAVA_INT, ADDRESS, ADDRESS);

    static final MethodHandle NEW_CONTEXT = call("neopvm_new_context", ADDRESS);
    static final MethodHandle FREE_CONTEXT = call("neopvm_free_context", JAVA_INT);

    /** {@code memcpy}, which copies a large array in two thirds of the time that {@link MemorySegment#copy} takes. */
    private static final MethodHandle COPY = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().find("memcpy").orElseThrow(() -> new UnsatisfiedLinkError("memcpy")),
            FunctionDescriptor.ofVoid(ADDRESS, ADDRESS, JAVA_LONG), Linker.Option.critical(true));

    private Calls() {}

    static MethodHandle call(String name, MemoryLayout... arguments) {
        return link(name, arguments);
    }

    private static MethodHandle quick(String name, MemoryLayout... arguments) {
        return link(name, arguments, Linker.Option.critical(false));
    }

    private static MethodHandle quickWithArrays(String name, MemoryLayout... arguments) {
        return link(name, arguments, Linker.Option.critical(true));
    }

    private static MethodHandle link(String name, MemoryLayout[] arguments, Linker.Option... options) {
        return Linker.nativeLinker().downcallHandle(
                Library.LOOKUP.find(name).orElseThrow(() -> new UnsatisfiedLinkError(name)),
                FunctionDescriptor.of(JAVA_INT, arguments), options);
    }

    /** Copies {@code bytes} bytes, of which one or both sides may lie in the Java heap. */
    static void copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
        try {
            for (long done = 0; done < bytes; done += QUICK_BYTES) {
                long part = Math.min(QUICK_BYTES, bytes - done);
                COPY.invokeExact(to.asSlice(toOffset + done, part), from.asSlice(fromOffset + done, part), part);
            }
        } catch (Throwable e) {
            throw unexpected(e);
        }
    }

    /** Throws what a negative status means. */
    static int check(int status, String what) {
        if (status < 0) {
            throw new PvmException(Code.of(status), what);
        }
        return status;
    }

    /** What a method handle of this class may throw: nothing, as the library throws nothing. */
    static RuntimeException unexpected(Throwable e) {
        if (e instanceof RuntimeException known) {
            return known;
        }
        if (e instanceof Error error) {
            throw error;
        }
        return new IllegalStateException(e);
    }
}
