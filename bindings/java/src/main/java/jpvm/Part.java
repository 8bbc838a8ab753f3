// SPDX-License-Identifier: MIT OR Apache-2.0
package jpvm;

import java.lang.reflect.Array;
import java.util.Arrays;
import org.neopvm.engine.Incoming;
import org.neopvm.engine.Kind;
import org.neopvm.engine.Outgoing;

/** The items of one call of {@link jpvmBuffer}, in Java's memory. */
sealed interface Part {
    /** Packs them into a message. */
    void pack(Outgoing message);

    /** Reads as many items of a message, and drops them. */
    void pass(Incoming message);

    /** A copy of items that lie {@code stride} elements apart. */
    static Part copy(Kind kind, Object items, int count, int stride) {
        if (stride > 1) {
            Object close = Array.newInstance(items.getClass().getComponentType(), count);
            for (int i = 0; i < count; i++) {
                System.arraycopy(items, i * stride, close, i, 1);
            }
            return new Lent(kind, close, count, 1);
        }
        return new Lent(kind, switch (kind) {
            case BYTE -> Arrays.copyOf((byte[]) items, count);
            case SHORT -> Arrays.copyOf((short[]) items, count);
            case CHAR -> Arrays.copyOf((char[]) items, count);
            case INT -> Arrays.copyOf((int[]) items, count);
            case LONG -> Arrays.copyOf((long[]) items, count);
            case FLOAT -> Arrays.copyOf((float[]) items, count);
            case DOUBLE -> Arrays.copyOf((double[]) items, count);
        }, count, 1);
    }

    /** Items of an array that nobody changes while this is used. */
    record Lent(Kind kind, Object items, int count, int stride) implements Part {
        @Override
        public void pack(Outgoing message) {
            message.pack(kind, items, 0, count, stride);
        }

        @Override
        public void pass(Incoming message) {
            message.unpack(kind, Array.newInstance(items.getClass().getComponentType(), count), 0, count, 1);
        }
    }

    /** One byte, short, char, int or long. */
    record Number(Kind kind, long number) implements Part {
        @Override
        public void pack(Outgoing message) {
            if (kind == Kind.LONG) {
                message.packLong(number);
            } else {
                message.packInt(kind, (int) number);
            }
        }

        @Override
        public void pass(Incoming message) {
            if (kind == Kind.LONG) {
                message.unpackLong();
            } else {
                message.unpackInt(kind);
            }
        }
    }

    /** A text. */
    record Text(byte[] utf8) implements Part {
        @Override
        public void pack(Outgoing message) {
            message.packText(utf8);
        }

        @Override
        public void pass(Incoming message) {
            message.unpackText();
        }
    }
}
