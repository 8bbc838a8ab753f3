// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.util.List;
import java.util.function.Supplier;
import org.neopvm.Code;
import org.neopvm.PvmException;

/**
 * What the proxy said (crates/pvm-wire/src/proxy.rs).
 *
 * @param kind which answer
 * @param content what stands behind the kind
 * @param begin parts of a message's body that came ahead
 */
record Answer(int kind, Reader content, List<byte[]> begin) {
    private static final int DONE = 1;
    private static final int FAILED = 2;
    private static final int HOST = 3;
    private static final int RECEIVED = 5;
    private static final int PROBED = 6;
    private static final int NUMBER = 7;
    private static final int MEMBERS = 8;
    /** {@code Reply::Failed} of the host. */
    private static final int HOST_FAILED = 2;

    /** The answer itself if it is no failure. */
    Answer good(String what) {
        if (kind == FAILED) {
            throw new PvmException(Code.of(content.i32()), what);
        }
        return this;
    }

    /** True where there is nothing more to it. */
    boolean isDone() {
        return kind == DONE;
    }

    private PvmException unexpected(String what) {
        return new PvmException(Code.D_SYS_ERR, what + " was answered strangely (" + kind + ")");
    }

    void done(String what) {
        if (good(what).kind != DONE) {
            throw unexpected(what);
        }
    }

    int number(String what) {
        if (good(what).kind != NUMBER) {
            throw unexpected(what);
        }
        return content.i32();
    }

    int[] members(String what) {
        if (good(what).kind != MEMBERS) {
            throw unexpected(what);
        }
        return content.ints();
    }

    /** What the host said, if it is of that kind or only says that it is done. */
    Reader host(int reply, String what) {
        if (good(what).kind != HOST) {
            throw unexpected(what);
        }
        int told = content.u16();
        if (told == HOST_FAILED) {
            throw new PvmException(Code.of(content.i32()), what);
        }
        if (told != reply && told != DONE) {
            throw unexpected(what);
        }
        return content;
    }

    /** The message, or null if none came; {@code what} was tried. */
    WireIncoming message(Supplier<String> what) {
        if (kind == RECEIVED) {
            return message(content, begin, what);
        }
        if (kind != DONE) {
            good(what.get());
            throw unexpected(what.get());
        }
        return null;
    }

    /** The envelope and length of the message that is there; null if none is. */
    Reader probed(String what) {
        if (good(what).kind == DONE) {
            return null;
        }
        if (kind != PROBED) {
            throw unexpected(what);
        }
        return content;
    }

    /** A message as it stands in an answer. */
    static WireIncoming message(Reader content, List<byte[]> begin, Supplier<String> what) {
        try {
            Envelope envelope = Envelope.read(content);
            byte[] end = content.blob();
            if (begin.isEmpty()) {
                return new WireIncoming(envelope, end);
            }
            // A body of more than a list of runs is as long as the parts together: they are here.
            byte[] body = new byte[begin.stream().mapToInt(part -> part.length).sum() + end.length];
            int at = 0;
            for (byte[] part : begin) {
                System.arraycopy(part, 0, body, at, part.length);
                at += part.length;
            }
            System.arraycopy(end, 0, body, at, end.length);
            return new WireIncoming(envelope, body);
        } catch (BadBytes e) {
            throw new PvmException(Code.BAD_MSG, what.get(), e);
        }
    }
}
