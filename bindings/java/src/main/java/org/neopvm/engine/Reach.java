// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

import org.neopvm.Code;
import org.neopvm.MemoryInfo;
import org.neopvm.PvmException;

/** Errors of calls on exposed memory, and of their arguments. */
public final class Reach {
    private Reach() {}

    /** A piece of memory in words. */
    public static String place(int tid, int number) {
        return "memory " + Integer.toUnsignedString(number) + " of t" + Integer.toHexString(tid);
    }

    /** The operation of a call, and its place. */
    public static String what(String does, long bytes, long offset, int tid, int number) {
        return does + " " + bytes + " bytes from " + offset + " on of " + place(tid, number);
    }

    static void checkOwner(int tid, int number) {
        if (tid <= 0) {
            throw new PvmException(Code.BAD_PARAM, place(tid, number) + ", which is no task");
        }
    }

    static void checkPlace(int tid, int number, long offset) {
        checkOwner(tid, number);
        if (offset < 0) {
            throw new PvmException(Code.BAD_PARAM, "offset " + offset + " of " + place(tid, number));
        }
    }

    static void checkWord(int tid, int number, long offset, int bytes) {
        checkPlace(tid, number, offset);
        if (bytes != 4 && bytes != 8) {
            throw new PvmException(Code.BAD_PARAM, "changing a word of " + bytes + " bytes, not 4 or 8");
        }
        if (offset % bytes != 0) {
            String what = what("changing", bytes, offset, tid, number);
            throw new PvmException(Code.BAD_PARAM, what + ", no multiple of their number");
        }
    }

    /** Why a call failed that went beyond its memory: with the size of that. */
    static PvmException explained(Engine engine, int tid, int number, String what, PvmException e) {
        if (e.code() != Code.BAD_PARAM) {
            return e;
        }
        try {
            MemoryInfo info = engine.exposed(tid, number);
            return new PvmException(Code.BAD_PARAM, what + ", which has " + info.bytes(), e);
        } catch (PvmException gone) {
            return e;
        }
    }
}
