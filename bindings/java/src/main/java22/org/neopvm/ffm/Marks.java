// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.ffm;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** What the program says of itself to those who record it. The library asks nobody, so none of these calls waits. */
final class Marks {
    private static final MethodHandle MARK = Calls.call("neopvm_mark", ADDRESS, JAVA_LONG);
    private static final MethodHandle STATE = Calls.call("neopvm_state", ADDRESS);
    private static final MethodHandle PROGRESS = Calls.call("neopvm_progress", ADDRESS, JAVA_LONG, JAVA_LONG);

    private Marks() {}

    static void mark(String name, long value) {
        try (Arena arena = Arena.ofConfined()) {
            Calls.check((int) MARK.invokeExact(arena.allocateFrom(name), value), "marking " + name);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    static void state(String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment text = name == null ? MemorySegment.NULL : arena.allocateFrom(name);
            Calls.check((int) STATE.invokeExact(text), "a state");
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }

    static void progress(String text, long done, long total) {
        try (Arena arena = Arena.ofConfined()) {
            Calls.check((int) PROGRESS.invokeExact(arena.allocateFrom(text), done, total), "progress of " + text);
        } catch (Throwable e) {
            throw Calls.unexpected(e);
        }
    }
}
