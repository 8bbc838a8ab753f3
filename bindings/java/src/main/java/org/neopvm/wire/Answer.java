// SPDX-License-Identifier: MIT OR Apache-2.0
package org.neopvm.wire;

import java.util.function.Supplier;
import org.neopvm.Code;
import org.neopvm.PvmException;

/**
 * An answer of the proxy (crates/pvm-wire/src/proxy.rs).
 *
 * @param kind which answer
 * @param content what stands behind the kind
 * @param body of a message that came in parts ahead; null where it stands in the content
 */
record Answer(int kind, Reader content, byte[] body) {
    private static final int DONE = 1;
    private static final int FAILED = 2;
    private static final int HOST = 3;
    private static final int RECEIVED = 5;
    private static final int PROBED = 6;
    private static final int NUMBER = 7;
    private static final int MEMBERS = 8;
    private static final int WITHDRAWN = 9;
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

    /** True where the ask was cancelled, and nothing has come of it. */
    boolean isWithdrawn() {
        return kind == WITHDRAWN;
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

    /** The answer of the host, if it is of that kind or only says that it is done. */
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
            return message(content, body, what);
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

    /** A message as it stands in an answer, whose bytes it keeps, or with the body that came ahead. */
    static WireIncoming message(Reader content, byte[] body, Supplier<String> what) {
        try {
            Envelope envelope = Envelope.read(content);
            // Without a copy: the message is taken, and there may be no memory for one.
            return body == null
                    ? new WireIncoming(envelope, content.array(), content.blobToFront())
                    : new WireIncoming(envelope, body, body.length);
        } catch (BadBytes e) {
            throw new PvmException(Code.BAD_MSG, what.get(), e);
        }
    }
}
