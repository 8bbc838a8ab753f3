// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.engine;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.neopvm.Code;
import org.neopvm.PvmException;

/**
 * Texts on their way out of Java: the bytes that a C program reads, which end at the first 0. A text that would arrive as
 * another one is refused.
 */
public final class Texts {
    private Texts() {}

    /**
     * In UTF-8.
     *
     * @param what is done with it, for the exception's text
     * @throws PvmException {@link Code#BAD_PARAM} for a char 0, and for half of a surrogate pair
     */
    public static byte[] bytes(String text, String what) {
        if (text.indexOf(0) >= 0) {
            throw new PvmException(Code.BAD_PARAM, what + " a text with a char 0 in it");
        }
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        // What cannot be encoded becomes one '?', so a text without one is whole.
        return text.indexOf('?') < 0 && !has(bytes, (byte) '?') ? bytes : strictly(text, what);
    }

    private static boolean has(byte[] bytes, byte wanted) {
        for (byte each : bytes) {
            if (each == wanted) {
                return true;
            }
        }
        return false;
    }

    private static byte[] strictly(String text, String what) {
        try {
            ByteBuffer bytes = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text));
            return Arrays.copyOf(bytes.array(), bytes.limit());
        } catch (CharacterCodingException e) {
            throw new PvmException(Code.BAD_PARAM, what + " a text with half of a surrogate pair in it", e);
        }
    }

    /** Refuses what {@link #bytes} refuses. */
    static void check(String text, String what) {
        bytes(text, what);
    }
}
